// Two ClickHouse servers behind one address as a shard: inserts of a partition never overlap, on
// whichever host they run, and a writer that was killed or stopped is followed when its insert has
// ended. The servers share no tables here, so that what is stored twice is not tested.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { partitionOf, partitionQueryId } from '../../src/ingest/insert/ingest-partition.js';
import { listActiveJobs } from '../../src/ingest/queue.js';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { migrateShard, toStatements } from '../../src/platform/clickhouse/migrate.js';
import { type RunningInserts, runningOnReplicas } from '../../src/platform/clickhouse/running-inserts.js';
import { type Held, ShardWriter } from '../../src/platform/clickhouse/shard-writer.js';
import { REPLICAS } from '../../src/platform/clickhouse/shards.js';
import { waitForQuery } from '../../src/platform/clickhouse/wait-for-query.js';
import { packageRoot } from '../../src/platform/paths.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { setSeveralHosts } from '../../src/shards/add-shard.js';
import { eventually } from '../support/eventually.js';
import { type ExtraEngine, startExtraEngine } from '../support/extra-engine.js';
import { openShards } from '../support/shards.js';
import { type SpreadingProxy, startSpreadingProxy } from '../support/spreading-proxy.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, track } from '../support/track.js';

const PARTITIONS = 3;
const SIZE = 100;
const TAKEN_OVER_MS = 90_000;

let databases: TestDatabases;
let postgres: Postgres;

beforeAll(async () => {
  databases = await createTestDatabases({ INGEST_PARTITIONS: String(PARTITIONS) });
  postgres = createPostgres(databases.config);
});

afterAll(async () => {
  await postgres?.destroy();
  await databases?.close();
});

describe('a writer', () => {
  const [first, second] = ['first', 'second'] as unknown as [ClickHouseClient, ClickHouseClient];
  const none: RunningInserts = { count: async () => 0 };
  const times = { leaseMs: 400, graceMs: 100 };
  const writer = (running = none, graceMs = times.graceMs) =>
    new ShardWriter({ postgres, shard: 1, hosts: [first, second], running, times: { ...times, graceMs } });
  const epochOf = ({ queryId }: Held) => Number(/-e(\d+)$/.exec(queryId)?.[1]);

  test('inserts alone, with a higher epoch each time', async () => {
    let isRunning = false;
    const epochs: number[] = [];
    const insertWith = async (one: ShardWriter) => {
      for (let count = 0; count < 5; count += 1) {
        await one.insert('alone', async (held) => {
          expect(isRunning).toBe(false);
          isRunning = true;
          epochs.push(epochOf(held));
          await delay(10 * Math.random());
          held.requireHeld();
          isRunning = false;
        });
      }
    };
    await Promise.all([writer(), writer(), writer()].map(insertWith));
    expect(epochs).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
  });

  test('renews its lease while its insert runs, and no longer', async () => {
    await writer().insert('long', async ({ requireHeld }) => {
      await delay(3 * times.leaseMs);
      requireHeld();
    });
    const statements: unknown[] = [];
    const hear = ({ sql }: { sql: string }) => void statements.push(sql);
    postgres.on('query', hear);
    await delay(times.leaseMs);
    postgres.off('query', hear);
    expect(statements).toEqual([]);
  });

  test('follows one that got no answer when its insert has ended, at another host', async () => {
    const [lock, used] = ['unsettled', [] as Held[]];
    const fail = (error: Error) => (held: Held) => {
      used.push(held);
      return Promise.reject(error);
    };
    await expect(writer().insert(lock, fail(new Error('connection lost')))).rejects.toThrow('connection lost');
    let left = 3;
    const asked: unknown[] = [];
    const running: RunningInserts = {
      count: async (...what) => {
        asked.push(what);
        left -= 1;
        return Math.max(0, left);
      },
    };
    const refused = new ClickHouseError({ message: 'refused', code: '1' });
    await expect(writer(running).insert(lock, fail(refused))).rejects.toThrow('refused');
    expect(asked).toEqual([0, 0, 0].map((since) => [lock, since]));
    await writer().insert(lock, async (held) => void used.push(held));
    expect(used.map(({ clickhouse }) => clickhouse)).toEqual([first, second, second]);
    expect(used.map(epochOf)).toEqual([1, 2, 3]);
  });

  test('uses the next host at once when one is behind the others, or has lost Keeper', async () => {
    const used: Held[] = [];
    for (const code of ['289', '242']) {
      const behind = new ClickHouseError({ message: 'takes no inserts', code });
      const insert = writer().insert('behind', (held) => {
        used.push(held);
        return Promise.reject(behind);
      });
      await expect(insert).rejects.toThrow('takes no inserts');
    }
    await writer().insert('behind', async (held) => void used.push(held));
    expect(used.map(({ clickhouse }) => clickhouse)).toEqual([first, second, first]);
  });

  test('waits for packets that are on their way after one that got no answer', async () => {
    // Longer than the statements of a writer take on a busy machine.
    const graceMs = 1_500;
    const since = performance.now();
    await expect(writer().insert('pause', () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    let waitedMs = 0;
    await writer(none, graceMs).insert('pause', async () => {
      waitedMs = performance.now() - since;
    });
    expect(waitedMs).toBeGreaterThanOrEqual(graceMs);
  });

  test('that asks the hosts for longer than its lease does not insert beside the next one', async () => {
    await expect(writer().insert('claim', () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    const order: string[] = [];
    const asking: RunningInserts = {
      count: async () => {
        order.push('asks');
        await delay(times.leaseMs + 3 * times.graceMs);
        return 0;
      },
    };
    const slow = writer(asking).insert('claim', async () => void order.push('slow'));
    await eventually(() => expect(order).toEqual(['asks']));
    const next = writer().insert('claim', async ({ requireHeld }) => {
      order.push('next');
      await delay(2 * times.leaseMs);
      requireHeld();
      order.push('next has ended');
    });
    await Promise.all([slow, next]);
    expect(order).toEqual(['asks', 'next', 'next has ended', 'slow']);
  });

  test('that was followed changes nothing of the lock of the next one', async () => {
    const row = () => postgres('shard_writers').where({ lock: 'followed' });
    let end = () => {};
    let hasBegun = false;
    const earlier = writer().insert('followed', () => {
      hasBegun = true;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    await eventually(() => expect(hasBegun).toBe(true));
    // As if its lease had ended while it was stopped.
    await row().update({ owner: null, is_settled: true });
    await writer().insert('followed', async () => {
      const mine = await row().first('owner', 'epoch', 'is_settled');
      expect(mine).toMatchObject({ epoch: '2', is_settled: false });
      await delay(times.leaseMs / 2);
      end();
      await earlier;
      expect(await row().first('owner', 'epoch', 'is_settled')).toEqual(mine);
    });
  });

  test('inserts nothing while a host cannot be asked', async () => {
    await expect(writer().insert('silent', () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    const running: RunningInserts = { count: () => Promise.reject(new Error('a host does not answer')) };
    const sent: Held[] = [];
    const insert = writer(running).insert('silent', async (held) => void sent.push(held));
    await expect(insert).rejects.toThrow('a host does not answer');
    expect(sent).toEqual([]);
    expect(await postgres('shard_writers').where({ lock: 'silent' }).first('epoch', 'is_settled')).toEqual({
      epoch: '1',
      is_settled: false,
    });
  });

  test('that stands still for its lease may not insert any more', async () => {
    const insert = writer().insert('late', async ({ requireHeld }) => {
      requireHeld();
      // Nothing else runs meanwhile, as in a stopped process.
      const until = performance.now() + times.leaseMs;
      while (performance.now() < until);
      requireHeld();
    });
    await expect(insert).rejects.toThrow('may belong to another writer');
  });
});

test('a replica that takes connections and answers nothing is left out within a lease', async () => {
  const answering = createHttpServer((req, res) => {
    let statement = '';
    req.setEncoding('utf8').on('data', (text: string) => (statement += text));
    req.on('end', () => res.end(statement.includes('system.replicas') ? '{"active":1}\n' : '{"n":2}\n'));
  });
  const servers = [answering, createServer()];
  const clients: ClickHouseClient[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const CLICKHOUSE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    clients.push(createClickHouse({ ...databases.config, CLICKHOUSE_URL }, { requestTimeoutMs: 300_000 }));
  }
  // The worker's client would wait for five minutes, and a lease ends after ten seconds.
  expect(await runningOnReplicas(clients).count('any', 0)).toBe(2);
  await Promise.all(clients.map((client) => client.close()));
  for (const server of servers) server.close();
}, 60_000);

test('ClickHouse accepts the settings of replicas, and parses their tables', async () => {
  const client = createClickHouse(databases.config, { settings: REPLICAS });
  await client.insert({ table: 'events_landing', values: [{ event_type: 'accepted' }], format: 'JSONEachRow' });
  const query = "SELECT toUInt32(count()) AS n FROM events WHERE event_type = 'accepted'";
  expect(await (await client.query({ query, format: 'JSONEachRow' })).json()).toEqual([{ n: 1 }]);
  const folder = join(packageRoot, 'ops', 'clickhouse');
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.sql'))) {
    const sql = readFileSync(join(folder, name), 'utf8');
    for (const statement of toStatements(sql, { shard: 2, isReplicated: true })) {
      await (await client.query({ query: `EXPLAIN AST ${statement}`, format: 'JSONEachRow' })).text();
    }
  }
  await client.close();
});

describe('workers', () => {
  let other: ExtraEngine;
  let proxy: SpreadingProxy;
  let processes: ProcessGroup;
  let redis: Redis;
  const projects: NewProject[] = [];
  const config = () => ({ ...databases.config, CLICKHOUSE_URL: proxy.url });

  beforeAll(async () => {
    other = await startExtraEngine();
    const { CLICKHOUSE_DATABASE } = databases.config;
    await migrateShard({ id: 1, urls: [other.url] }, CLICKHOUSE_DATABASE);
    proxy = await startSpreadingProxy([databases.config.CLICKHOUSE_URL, other.url]);
    redis = createRedis(databases.config);
    const deps = { config: config(), postgres, redis, say: () => {}, signal: new AbortController().signal };
    await expect(setSeveralHosts(deps, 1, 'nowhere')).rejects.toThrow(/^the server at \S+ has no cluster "nowhere"; /);
    await setSeveralHosts(deps, 1, 'default');
    while (projects.filter(Boolean).length < PARTITIONS) {
      const project = await createTestProject(databases);
      projects[partitionOf(project.id, PARTITIONS)] ??= project;
    }
    processes = await startProcesses({ ...databases.env, CLICKHOUSE_URL: proxy.url }, ['web', 'worker']);
  });

  afterAll(async () => {
    proxy?.release();
    for (const name of ['worker', 'stopped', 'follower']) resume(name);
    await processes?.stop();
    await proxy?.close();
    redis?.disconnect();
    await other?.remove();
  });

  function resume(name: string): void {
    try {
      if (processes.get(name).isRunning) process.kill(processes.get(name).pid, 'SIGCONT');
    } catch {
      // It was never started.
    }
  }

  async function send(partition: number, name: string): Promise<void> {
    const event_properties = { long: 'x'.repeat(4000) };
    const fieldsOf = (key: number) => ({ event_type: name, insert_id: `${name}-${key}`, event_properties });
    const events = Array.from({ length: SIZE }, (_, key) => fieldsOf(key));
    const key = projects[partition]?.publicKey;
    expect((await track(processes.url, key, { events })).body).toEqual({ accepted: SIZE });
  }

  const lockOf = (partition: number) => partitionQueryId(partition, databases.config.CLICKHOUSE_DATABASE);
  const insertsOf = (partition: number) =>
    proxy.inserts.filter(({ queryId }) => queryId.startsWith(`${lockOf(partition)}-e`));

  async function storedOf(name: string): Promise<number> {
    let stored = 0;
    for (const url of [databases.config.CLICKHOUSE_URL, other.url]) {
      const client = createClickHouse({ ...databases.config, CLICKHOUSE_URL: url });
      const query = 'SELECT toUInt32(count()) AS n FROM events WHERE event_type = {name:String}';
      const answer = await client.query({ query, query_params: { name }, format: 'JSONEachRow' });
      stored += (await answer.json<{ n: number }>())[0]?.n ?? 0;
      await client.close();
    }
    return stored;
  }

  test('follow each other, and those that were killed or stopped in the middle', async () => {
    // Killed, with an insert that goes on.
    let begun = proxy.hold(`${lockOf(0)}-e`);
    await send(0, 'killed');
    await begun;
    await processes.get('worker').kill();

    // Stopped, with an insert that goes on.
    await processes.start('worker', 'stopped');
    begun = proxy.hold(`${lockOf(1)}-e`);
    await send(1, 'stopped');
    await begun;
    process.kill(processes.get('stopped').pid, 'SIGSTOP');

    // Others go on, on both hosts.
    await processes.start('worker', 'follower');
    for (let sent = 0; sent < 6; sent += 1) await send(2, `going-${sent}`);
    await eventually(async () => expect(await storedOf('going-5')).toBe(SIZE), TAKEN_OVER_MS);

    // What waits for inserts, as an erasure does, waits for those on any host.
    const shards = openShards(config());
    await shards.read();
    const waited = [0, 1].map((partition) => waitForQuery(shards.first.clickhouse, lockOf(partition)));
    let isOver = false;
    void Promise.all(waited).then(() => {
      isOver = true;
    });

    // The follower has claimed both partitions, and asks the hosts again and again.
    await eventually(async () => {
      const claimed = await postgres('shard_writers').where('lock', 'like', 'ingest-%').whereNot({ epoch: 0 });
      const [one, two] = [0, 1].map((partition) => claimed.find(({ lock }) => lock === lockOf(partition)));
      expect(one?.owner).not.toBeNull();
      expect(one?.owner).toBe(two?.owner);
    }, TAKEN_OVER_MS);
    const asked = proxy.asked;
    await eventually(() => expect(proxy.asked).toBeGreaterThan(asked + 10), TAKEN_OVER_MS);
    expect([insertsOf(0).length, insertsOf(1).length, isOver]).toEqual([1, 1, false]);

    proxy.release();
    await Promise.all(waited);
    await shards.close();
    resume('stopped');
    const areFollowed = () => expect([0, 1].map((partition) => insertsOf(partition).length > 1)).toEqual([true, true]);
    await eventually(areFollowed, TAKEN_OVER_MS);
    await eventually(async () => expect(await listActiveJobs(redis, [1])).toEqual([]), TAKEN_OVER_MS);
    for (const partition of [0, 1, 2]) {
      const runs = insertsOf(partition);
      const epochs = runs.map(({ queryId }) => Number(queryId.split('-e').at(-1)));
      expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
      expect(new Set(epochs).size).toBe(epochs.length);
      for (const [index, { startedMs }] of runs.entries()) {
        expect(startedMs).toBeGreaterThanOrEqual(runs[index - 1]?.endedMs ?? 0);
      }
    }
    expect(new Set(proxy.inserts.map(({ host }) => host)).size).toBe(2);
    for (const name of ['killed', 'stopped']) expect(await storedOf(name)).toBeGreaterThanOrEqual(SIZE);
  }, 360_000);
});
