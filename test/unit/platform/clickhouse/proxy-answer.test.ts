// What people are told of answers of ClickHouse, and of a proxy in front of it: one line.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../../../src/platform/clickhouse/client.js';
import { inOneLine } from '../../../../src/platform/clickhouse/failures.js';
import { HostsNotMigrated } from '../../../../src/platform/clickhouse/migrate.js';
import { insertWithQueryIdLock } from '../../../../src/platform/clickhouse/query-id-lock.js';
import { describeFailure } from '../../../../src/platform/command-failure.js';

let server: Server | undefined;
let clickhouse: ClickHouseClient | undefined;

afterEach(async () => {
  await clickhouse?.close();
  server?.close();
});

async function connectTo(status: number, body: string): Promise<ClickHouseClient> {
  const answering = createServer((req, res) => void req.resume().on('end', () => res.writeHead(status).end(body)));
  server = answering;
  await new Promise<void>((resolve) => answering.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(answering.address() as AddressInfo).port}`;
  clickhouse = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'default' });
  return clickhouse;
}

async function insertInto(status: number, body: string): Promise<void> {
  const client = await connectTo(status, body);
  await insertWithQueryIdLock(client, { table: 'events', bytes: Buffer.from('rows'), queryId: 'ingest-1' });
}

test('a page of a proxy is named by its title', async () => {
  const page = '<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body></body></html>';
  const refused = insertInto(413, page);
  await expect(refused).rejects.toThrow('a proxy in front of ClickHouse answered "413 Request Entity Too Large"');
});

test('an error of ClickHouse keeps its message', async () => {
  const message = 'Code: 60. DB::Exception: Table default.events does not exist. (UNKNOWN_TABLE) (version 26.7)';
  await expect(insertInto(404, message)).rejects.toThrow('Table default.events does not exist');
});

describe('commands say in one line', () => {
  const URLS = {
    DATABASE_URL: 'postgres://127.0.0.1:1/a',
    REDIS_URL: 'redis://127.0.0.1:2',
    CLICKHOUSE_URL: 'http://127.0.0.1:3',
  };
  const failureOf = async (status: number, body: string): Promise<unknown> => {
    const client = await connectTo(status, body);
    return client.command({ query: 'SELECT 1' }).then(
      () => undefined,
      (error: unknown) => error,
    );
  };
  const failed = (error: unknown) => new HostsNotMigrated([{ shard: 2, host: 'h', error }]).message;

  test('that ClickHouse refuses the password', async () => {
    const advice = 'If you have installed ClickHouse and forgot password you can reset it in the configuration file.';
    const first = 'a: Authentication failed: password is incorrect, or there is no user with such name.';
    const error = await failureOf(
      403,
      `Code: 516. DB::Exception: ${first}\n\n${advice}\n\n. (AUTHENTICATION_FAILED) (version 26.7)`,
    );
    expect(inOneLine(error)).toBe(first);
    expect(describeFailure(error, URLS)).toBe(`ClickHouse (CLICKHOUSE_URL) refuses: ${first}`);
    expect(failed(error)).toBe(`1 host could not be migrated: shard 2 at h: ${first}`);
  });

  test('that the ClickHouse of npm start refuses the password', async () => {
    const advice = 'Use / or /ping for health checks.';
    const error = await failureOf(404, `There is no handle /?query_id=3b2f\n\n${advice}\n\nclickhouse-client`);
    const said = 'the user or password in the address of ClickHouse is wrong (CLICKHOUSE_URL, or that of the shard)';
    expect(describeFailure(error, URLS)).toBe(said);
    expect(failed(error)).toBe(`1 host could not be migrated: shard 2 at h: ${said}`);
  });

  test('that the disk of ClickHouse is full', async () => {
    const first = 'Cannot reserve 1.00 MiB, not enough space.';
    const error = await failureOf(500, `Code: 243. DB::Exception: ${first} (NOT_ENOUGH_SPACE) (version 26.7)`);
    expect(describeFailure(error, URLS)).toBe(`ClickHouse refuses: ${first}`);
  });

  test('that the name of a store has no address', () => {
    const lookup = (hostname: string) =>
      Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND', hostname });
    const urls = { ...URLS, DATABASE_URL: 'postgres://db.invalid/a', REDIS_URL: 'redis://redis.invalid' };
    const said = (name: string) => describeFailure(lookup(name), urls);
    expect(said('db.invalid')).toBe(
      'PostgreSQL (DATABASE_URL) cannot be reached at db.invalid:5432: getaddrinfo ENOTFOUND db.invalid',
    );
    expect(said('redis.invalid')).toContain('Redis (REDIS_URL) cannot be reached at redis.invalid:6379: ');
    expect(said('other.invalid')).toBeUndefined();
  });

  test('that a proxy answers in its place', async () => {
    const said = 'a proxy in front of ClickHouse answered "502 Bad Gateway"';
    const error = await failureOf(502, '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n</html>');
    expect(describeFailure(error, URLS)).toBe(said);
    expect(failed(error)).toBe(`1 host could not be migrated: shard 2 at h: ${said}`);
  });
});
