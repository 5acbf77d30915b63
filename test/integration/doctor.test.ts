// `npm run doctor` on real stores: no advice for healthy ones, and one line of advice for each
// problem.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createIngestQueue } from '../../src/ingest/queue.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;

beforeAll(async () => {
  databases = await createTestDatabases();
});

afterAll(() => databases?.close());

function doctor(env: Record<string, string> = {}): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, ['dist/cli/doctor.js'], {
    env: { PATH: process.env.PATH, ...databases.env, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output })));
}

test('reports nothing for healthy stores', async () => {
  const { status, output } = await doctor();
  // The disk of the machine that runs the tests may be full.
  const complaints = output.split('\n').filter((line) => /^[!✗]/.test(line) && !line.includes('Disk'));
  expect({ status, complaints }).toEqual({ status: 0, complaints: [] });
});

test('warns when maxmemory of Redis is not above the high-water mark', async () => {
  const redis = createRedis({ REDIS_URL: inject('engines').redisAdmin });
  // More than this machine has, because other tests use this Redis.
  const [most, mark] = [2 ** 40, String(2 ** 40)];
  await redis.config('SET', 'maxmemory', most);
  try {
    const { output } = await doctor({ REDIS_MEMORY_HIGH_WATER_BYTES: mark });
    expect(output).toMatch(/! Room in Redis: maxmemory 1048576 MiB, high-water mark 1048576 MiB\n +→ set maxmemory/);
  } finally {
    await redis.config('SET', 'maxmemory', 0);
    redis.disconnect();
  }
});

test('warns about a queue without a worker', async () => {
  const redis = createRedis(databases.config);
  const queue = createIngestQueue(redis);
  const job = await queue.add(
    'events',
    { version: 1, claim: 'none', events: 0 },
    { timestamp: Date.now() - 3_600_000 },
  );
  expect((await doctor()).output).toMatch(/! Queues: the oldest job waits for 36\d\d s\n +→ see ops\/runbooks/);
  await job.remove();
  await queue.close();
  redis.disconnect();
});

test.each([
  ['DATABASE_URL', 'postgres://nobody@127.0.0.1:1/none', /✗ PostgreSQL: .*ECONNREFUSED.*\n +→ see that it runs/],
  ['CLICKHOUSE_URL', 'http://127.0.0.1:1', /✗ ClickHouse: .*ECONNREFUSED.*\n +→ see that it runs/],
  ['REDIS_URL', 'redis://127.0.0.1:1', /✗ Redis: no answer within 5 s\n +→ see that it runs/],
])(
  'reports an unreachable %s and exits with 1',
  async (setting, url, complaint) => {
    const { status, output } = await doctor({ [setting]: url });
    expect(output).toMatch(complaint);
    expect(status).toBe(1);
  },
  90_000,
);
