// Profiles and mappings in PostgreSQL when batches arrive late, twice or concurrently, and when a
// person is erased.
import { randomUUID } from 'node:crypto';
import { type Job, Worker } from 'bullmq';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRandom } from '../../bench/random.js';
import { CatalogRecorder } from '../../src/catalog/recorder.js';
import { applyBatches, isolateRejectedCalls } from '../../src/identity/apply.js';
import { projectOutbox } from '../../src/identity/outbox.js';
import {
  createIdentifyQueue,
  enqueueIdentify,
  IDENTIFY_QUEUE,
  type Identification,
  type IdentifyJob,
  readBacklogs,
  renumberBatch,
} from '../../src/identity/queue.js';
import { lowWatermark, releaseSequence, takeSequence } from '../../src/identity/sequence.js';
import { devicesOf, forgetUser, settleProfiles } from '../../src/identity/store.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createIdHash } from '../../src/privacy/id-hash.js';
import { waitForProjections } from '../../src/shards/store.js';
import { sweepPending } from '../../workers/sweep-identities.js';
import { eventually } from '../support/eventually.js';
import { SEED } from '../support/seed.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
let project: string;
const hashId = createIdHash('a secret');

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
});

afterAll(async () => {
  await postgres?.destroy();
  redis?.disconnect();
  await databases?.close();
});

beforeEach(() => {
  project = randomUUID();
});

/** A batch of calls with sequence numbers, not yet applied. */
async function accept(...calls: Omit<Identification, 'project'>[]): Promise<IdentifyJob> {
  const batch = randomUUID();
  const first = await takeSequence(redis, { member: batch, count: calls.length });
  return { version: 1, batch, operations: calls.map((call, index) => ({ project, ...call, seq: first + index })) };
}

const apply = async (...batches: IdentifyJob[]): Promise<number> =>
  (await applyBatches(batches, { postgres, redis, hashId })).calls;
const add = (user: string, a: number): Omit<Identification, 'project'> => ({ user, ops: { add: { a } } });
const set = (user: string, a: number): Omit<Identification, 'project'> => ({ user, ops: { set: { a } } });
const on = (device: string, user: string): Omit<Identification, 'project'> => ({ user, device, ops: {} });

const profileOf = (user: string) => postgres('profiles').where({ project_id: project, user_id: user }).first();
const tailOf = async (user: string) =>
  (await postgres('profile_operations').where({ project_id: project, user_id: user })).length;
const mappingsOf = async (device: string): Promise<string[]> =>
  (await postgres('device_mappings').where({ project_id: project, device_id: device }).orderBy('seq')).map(
    (row) => row.user_id,
  );
const outbox = async (): Promise<string[]> =>
  (await postgres('identity_outbox').where({ project_id: project })).map(({ kind, key }) => `${kind} ${key}`).sort();

const imported = (call: Omit<Identification, 'project'>, timeMs: number) => ({ ...call, at: timeMs * 1000 });
const T = Date.UTC(2020, 0, 1);
const versionOf = async (user: string): Promise<unknown> => (await profileOf(user))?.version;

test('imported links and values count by their times, in any order, and twice is once', async () => {
  const live = await accept(on('d', 'live'), set('live', 9));
  const old = [imported(on('d', 'old'), T), imported(on('e', 'new'), T + 2), imported(on('e', 'old'), T + 1)];
  const values = [imported(set('live', 1), T), imported(set('u', 2), T + 2), imported(set('u', 1), T + 1)];
  await apply(await accept(...old, ...values));
  await apply(live);
  await apply(await accept(add('u', 5)));
  const last = async (device: string) => (await mappingsOf(device)).at(-1);
  const state = async () => [await last('d'), await last('e'), await versionOf('live'), await versionOf('u')];
  const before = await state();
  expect(before.slice(0, 2)).toEqual(['live', 'new']);
  expect(await profileOf('live')).toMatchObject({ properties: { a: 9 } });
  expect(await profileOf('u')).toMatchObject({ properties: { a: 7 }, first_seen: new Date(T + 1) });
  await postgres('identity_outbox').where({ project_id: project }).delete();
  await apply(await accept(...values.toReversed(), ...old.toReversed()));
  expect(await state()).toEqual(before);
  expect(await outbox()).toEqual([]);
  await apply(await accept(imported(set('u', 10), T + 3)));
  expect(await profileOf('u')).toMatchObject({ properties: { a: 15 } });
});

test('random live and imported links in any order map a device to the user of the latest', async () => {
  const random = createRandom(SEED);
  for (let run = 0; run < 20; run += 1) {
    project = randomUUID();
    const links = Array.from({ length: 12 }, (_, index) => {
      const link = on(`device ${Math.floor(random() * 2)}`, `user ${index}`);
      return random() < 0.5 ? link : imported(link, T + Math.floor(random() * 4));
    });
    const batches = await Promise.all(links.map((link) => accept(link)));
    for (const batch of batches.toSorted(() => random() - 0.5)) await apply(batch);
    const order = (user: string | undefined): number => {
      const call = batches.flatMap(({ operations }) => operations).find((operation) => operation.user === user);
      return call?.at ?? call?.seq ?? 0;
    };
    const found = await Promise.all([0, 1].map(async (n) => (await mappingsOf(`device ${n}`)).at(-1)));
    const expected = [0, 1].map((n) =>
      Math.max(0, ...links.filter(({ device }) => device === `device ${n}`).map(({ user }) => order(user))),
    );
    expect([run, found.map(order)]).toEqual([run, expected]);
  }
  await settleProfiles(postgres, Number.MAX_SAFE_INTEGER);
});

test('calls in order leave no pending operations', async () => {
  await apply(await accept(set('u', 1), add('u', 1), add('v', 1)));
  await apply(await accept(add('u', 5)));
  expect(await profileOf('u')).toMatchObject({ properties: { a: 7 }, checkpoint: null });
  expect(await postgres('profile_operations').where({ project_id: project })).toEqual([]);
  expect(await redis.zcard('identity:pending')).toBe(0);
});

test('isolateRejectedCalls() returns the same calls again when a worker died in between', async () => {
  const refused: Omit<Identification, 'project'> = { user: 'u', ops: { set: { a: 'refused\0' } } };
  const batch = await accept(add('u', 1), refused, add('u', 10));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    expect(await isolateRejectedCalls(batch, { postgres, redis, hashId })).toEqual([batch.operations[1]]);
    expect(await profileOf('u')).toMatchObject({ properties: { a: 11 } });
  }
  await releaseSequence(redis, batch.batch);
  await apply(await accept(add('u', 100)));
  expect(await profileOf('u')).toMatchObject({ properties: { a: 111 }, checkpoint: null });
});

test('batches out of order give the same profile as in order', async () => {
  const batches = [await accept(set('u', 1)), await accept(add('u', 10)), await accept(set('u', 2), add('u', 0.5))];
  const [first, second, third] = batches as [IdentifyJob, IdentifyJob, IdentifyJob];
  await apply(third);
  expect(await profileOf('u')).toMatchObject({ properties: { a: 2.5 } });
  expect(await tailOf('u')).toBe(2);
  await apply(second);
  expect(await profileOf('u')).toMatchObject({ properties: { a: 2.5 } });
  await apply(first);
  expect(await profileOf('u')).toMatchObject({ properties: { a: 2.5 }, checkpoint: null });
  expect(await tailOf('u')).toBe(0);
  expect((await profileOf('u')).first_seen.getTime()).toBe(Math.floor((first.operations[0]?.seq ?? 0) / 1000));
});

test('a batch is applied once by concurrent workers and after a lost release', async () => {
  const batch = await accept(add('u', 1), on('d', 'u'));
  await Promise.allSettled([apply(batch), apply(batch), apply(batch)]);
  expect(await profileOf('u')).toMatchObject({ properties: { a: 1 } });
  expect(await apply(batch)).toBe(0);
  // The state after a worker died between its commit and the release.
  await redis.zadd('identity:pending', batch.operations[0]?.seq ?? 0, batch.batch);
  await apply(batch, await accept(add('u', 1)));
  expect(await profileOf('u')).toMatchObject({ properties: { a: 2 } });
  expect(await mappingsOf('d')).toEqual(['u']);
});

test('a delayed worker does not restore a user who was erased meanwhile', async () => {
  const batch = await accept(add('u', 1));
  const lock = await postgres.transaction();
  await lock.raw("INSERT INTO profiles VALUES (?, 'u', '{}', NULL, NULL, 'epoch', 'epoch', 0, '{}', 0)", [project]);
  // This worker has seen its batch pending and waits for the lock of the profile. Meanwhile another
  // worker applies the batch, and the user is erased.
  const refusal = expect(apply(batch)).rejects.toThrow('changed hands');
  await eventually(async () => {
    const { rows } = await postgres.raw(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    expect(rows).toHaveLength(1);
  });
  await releaseSequence(redis, batch.batch);
  await lock.rollback();
  await refusal;
  expect(await profileOf('u')).toBeUndefined();
});

test('settleProfiles() folds pending operations below the low watermark', async () => {
  const late = await accept(set('other', 1));
  await apply(await accept(set('u', 1), add('u', 1)));
  expect(await tailOf('u')).toBe(2);
  expect(await settleProfiles(postgres, await lowWatermark(redis))).toBe(0);
  await apply(late);
  expect(await settleProfiles(postgres, await lowWatermark(redis))).toBe(1);
  expect(await tailOf('u')).toBe(0);
  expect(await profileOf('u')).toMatchObject({ properties: { a: 2 }, checkpoint: null });
  await apply(await accept(add('u', 1)));
  expect(await profileOf('u')).toMatchObject({ properties: { a: 3 } });
});

test('the latest mapping wins in any order of arrival, and obsolete mappings are deleted', async () => {
  const batches = [await accept(on('d', 'ann')), await accept(on('d', 'ben')), await accept(on('d', 'ann'))] as const;
  await apply(batches[2]);
  await apply(batches[1]);
  expect(await mappingsOf('d')).toEqual(['ben', 'ann']);
  await apply(batches[0]);
  expect(await mappingsOf('d')).toEqual(['ann']);
});

test('the largest and smallest doubles are stored exactly', async () => {
  await apply(await accept(set('u', Number.MAX_VALUE), add('u', Number.MAX_VALUE), add('tiny', 5e-324)));
  expect(await profileOf('u')).toMatchObject({ properties: { a: Number.MAX_VALUE } });
  expect(await profileOf('tiny')).toMatchObject({ properties: { a: 5e-324 } });
});

test('forgetUser() deletes the profile and mappings, and a later user of the same id starts empty', async () => {
  await apply(
    await accept(set('u', 1), on('mine', 'u'), on('lost', 'u'), on('lost', 'v'), on('won', 'v'), on('won', 'u')),
  );
  const erasure = `erasure:${randomUUID()}`;
  const throughSeq = await takeSequence(redis, { member: erasure, count: 1 });
  const request = { projectId: project, userId: 'u', throughSeq };
  await apply(await accept(add('u', 5), on('later', 'u'), on('mine', 'v')));

  expect(await devicesOf(postgres, { projectId: project, userId: 'u', atSeq: throughSeq })).toEqual(['mine', 'won']);
  const forgotten = await postgres.transaction((trx) => forgetUser(trx, request));
  expect(forgotten).toMatchObject({ profiles: 1, devices: ['mine', 'won'] });
  expect(await profileOf('u')).toMatchObject({ properties: { a: 5 } });
  expect(await mappingsOf('won')).toEqual([]);
  expect(await mappingsOf('mine')).toEqual(['v']);
  expect(await mappingsOf('lost')).toEqual(['v']);
  expect(await mappingsOf('later')).toEqual(['u']);
  const again = await postgres.transaction((trx) => forgetUser(trx, request));
  expect(again).toEqual({ profiles: 0, mappings: 0, devices: [] });

  await releaseSequence(redis, erasure);
  await apply(await accept(add('u', 1)));
  const repeated = await postgres.transaction((trx) => forgetUser(trx, request));
  expect(repeated).toEqual({ profiles: 0, mappings: 0, devices: [] });
  expect(await profileOf('u')).toMatchObject({ properties: { a: 6 }, checkpoint: null });
});

test('forgetUser() deletes the whole profile when Redis has lost the sequence number of the erasure', async () => {
  await apply(await accept(set('u', 1)));
  const throughSeq = await takeSequence(redis, { member: 'erasure:lost', count: 1 });
  await releaseSequence(redis, 'erasure:lost');
  await apply(await accept(add('u', 1)));
  const request = { projectId: project, userId: 'u', throughSeq };
  expect(await postgres.transaction((trx) => forgetUser(trx, request))).toMatchObject({ profiles: 1 });
  expect(await profileOf('u')).toBeUndefined();
});

test("forgetUser() deletes the user's rows of the outbox", async () => {
  await apply(await accept(set('u', 1), on('d', 'u'), set('v', 1)));
  const throughSeq = await takeSequence(redis, { member: 'erasure:1', count: 1 });
  const request = { projectId: project, userId: 'u', throughSeq };
  expect(await postgres.transaction((trx) => forgetUser(trx, request))).toEqual({
    profiles: 1,
    mappings: 1,
    devices: ['d'],
  });
  await releaseSequence(redis, 'erasure:1');
  expect(await profileOf('u')).toBeUndefined();
  expect(await outbox()).toEqual(['profile v']);
});

test('the outbox is projected round-robin over projects, and completely', async () => {
  await postgres('identity_outbox').delete();
  const other = randomUUID();
  const fill = (id: string, rows: number) =>
    postgres.raw(
      `INSERT INTO identity_outbox (project_id, kind, key) SELECT ?::uuid, 'profile', 'u' || n FROM generate_series(1, ?) n`,
      [id, rows],
    );
  const left = async (id: string) => (await postgres('identity_outbox').where({ project_id: id })).length;
  const clickhouse = createClickHouse(databases.config);
  const catalogs = new CatalogRecorder({ postgres, redis, log: createLogger({ process: 'test', level: 'warn' }) });
  const copy = () =>
    projectOutbox({ postgres, shard: { id: 1, clickhouse }, catalogs }, databases.config.CLICKHOUSE_DATABASE);
  try {
    await fill(project, 2500);
    await fill(other, 3);
    expect(await copy()).toBe(503);
    expect([await left(project), await left(other)]).toEqual([2000, 0]);
    expect([await copy(), await copy(), await copy()]).toEqual([1000, 1000, 0]);
  } finally {
    await clickhouse.close();
  }
});

test('a move waits for a projection that has begun, also of a project that was never placed', async () => {
  await postgres('identity_outbox').delete();
  await postgres('identity_outbox').insert({ project_id: project, kind: 'profile', key: 'u' });
  const clickhouse = createClickHouse(databases.config);
  let [tell, goOn] = [() => {}, () => {}];
  const hasBegun = new Promise<void>((resolve) => (tell = resolve));
  const goesOn = new Promise<void>((resolve) => (goOn = resolve));
  const catalogs = new CatalogRecorder({ postgres, redis, log: createLogger({ process: 'test', level: 'warn' }) });
  catalogs.announce = () => {
    tell();
    return goesOn;
  };
  try {
    const shard = { id: 1, clickhouse };
    const projecting = projectOutbox({ postgres, shard, catalogs }, databases.config.CLICKHOUSE_DATABASE);
    await hasBegun;
    const waiting = waitForProjections(postgres, toProjectId(project));
    await eventually(async () => {
      const { rows } = await postgres.raw("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
      expect(rows).toHaveLength(1);
    });
    goOn();
    expect(await projecting).toBe(1);
    await waiting;
  } finally {
    goOn();
    await clickhouse.close();
  }
});

test('jobs of a project with a backlog are counted in bytes and run after those of other projects', async () => {
  const queue = createIdentifyQueue(redis);
  const put = (key: string, user: string, backlogBytes: number) =>
    enqueueIdentify(queue, redis, { items: [{ project, ...add(user, 1) }], weight: 1, key, bytes: 100, backlogBytes });
  const MEBIBYTE = 1024 * 1024;
  const other = randomUUID();
  await put(project, 'large', 10 * MEBIBYTE);
  await put(project, 'larger', 20 * MEBIBYTE);
  await put(other, 'small', 0);
  await put('', 'prompt', 0);
  expect(await readBacklogs(queue, redis)).toEqual(
    new Map([
      [project, { jobs: 2, bytes: 200 }],
      [other, { jobs: 1, bytes: 100 }],
    ]),
  );
  const worker = new Worker(IDENTIFY_QUEUE, null, { connection: redis.duplicate() });
  const order: (string | undefined)[] = [];
  for (let taken = 0; taken < 4; taken += 1) {
    const job = (await worker.getNextJob('token')) as Job<IdentifyJob>;
    order.push(job.data.operations[0]?.user);
    expect(await sweepPending(redis, queue, Date.now() + 3 * 60_000)).toBe(0);
  }
  // The virtual time was that of the large one, at the head of the queue.
  expect(order).toEqual(['prompt', 'large', 'small', 'larger']);
  await worker.close();
  await releaseSequence(redis, ...(await redis.zrange('identity:pending', 0, -1)));
  await queue.obliterate({ force: true });
  await queue.close();
});

test('sweepPending() releases numbers without a job, except recent ones and those of erasures', async () => {
  const queue = createIdentifyQueue(redis);
  await enqueueIdentify(queue, redis, { items: [{ project, ...add('u', 1) }], weight: 1 });
  const [job] = await queue.getWaiting();
  const orphan = await accept(add('u', 1));
  await takeSequence(redis, { member: 'erasure:2', count: 1 });
  expect(await sweepPending(redis, queue, Date.now())).toBe(0);
  expect(await sweepPending(redis, queue, Date.now() + 3 * 60_000)).toBe(1);
  expect(await redis.zrange('identity:pending', 0, -1)).toEqual([job?.id, 'erasure:2']);
  expect(orphan.batch).not.toBe(job?.id);
  await releaseSequence(redis, 'erasure:2');

  // A dead letter that is replayed comes after what was accepted meanwhile.
  if (job === undefined) throw new Error('no job waits');
  await releaseSequence(redis, job.data.batch);
  await apply(await accept(set('u', 10)));
  await renumberBatch(redis, job);
  await apply((await queue.getJob(job.id ?? ''))?.data as IdentifyJob);
  expect(await profileOf('u')).toMatchObject({ properties: { a: 11 } });
  await queue.obliterate({ force: true });
  await queue.close();
});
