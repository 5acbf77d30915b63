// First-seen times, with retrying clients and with an attacker who has a public key: memory is
// bounded, and a project only displaces its own entries.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import type { Identification } from '../../src/identity/queue.js';
import { deleteFirstSeenTimes, settleFirstSeenTimes, sweepFirstTimes } from '../../src/ingest/first-seen-times.js';
import { commitCalls } from '../../src/ingest/protocols/commit-calls.js';
import { settleTimes } from '../../src/ingest/steps.js';
import { createAdmission } from '../../src/platform/flow/admission.js';
import { GroupCommit } from '../../src/platform/flow/group-commit.js';
import { newUuidV7, toProjectId } from '../../src/platform/ids.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { redisBytesOf } from '../support/redis-memory.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, type EventStore, openEventStore, track } from '../support/track.js';

const PER_PROJECT_MAX = 20_000;
const BYTES_PER_ENTRY_MAX = 80;

let databases: TestDatabases;
let processes: ProcessGroup;
let redis: Redis;
let store: EventStore;
let hostile: NewProject;
let other: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases();
  redis = createRedis(databases.config);
  const env = {
    ...databases.env,
    INGEST_FIRST_TIMES_PER_PROJECT_MAX: String(PER_PROJECT_MAX),
  };
  processes = await startProcesses(env, ['web', 'worker']);
  store = openEventStore(databases);
  hostile = await createTestProject(databases);
  other = await createTestProject(databases);
}, 240_000);

afterAll(async () => {
  await processes?.stop();
  await store?.client.close();
  redis?.disconnect();
  await databases?.close();
});

const longId = (number: number): string => String(number).padStart(512, 'x');
const untilStored = (project: NewProject, events: number) =>
  eventually(async () => expect(await store.count(project.id)).toBe(events), 120_000);

test('a flood of new ids with a public key affects only its own project', {
  timeout: 240_000,
}, async () => {
  const IDS = 80_000;
  const PER_REQUEST = 2000;
  const send = (project: NewProject, ...ids: readonly string[]) =>
    track(processes.url, project.publicKey, { events: ids.map((insert_id) => ({ event_type: 'a', insert_id })) });
  expect(await send(other, 'before')).toMatchObject({ status: 200 });
  const before = await redisBytesOf(redis);
  for (let first = 0; first < IDS; first += PER_REQUEST) {
    const ids = Array.from({ length: PER_REQUEST }, (_, index) => longId(first + index));
    expect(await send(hostile, ...ids)).toMatchObject({ status: 200 });
    // One request at a time, so that the measured memory contains no queued events.
    await untilStored(hostile, first + PER_REQUEST);
  }
  const entryBytes = ((await redisBytesOf(redis)) - before) / PER_PROJECT_MAX;
  process.stderr.write(`first times: ${entryBytes.toFixed(0)} bytes per entry\n`);
  expect(entryBytes).toBeLessThan(2 * BYTES_PER_ENTRY_MAX);

  expect(await send(other, 'after')).toMatchObject({ status: 200 });
  // Other projects have lost no first-seen times.
  expect(await send(other, 'before')).toMatchObject({ status: 200 });
  await send(other, 'last');
  await untilStored(other, 3);
  // The newest are kept; the oldest have been dropped and get a new time.
  await send(hostile, longId(IDS - 1));
  await send(hostile, longId(0));
  await untilStored(hostile, IDS + 1);
});

describe('first-seen times in Redis', () => {
  const HOUR_MS = 3_600_000;
  const LIMITS = { totalMax: 1000, perProjectMax: 500 };
  const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const now = Date.now();
  const settle = (projectId: string, insertIds: string[], at = now, limits = LIMITS) =>
    settleFirstSeenTimes(redis, { projectId, insertIds, now: at }, limits);

  beforeAll(async () => {
    await redis.flushdb();
  });

  test('return the first time of an id, also for concurrent requests and an id that occurs twice in one', async () => {
    const project = newUuidV7();
    expect(await settle(project, ['a', 'b', 'a'])).toEqual([now, now, now]);
    expect(await settle(project, ['c', 'a'], now + 5)).toEqual([now + 5, now]);
    const both = await Promise.all([settle(project, ['d'], now + 1), settle(project, ['d'], now + 2)]);
    expect(both[0]).toEqual(both[1]);
    expect(await settle(newUuidV7(), ['a'], now + 7)).toEqual([now + 7]);
    // A process whose clock is behind.
    expect(await settle(project, ['c'], now)).toEqual([now + 5]);
  });

  test('are kept a day for each id, at any hour', async () => {
    const project = newUuidV7();
    for (let hour = 0; hour < 24; hour += 1) await settle(project, [`h-${hour}`], now + hour * HOUR_MS);
    expect(await settle(project, ['h-1', 'h-23'], now + 24 * HOUR_MS)).toEqual([now + HOUR_MS, now + 23 * HOUR_MS]);
    const later = now + 26 * HOUR_MS;
    expect(await settle(project, ['h-0'], later)).toEqual([later]);
  });

  test.each([2, 24, 25, 30, 60])('are those of the call when they are %s days old', async (days) => {
    const project = newUuidV7();
    const old = now - days * 24 * HOUR_MS;
    const request = { projectId: project, insertIds: ['a'], times: [old] };
    for (const at of [now, now + HOUR_MS]) {
      expect(await settleFirstSeenTimes(redis, { ...request, now: at }, LIMITS)).toEqual([old]);
    }
    expect(await settle(project, ['a'], now + 2 * HOUR_MS)).toEqual([now + 2 * HOUR_MS]);
  });

  test('are swept after a day', async () => {
    const project = newUuidV7();
    await settle(project, ['old'], now - 31 * HOUR_MS);
    await settle(project, ['new']);
    await sweepFirstTimes(redis, now);
    expect(await redis.keys(`ingest:times:${project}:*`)).toHaveLength(1);
    expect(await redis.zscore('ingest:times:held', project)).toBe('1');
  });

  test('are deleted for the given ids of one project only', async () => {
    const [mine, theirs] = [newUuidV7(), newUuidV7()];
    for (const project of [mine, theirs]) await settle(project, ['a', 'b']);
    await deleteFirstSeenTimes(redis, [{ projectId: mine, insertId: 'a' }]);
    expect(await settle(mine, ['a', 'b'], now + 1)).toEqual([now + 1, now]);
    expect(await settle(theirs, ['a'], now + 1)).toEqual([now]);
  });

  test('drop the oldest of the project with the most entries above the total limit', async () => {
    await redis.flushdb();
    const [small, ...large] = Array.from({ length: 6 }, () => newUuidV7()) as [string, ...string[]];
    await settle(small, ids('s', 10));
    for (let round = 0; round < 10; round += 1) {
      for (const project of large) await settle(project, ids(`r${round}`, 50));
    }
    expect(await settle(small, ['s-0'], now + 1)).toEqual([now]);
    const held = await Promise.all([...large, small].map((project) => redis.zscore('ingest:times:held', project)));
    const entries = held.map(Number);
    expect(entries.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(LIMITS.totalMax);
    expect(Number(await redis.get('ingest:times:total'))).toBe(entries.reduce((sum, one) => sum + one, 0));
    // Projects with equal numbers lose about equally many.
    for (const project of entries.slice(0, -1)) expect(project).toBeGreaterThanOrEqual(100);
    const slices = await redis.keys('ingest:times:????????-*:*');
    const lengths = await Promise.all(slices.map((slice) => redis.hlen(slice)));
    expect(lengths.reduce((sum, one) => sum + one, 0)).toBe(entries.reduce((sum, one) => sum + one, 0));
  });
});

test('a time that was computed from the moment of the delivery is that of the first one', async () => {
  const now = Date.now();
  const project = newUuidV7();
  const deliver = async (t: number, computed: number) => {
    const envelope = {
      header: { v: 1, p: project, t, ip: '', ua: '', geo: {}, o: 'client', n: 1 } as const,
      body: Buffer.from('{}'),
    };
    const translated = { calls: [], times: new Map([[0, computed]]), skipped: new Map() };
    const counted = { envelope, eventsWithoutTime: new Map([[0, 'a']]), translated, dropped: 0 };
    const settled = await settleTimes(counted, { redis, firstTimes: { totalMax: 1000, perProjectMax: 500 } });
    return settled.header.first;
  };
  expect(await deliver(now, now - 5000)).toEqual({ 0: now - 5000 });
  expect(await deliver(now + 2000, now - 3000)).toEqual({ 0: now - 5000 });
  // The first delivery may have been at a clock that is ahead of this one.
  expect(await deliver(now - 5000, now - 9000)).toEqual({ 0: now - 5000 });
});

test('a call that must not be applied twice is applied once, also when it is sent twice in one millisecond', async () => {
  const applied: string[] = [];
  let isRefused = false;
  const admission = createAdmission(
    { measure: async () => ({ jobs: 0, bytes: 0 }), measureProjects: async () => new Map() },
    { jobsMax: 10, memoryBytesMax: 1000, promptBytesMax: 1000 },
  );
  const groupCommit = new GroupCommit<Identification>(
    async ({ items }) => {
      const users = items.map(({ user }) => user);
      if (isRefused && users.includes('bob')) throw new Error('redis is unavailable');
      applied.push(...users);
    },
    { weightMax: 1, bytesMax: 1000, delayMs: 1 },
  );
  const deps = {
    ingest: { redis, firstTimes: { totalMax: 1000, perProjectMax: 500 } },
    identity: { admission, groupCommit },
  };
  const credential = { projectId: toProjectId(newUuidV7()) };
  const now = Date.now();
  const send = (...users: string[]) => {
    const calls = users.map((userId) => ({
      ...{ call: { userId, deviceId: undefined, ops: { add: { visits: 1 } } }, onceId: `$add ${userId}` },
    }));
    return commitCalls(deps, { req: { headers: {} }, credential, bytes: Buffer.alloc(10), calls, now });
  };
  await Promise.all([send('ada', 'ada'), send('ada'), send('ada')]);
  expect(applied).toEqual(['ada']);

  isRefused = true;
  await expect(send('eve', 'bob')).rejects.toThrow('redis is unavailable');
  isRefused = false;
  await send('eve', 'bob');
  expect(applied).toEqual(['ada', 'eve', 'bob']);
});
