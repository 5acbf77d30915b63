// Schedules in Redis: a run that was put off, because a clock was ahead for a while, comes soon.
// The canary asks again after a broken answer, and says nothing of an event that it stops
// waiting for.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import type { Shards } from '../../src/platform/clickhouse/shards.js';
import { createLogger, type Logger } from '../../src/platform/log.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { openQueue } from '../../src/platform/redis/open-queue.js';
import { defineScheduledJob } from '../../workers/scheduled-job.js';
import { startCanary } from '../../workers/send-canary.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const HOUR_MS = 60 * 60_000;
const NAME = 'put-off';
const log = createLogger({ process: 'test', level: 'silent' });

let databases: TestDatabases;
let redis: Redis;

beforeAll(async () => {
  databases = await createTestDatabases();
  redis = createRedis(databases.config);
});

afterAll(async () => {
  redis?.disconnect();
  await databases?.close();
});

test('a run that a clock has put off by an hour comes within a minute', { timeout: 120_000 }, async () => {
  const queue = openQueue(NAME, redis);
  let runs = 0;
  const start = defineScheduledJob({
    name: NAME,
    everyMs: HOUR_MS,
    open: () => ({
      run: async () => {
        runs += 1;
      },
    }),
  });
  const job = await start({ config: databases.config, redis, log });
  const untilNextRun = async () => Number((await queue.getJobSchedulers())[0]?.next) - Date.now();
  try {
    await eventually(() => expect(runs).toBe(1), 30_000);
    // As a process whose clock was two hours ahead leaves it.
    await queue.removeJobScheduler(NAME);
    await queue.upsertJobScheduler(NAME, { every: HOUR_MS, startDate: Date.now() + 2 * HOUR_MS }, { name: NAME });
    expect(await untilNextRun()).toBeGreaterThan(1.5 * HOUR_MS);
    await eventually(() => expect(runs).toBe(2), 60_000);
    expect(await untilNextRun()).toBeLessThanOrEqual(HOUR_MS);
  } finally {
    await job.close();
    await queue.close();
  }
});

test('a run that an outage fails is a warning, and one that a fault fails an error', async () => {
  const failures: Error[] = [
    Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:5432'), { code: 'ECONNREFUSED' }),
    new TypeError('x is not a function'),
  ];
  const lines: [level: string, message: string][] = [];
  const lineOf = (level: string) => (fields: { err: Error }) => void lines.push([level, fields.err.message]);
  const start = defineScheduledJob({
    name: 'failing',
    everyMs: 100,
    open: () => ({
      run: async () => {
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
      },
    }),
  });
  const levels = { warn: lineOf('warn'), error: lineOf('error') } as unknown as Logger;
  const job = await start({ config: databases.config, redis, log: levels });
  try {
    await eventually(() => expect(lines).toHaveLength(2), 30_000);
  } finally {
    await job.close();
  }
  expect(lines).toEqual([
    ['warn', 'connect ECONNREFUSED 192.0.2.1:5432'],
    ['error', 'x is not a function'],
  ]);
});

test('the canary is found after an answer of ClickHouse that breaks off', async () => {
  let asked = 0;
  const server = createServer((_req, res) => {
    asked += 1;
    if (asked > 1) return void res.end('{"1":1}\n');
    res.write('{"1":');
    setImmediate(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clickhouse = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'default' });
  const shards = { known: [{ id: 1, clickhouse, hosts: [] }] } as unknown as Shards;
  const job = await startCanary({ config: databases.config, redis, shards, log });
  try {
    await eventually(async () => expect(await redis.hget('ingest:canary', 'stored_at')).not.toBeNull(), 30_000);
    expect(asked).toBe(2);
  } finally {
    await job.close();
    await clickhouse.close();
    server.close();
  }
});

test('a canary whose process stops is not reported as lost', async () => {
  const queue = openQueue('canary', redis);
  // Of the test before, whose next run is a minute from now.
  await queue.removeJobScheduler('canary');
  await queue.close();
  const server = createServer((_req, res) => void res.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clickhouse = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'default' });
  const shards = { known: [{ id: 1, clickhouse, hosts: [] }] } as unknown as Shards;
  const warnings: string[] = [];
  const warn = (_fields: object, message: string) => void warnings.push(message);
  const job = await startCanary({ config: databases.config, redis, shards, log: { warn } as unknown as Logger });
  await once(server, 'request');
  await job.close();
  await clickhouse.close();
  server.close();
  expect(warnings).toEqual([]);
});
