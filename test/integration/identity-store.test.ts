// Profiles and mappings in PostgreSQL when batches arrive late, twice or concurrently, and when a
// person is erased.
import { randomUUID } from 'node:crypto';
import { type Job, Worker } from 'bullmq';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createRandom } from '../../bench/random.js';
import { CatalogRecorder } from '../../src/catalog/recorder.js';
import { isolateRejectedCalls } from '../../src/identity/apply.js';
import { projectOutbox } from '../../src/identity/outbox.js';
import {
  createIdentifyQueue,
  enqueueIdentify,
  IDENTIFY_QUEUE,
  type IdentifyJob,
  readBacklogs,
  renumberBatch,
} from '../../src/identity/queue.js';
import { lowWatermark, releaseSequence, takeSequence } from '../../src/identity/sequence.js';
import { devicesOf, forgetUser, settleProfiles } from '../../src/identity/store.js';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { waitForProjections } from '../../src/shards/store.js';
import { sweepPending } from '../../workers/sweep-identities.js';
import { eventually } from '../support/eventually.js';
import { add, type Call, IdentityStore, imported, on, set } from '../support/identity-store.js';
import { SEED } from '../support/seed.js';

let store: IdentityStore;

beforeAll(async () => {
  store = await IdentityStore.open();
});

afterAll(() => store?.close());

beforeEach(() => {
  store.project = randomUUID();
});

const tailOf = async (user: string) =>
  (await store.postgres('profile_operations').where({ project_id: store.project, user_id: user })).length;
const outbox = async (): Promise<string[]> =>
  (await store.postgres('identity_outbox').where({ project_id: store.project }))
    .map(({ kind, key }) => `${kind} ${key}`)
    .sort();

const T = Date.UTC(2020, 0, 1);
const versionOf = async (user: string): Promise<unknown> => (await store.profileOf(user))?.version;

test('imported links and values count by their times, in any order, and twice is once', async () => {
  const live = await store.accept(on('d', 'live'), set('live', 9));
  const old = [imported(on('d', 'old'), T), imported(on('e', 'new'), T + 2), imported(on('e', 'old'), T + 1)];
  const values = [imported(set('live', 1), T), imported(set('u', 2), T + 2), imported(set('u', 1), T + 1)];
  await store.apply(await store.accept(...old, ...values));
  await store.apply(live);
  await store.apply(await store.accept(add('u', 5)));
  const last = async (device: string) => (await store.mappingsOf(device)).at(-1);
  const state = async () => [await last('d'), await last('e'), await versionOf('live'), await versionOf('u')];
  const before = await state();
  expect(before.slice(0, 2)).toEqual(['live', 'new']);
  expect(await store.profileOf('live')).toMatchObject({ properties: { a: 9 } });
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 7 }, first_seen: new Date(T + 1) });
  await store.postgres('identity_outbox').where({ project_id: store.project }).delete();
  await store.apply(await store.accept(...values.toReversed(), ...old.toReversed()));
  expect(await state()).toEqual(before);
  expect(await outbox()).toEqual([]);
  await store.apply(await store.accept(imported(set('u', 10), T + 3)));
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 15 } });
});

test('random live and imported links in any order map a device to the user of the latest', async () => {
  const random = createRandom(SEED);
  for (let run = 0; run < 20; run += 1) {
    store.project = randomUUID();
    const links = Array.from({ length: 12 }, (_, index) => {
      const link = on(`device ${Math.floor(random() * 2)}`, `user ${index}`);
      return random() < 0.5 ? link : imported(link, T + Math.floor(random() * 4));
    });
    const batches = await Promise.all(links.map((link) => store.accept(link)));
    for (const batch of batches.toSorted(() => random() - 0.5)) await store.apply(batch);
    const order = (user: string | undefined): number => {
      const call = batches.flatMap(({ operations }) => operations).find((operation) => operation.user === user);
      return call?.at ?? call?.seq ?? 0;
    };
    const found = await Promise.all([0, 1].map(async (n) => (await store.mappingsOf(`device ${n}`)).at(-1)));
    const expected = [0, 1].map((n) =>
      Math.max(0, ...links.filter(({ device }) => device === `device ${n}`).map(({ user }) => order(user))),
    );
    expect([run, found.map(order)]).toEqual([run, expected]);
  }
  await settleProfiles(store.postgres, Number.MAX_SAFE_INTEGER);
});

test('calls in order leave no pending operations', async () => {
  await store.apply(await store.accept(set('u', 1), add('u', 1), add('v', 1)));
  await store.apply(await store.accept(add('u', 5)));
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 7 }, checkpoint: null });
  expect(await store.postgres('profile_operations').where({ project_id: store.project })).toEqual([]);
  expect(await store.redis.zcard('identity:pending')).toBe(0);
});

test('isolateRejectedCalls() returns the same calls again when a worker died in between', async () => {
  const refused: Call = { user: 'u', ops: { set: { a: 'refused\0' } } };
  const batch = await store.accept(add('u', 1), refused, add('u', 10));
  for (let attempt = 0; attempt < 2; attempt += 1) {
    expect(await isolateRejectedCalls(batch, store)).toEqual([batch.operations[1]]);
    expect(await store.profileOf('u')).toMatchObject({ properties: { a: 11 } });
  }
  await releaseSequence(store.redis, batch.batch);
  await store.apply(await store.accept(add('u', 100)));
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 111 }, checkpoint: null });
});

test('batches out of order give the same profile as in order', async () => {
  const batches = [
    await store.accept(set('u', 1)),
    await store.accept(add('u', 10)),
    await store.accept(set('u', 2), add('u', 0.5)),
  ];
  const [first, second, third] = batches as [IdentifyJob, IdentifyJob, IdentifyJob];
  await store.apply(third);
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 2.5 } });
  expect(await tailOf('u')).toBe(2);
  await store.apply(second);
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 2.5 } });
  await store.apply(first);
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 2.5 }, checkpoint: null });
  expect(await tailOf('u')).toBe(0);
  expect((await store.profileOf('u')).first_seen.getTime()).toBe(Math.floor((first.operations[0]?.seq ?? 0) / 1000));
});

test('a batch is applied once by concurrent workers and after a lost release', async () => {
  const batch = await store.accept(add('u', 1), on('d', 'u'));
  await Promise.allSettled([store.apply(batch), store.apply(batch), store.apply(batch)]);
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 1 } });
  expect(await store.apply(batch)).toBe(0);
  // The state after a worker died between its commit and the release.
  await store.redis.zadd('identity:pending', batch.operations[0]?.seq ?? 0, batch.batch);
  await store.apply(batch, await store.accept(add('u', 1)));
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 2 } });
  expect(await store.mappingsOf('d')).toEqual(['u']);
});

test('a delayed worker does not restore a user who was erased meanwhile', async () => {
  const batch = await store.accept(add('u', 1));
  const lock = await store.postgres.transaction();
  await lock.raw("INSERT INTO profiles VALUES (?, 'u', '{}', NULL, NULL, 'epoch', 'epoch', 0, '{}', 0)", [
    store.project,
  ]);
  // This worker has seen its batch pending and waits for the lock of the profile. Meanwhile another
  // worker applies the batch, and the user is erased.
  const refusal = expect(store.apply(batch)).rejects.toThrow('while they were waited for');
  await eventually(async () => {
    const { rows } = await store.postgres.raw(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    expect(rows).toHaveLength(1);
  });
  await releaseSequence(store.redis, batch.batch);
  await lock.rollback();
  await refusal;
  expect(await store.profileOf('u')).toBeUndefined();
});

test('settleProfiles() folds pending operations below the low watermark', async () => {
  const late = await store.accept(set('other', 1));
  await store.apply(await store.accept(set('u', 1), add('u', 1)));
  expect(await tailOf('u')).toBe(2);
  expect(await settleProfiles(store.postgres, await lowWatermark(store.redis))).toBe(0);
  await store.apply(late);
  expect(await settleProfiles(store.postgres, await lowWatermark(store.redis))).toBe(1);
  expect(await tailOf('u')).toBe(0);
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 2 }, checkpoint: null });
  await store.apply(await store.accept(add('u', 1)));
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 3 } });
});

test('the latest mapping wins in any order of arrival, and obsolete mappings are deleted', async () => {
  const batches = [
    await store.accept(on('d', 'ann')),
    await store.accept(on('d', 'ben')),
    await store.accept(on('d', 'ann')),
  ] as const;
  await store.apply(batches[2]);
  await store.apply(batches[1]);
  expect(await store.mappingsOf('d')).toEqual(['ben', 'ann']);
  await store.apply(batches[0]);
  expect(await store.mappingsOf('d')).toEqual(['ann']);
});

test('the largest and smallest doubles are stored exactly', async () => {
  await store.apply(await store.accept(set('u', Number.MAX_VALUE), add('u', Number.MAX_VALUE), add('tiny', 5e-324)));
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: Number.MAX_VALUE } });
  expect(await store.profileOf('tiny')).toMatchObject({ properties: { a: 5e-324 } });
});

test('forgetUser() deletes the profile and mappings, and a later user of the same id starts empty', async () => {
  await store.apply(
    await store.accept(set('u', 1), on('mine', 'u'), on('lost', 'u'), on('lost', 'v'), on('won', 'v'), on('won', 'u')),
  );
  const erasure = `erasure:${randomUUID()}`;
  const throughSeq = await takeSequence(store.redis, { member: erasure, count: 1 });
  const request = { projectId: store.project, userId: 'u', throughSeq };
  await store.apply(await store.accept(add('u', 5), on('later', 'u'), on('mine', 'v')));

  expect(await devicesOf(store.postgres, { projectId: store.project, userId: 'u', atSeq: throughSeq })).toEqual([
    'mine',
    'won',
  ]);
  const forgotten = await store.postgres.transaction((trx) => forgetUser(trx, request));
  expect(forgotten).toMatchObject({ profiles: 1, devices: ['mine', 'won'] });
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 5 } });
  expect(await store.mappingsOf('won')).toEqual([]);
  expect(await store.mappingsOf('mine')).toEqual(['v']);
  expect(await store.mappingsOf('lost')).toEqual(['v']);
  expect(await store.mappingsOf('later')).toEqual(['u']);
  const again = await store.postgres.transaction((trx) => forgetUser(trx, request));
  expect(again).toEqual({ profiles: 0, mappings: 0, devices: [] });

  await releaseSequence(store.redis, erasure);
  await store.apply(await store.accept(add('u', 1)));
  const repeated = await store.postgres.transaction((trx) => forgetUser(trx, request));
  expect(repeated).toEqual({ profiles: 0, mappings: 0, devices: [] });
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 6 }, checkpoint: null });
});

test('forgetUser() deletes the whole profile when Redis has lost the sequence number of the erasure', async () => {
  await store.apply(await store.accept(set('u', 1)));
  const throughSeq = await takeSequence(store.redis, { member: 'erasure:lost', count: 1 });
  await releaseSequence(store.redis, 'erasure:lost');
  await store.apply(await store.accept(add('u', 1)));
  const request = { projectId: store.project, userId: 'u', throughSeq };
  expect(await store.postgres.transaction((trx) => forgetUser(trx, request))).toMatchObject({ profiles: 1 });
  expect(await store.profileOf('u')).toBeUndefined();
});

test("forgetUser() deletes the user's rows of the outbox", async () => {
  await store.apply(await store.accept(set('u', 1), on('d', 'u'), set('v', 1)));
  const throughSeq = await takeSequence(store.redis, { member: 'erasure:1', count: 1 });
  const request = { projectId: store.project, userId: 'u', throughSeq };
  expect(await store.postgres.transaction((trx) => forgetUser(trx, request))).toEqual({
    profiles: 1,
    mappings: 1,
    devices: ['d'],
  });
  await releaseSequence(store.redis, 'erasure:1');
  expect(await store.profileOf('u')).toBeUndefined();
  expect(await outbox()).toEqual(['profile v']);
});

test('the outbox is projected round-robin over projects, and completely', async () => {
  await store.postgres('identity_outbox').delete();
  const other = randomUUID();
  const fill = (id: string, rows: number) =>
    store.postgres.raw(
      `INSERT INTO identity_outbox (project_id, kind, key) SELECT ?::uuid, 'profile', 'u' || n FROM generate_series(1, ?) n`,
      [id, rows],
    );
  const left = async (id: string) => (await store.postgres('identity_outbox').where({ project_id: id })).length;
  const clickhouse = createClickHouse(store.databases.config);
  const catalogs = new CatalogRecorder({
    postgres: store.postgres,
    redis: store.redis,
    log: createLogger({ process: 'test', level: 'warn' }),
  });
  const copy = () =>
    projectOutbox(
      { postgres: store.postgres, shard: { id: 1, clickhouse }, catalogs },
      store.databases.config.CLICKHOUSE_DATABASE,
    );
  try {
    await fill(store.project, 2500);
    await fill(other, 3);
    expect(await copy()).toBe(503);
    expect([await left(store.project), await left(other)]).toEqual([2000, 0]);
    expect([await copy(), await copy(), await copy()]).toEqual([1000, 1000, 0]);
  } finally {
    await clickhouse.close();
  }
});

test('a move waits for a projection that has begun, also of a project that was never placed', async () => {
  await store.postgres('identity_outbox').delete();
  await store.postgres('identity_outbox').insert({ project_id: store.project, kind: 'profile', key: 'u' });
  const clickhouse = createClickHouse(store.databases.config);
  let [tell, goOn] = [() => {}, () => {}];
  const hasBegun = new Promise<void>((resolve) => (tell = resolve));
  const goesOn = new Promise<void>((resolve) => (goOn = resolve));
  const catalogs = new CatalogRecorder({
    postgres: store.postgres,
    redis: store.redis,
    log: createLogger({ process: 'test', level: 'warn' }),
  });
  catalogs.announce = () => {
    tell();
    return goesOn;
  };
  try {
    const shard = { id: 1, clickhouse };
    const projecting = projectOutbox(
      { postgres: store.postgres, shard, catalogs },
      store.databases.config.CLICKHOUSE_DATABASE,
    );
    await hasBegun;
    const waiting = waitForProjections(store.postgres, toProjectId(store.project));
    await eventually(async () => {
      const { rows } = await store.postgres.raw("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
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
  const queue = createIdentifyQueue(store.redis);
  const put = (key: string, user: string, backlogBytes: number) =>
    enqueueIdentify(queue, store.redis, {
      items: [{ project: store.project, ...add(user, 1) }],
      weight: 1,
      key,
      bytes: 100,
      backlogBytes,
    });
  const MEBIBYTE = 1024 * 1024;
  const other = randomUUID();
  await put(store.project, 'large', 10 * MEBIBYTE);
  await put(store.project, 'larger', 20 * MEBIBYTE);
  await put(other, 'small', 0);
  await put('', 'prompt', 0);
  expect(await readBacklogs(queue, store.redis)).toEqual(
    new Map([
      [store.project, { jobs: 2, bytes: 200 }],
      [other, { jobs: 1, bytes: 100 }],
    ]),
  );
  const worker = new Worker(IDENTIFY_QUEUE, null, { connection: store.redis.duplicate() });
  const order: (string | undefined)[] = [];
  for (let taken = 0; taken < 4; taken += 1) {
    const job = (await worker.getNextJob('token')) as Job<IdentifyJob>;
    order.push(job.data.operations[0]?.user);
    expect(await sweepPending(store.redis, queue, -60_000)).toBe(0);
  }
  // The virtual time was that of the large one, at the head of the queue.
  expect(order).toEqual(['prompt', 'large', 'small', 'larger']);
  await worker.close();
  await releaseSequence(store.redis, ...(await store.redis.zrange('identity:pending', 0, -1)));
  await queue.obliterate({ force: true });
  await queue.close();
});

test('sweepPending() releases numbers without a job, except recent ones and those of erasures', async () => {
  const queue = createIdentifyQueue(store.redis);
  await enqueueIdentify(queue, store.redis, { items: [{ project: store.project, ...add('u', 1) }], weight: 1 });
  const [job] = await queue.getWaiting();
  const orphan = await store.accept(add('u', 1));
  await takeSequence(store.redis, { member: 'erasure:2', count: 1 });
  // By a worker whose clock is an hour ahead.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60 * 60_000 });
  const swept = await sweepPending(store.redis, queue).finally(() => vi.useRealTimers());
  expect(swept).toBe(0);
  expect(await sweepPending(store.redis, queue, -60_000)).toBe(1);
  expect(await store.redis.zrange('identity:pending', 0, -1)).toEqual([job?.id, 'erasure:2']);
  expect(orphan.batch).not.toBe(job?.id);
  await releaseSequence(store.redis, 'erasure:2');

  // A dead letter that is replayed comes after what was accepted meanwhile.
  if (job === undefined) throw new Error('no job waits');
  await releaseSequence(store.redis, job.data.batch);
  await store.apply(await store.accept(set('u', 10)));
  await renumberBatch(store.redis, job);
  await store.apply((await queue.getJob(job.id ?? ''))?.data as IdentifyJob);
  expect(await store.profileOf('u')).toMatchObject({ properties: { a: 11 } });
  await queue.obliterate({ force: true });
  await queue.close();
});
