// POST /query with one place: full queues, queries that wait, and clients that disconnect.
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Shards } from '../../src/platform/clickhouse/shards.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { ThreadPool } from '../../src/platform/threads/thread-pool.js';
import { PROJECT } from '../golden/dataset.js';
import { eventually } from '../support/eventually.js';
import { metricsOf, type QueryServer, startQueryServer } from '../support/query-server.js';
import { openShards } from '../support/shards.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let shards: Shards;
let redis: Redis;
const threads = new ThreadPool({ threadsMax: 2 });

beforeAll(async () => {
  databases = await createTestDatabases();
  shards = openShards(databases.config);
  redis = createRedis(databases.config);
});

afterAll(async () => {
  await threads.close();
  await shards?.close();
  redis?.disconnect();
  await databases?.close();
});

const start = (limits: Partial<TestDatabases['config']> = {}): Promise<QueryServer> =>
  startQueryServer(
    { databases, shards, redis, threads },
    { QUERY_CONCURRENCY: 1, QUERY_QUEUE_PER_PROJECT_MAX: 1, ...limits },
  );

const post = (body: unknown, { port }: QueryServer): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'sk_one' },
    body: JSON.stringify(body),
  });

describe('POST /query under load', () => {
  const any = { q: '* | count', format: 'json' };

  test('answers 429 with Retry-After when the queue is full', async () => {
    const narrow = await start({ QUERY_QUEUE_PER_PROJECT_MAX: 0 });
    try {
      const responses = await Promise.all(Array.from({ length: 20 }, () => post(any, narrow)));
      const refused = responses.filter((response) => response.status === 429);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused[0]?.headers.get('retry-after')).toBe('60');
      expect(responses.some((response) => response.status === 200)).toBe(true);
    } finally {
      await narrow.close(1_000);
    }
  });

  test('answers a query that has waited longer than a query may run', async () => {
    const timeoutMs = 3_000;
    const narrow = await start({ QUERY_TIMEOUT_MS: timeoutMs });
    try {
      const { shares } = await narrow.engineOf(toProjectId(PROJECT));
      const held = await shares.enter(
        { projectId: toProjectId(PROJECT), ownerId: PROJECT },
        new AbortController().signal,
      );
      const answering = post(any, narrow);
      await eventually(async () => expect(shares.waiting).toBe(1));
      await delay(timeoutMs + 100);
      held.leave();
      expect((await answering).status).toBe(200);
    } finally {
      await narrow.close(1_000);
    }
  });

  test('answers 429 to a query that got no place in time', async () => {
    const narrow = await start({ QUERY_WAIT_MS: 100 });
    try {
      const { shares } = await narrow.engineOf(toProjectId(PROJECT));
      const held = await shares.enter(
        { projectId: toProjectId(PROJECT), ownerId: PROJECT },
        new AbortController().signal,
      );
      const response = await post(any, narrow);
      held.leave();
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '60']);
      expect(await response.json()).toMatchObject({ error: expect.stringContaining('waited 0.1 s') });
      expect(await metricsOf(narrow)).toMatch(
        /query_duration_seconds_count\{mode="aggregate",outcome="rate_limited"\} 1/,
      );
    } finally {
      await narrow.close(1_000);
    }
  });

  test('releases the place of a client that disconnects', async () => {
    const narrow = await start();
    try {
      for (let round = 0; round < 5; round++) {
        const leaving = request({
          port: narrow.port,
          path: '/query',
          method: 'POST',
          headers: { 'x-api-key': 'sk_one', 'content-type': 'application/json' },
        });
        leaving.on('error', () => {});
        leaving.end(JSON.stringify({ q: '* | unique by day' }));
        await once(leaving, 'finish');
        leaving.destroy();
      }
      await eventually(async () => expect((await post(any, narrow)).status).toBe(200));
    } finally {
      await narrow.close(1_000);
    }
  });
});
