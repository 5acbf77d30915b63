// Stores of the caller: npm start asks each at the address to which its client connects.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { locateDataDirectory } from '../../../standalone/data-directory.js';
import { chooseStores } from '../../../standalone/stores.js';

const PASSWORD = 'x'.repeat(32);
const secrets = {
  ...{ secretKeyBase: PASSWORD, postgresPassword: PASSWORD, postgresServicePassword: PASSWORD },
  ...{ redisPassword: PASSWORD, clickhousePassword: PASSWORD, clickhouseBackupPassword: PASSWORD },
};

let server: Server;
let own: string;

beforeAll(async () => {
  server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  own = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const choose = (clickhouse: string) =>
  chooseStores({
    caller: { DATABASE_URL: `postgres://${own}`, REDIS_URL: `redis://${own}`, CLICKHOUSE_URL: clickhouse },
    directory: locateDataDirectory('/nowhere'),
    secrets,
  });

test('reachable servers are taken as they are named', async () => {
  const { urls, specs } = await choose(`http://${own}`);
  expect(urls).toEqual({ postgres: `postgres://${own}`, redis: `redis://${own}`, clickhouse: `http://${own}` });
  expect(specs).toEqual([]);
});

// Nothing listens on 127.0.0.9.
test.each([
  ['https://127.0.0.9', '127.0.0.9:443'],
  ['http://127.0.0.9', '127.0.0.9:80'],
  ['https://127.0.0.9:8443', '127.0.0.9:8443'],
])('ClickHouse at %s is asked at %s', async (url, address) => {
  await expect(choose(url)).rejects.toThrow(`ClickHouse (CLICKHOUSE_URL) cannot be reached at ${address}: `);
});

test('a password in an address that cannot be read is not shown', async () => {
  await expect(choose('http://analytics:pass/w@rd@clickhouse:8123')).rejects.toThrow(
    'ClickHouse (CLICKHOUSE_URL) is not an address like http://localhost:8123: http://analytics:…@clickhouse:8123.',
  );
});
