// Placements that workers remember: never longer than the version that a job read.
import { expect, test } from 'vitest';
import { canaryProjectOf, shardOfCanary } from '../../../src/ingest/canary.js';
import { jobIdOfPayload, newPayloadKey, projectOfJob, shardOfJob } from '../../../src/ingest/payloads.js';
import { PlacementCache } from '../../../src/ingest/placement-cache.js';
import { ingestQueuesOf, isIngestQueue, parseCommitKey, toCommitKey } from '../../../src/ingest/queue.js';
import type { Placement, Shards } from '../../../src/platform/clickhouse/shards.js';

const PROJECT = '00000000-0000-7000-8000-000000000001';

/** Placements in PostgreSQL, and how often they were asked for. */
function registry(placements: Record<string, Placement>, areSeveral = true) {
  const asked: string[][] = [];
  return {
    asked,
    placements,
    known: [{ id: 1 }, { id: 2 }, { id: 300 }] as unknown as Shards['known'],
    read: async () => [],
    areSeveral: async () => areSeveral,
    placementsOf: async (ids: readonly string[]) => {
      asked.push([...ids]);
      return new Map(ids.map((id) => [id, placements[id] ?? { shard: 1, epoch: 1, isMoving: false }]));
    },
  };
}

const all = new Set([PROJECT]);

test('with one shard no placement is looked up', async () => {
  const shards = registry({}, false);
  const placementOf = await new PlacementCache(shards).of(all, null);
  expect(placementOf(PROJECT)).toMatchObject({ shard: 1, isMoving: false });
  expect(shards.asked).toEqual([]);
});

test('a placement is looked up once per version, and again while the project moves', async () => {
  const shards = registry({ [PROJECT]: { shard: 2, epoch: 1, isMoving: false } });
  const cache = new PlacementCache(shards);
  expect((await cache.of(all, 'a'))(PROJECT).shard).toBe(2);
  expect((await cache.of(all, 'a'))(PROJECT).shard).toBe(2);
  expect(shards.asked).toHaveLength(1);
  shards.placements[PROJECT] = { shard: 2, epoch: 1, isMoving: true };
  expect((await cache.of(all, 'b'))(PROJECT).isMoving).toBe(true);
  shards.placements[PROJECT] = { shard: 3, epoch: 2, isMoving: false };
  expect((await cache.of(all, 'b'))(PROJECT)).toMatchObject({ shard: 3, isMoving: false });
});

test('a lookup that began before a version fills no cache of that version', async () => {
  const shards = registry({ [PROJECT]: { shard: 1, epoch: 1, isMoving: false } });
  let answer = () => {};
  const late = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { placementsOf } = shards;
  const before = new Map([[PROJECT, { shard: 1, epoch: 1, isMoving: false }]]);
  shards.placementsOf = async () => late.then(() => before);
  const cache = new PlacementCache(shards);
  const early = cache.of(all, 'a');
  await new Promise(setImmediate);
  shards.placementsOf = placementsOf;
  shards.placements[PROJECT] = { shard: 2, epoch: 2, isMoving: false };
  expect((await cache.of(all, 'b'))(PROJECT).shard).toBe(2);
  answer();
  await early;
  expect((await cache.of(all, 'b'))(PROJECT).shard).toBe(2);
});

test('jobs that start together share one read of the registry, which is repeated after a failure', async () => {
  const shards = registry({ [PROJECT]: { shard: 2, epoch: 1, isMoving: false } });
  let reads = 0;
  shards.read = async () => {
    reads += 1;
    if (reads === 1) throw new Error('no answer');
    return [];
  };
  const cache = new PlacementCache(shards);
  const ofTwenty = () => Promise.allSettled(Array.from({ length: 20 }, () => cache.of(all, 'a')));
  expect(new Set((await ofTwenty()).map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(reads).toBe(1);
  expect(new Set((await ofTwenty()).map(({ status }) => status))).toEqual(new Set(['fulfilled']));
  expect(reads).toBe(2);
  expect((await cache.of(all, 'a'))(PROJECT).shard).toBe(2);
  expect(reads).toBe(2);
});

test('a canary lives on its own shard, without a lookup', async () => {
  const shards = registry({});
  const canary = canaryProjectOf(300);
  expect((await new PlacementCache(shards).of(new Set([canary]), null))(canary).shard).toBe(300);
  expect(shards.asked).toEqual([]);
  expect([shardOfCanary(canaryProjectOf(1)), shardOfCanary(PROJECT)]).toEqual([1, undefined]);
});

test('the canary of a shard that was removed is stored on the first', async () => {
  const canary = canaryProjectOf(3);
  expect((await new PlacementCache(registry({})).of(new Set([canary]), null))(canary).shard).toBe(1);
});

test.each([
  [{ project: '', shard: 1 }, ['ingest', 'ingest-bulk']],
  [{ project: PROJECT, shard: 1 }, ['ingest', 'ingest-bulk']],
  [{ project: '', shard: 12 }, ['ingest-12', 'ingest-bulk-12']],
  [{ project: PROJECT, shard: 12 }, ['ingest-12', 'ingest-bulk-12']],
])('the key of a payload names the queue of its job: %j', (group, queues) => {
  const job = jobIdOfPayload(newPayloadKey(group));
  expect([projectOfJob(job) ?? '', shardOfJob(job)]).toEqual([group.project, group.shard]);
  expect(ingestQueuesOf(shardOfJob(job))).toEqual(queues);
  expect(queues.every(isIngestQueue)).toBe(true);
  expect(parseCommitKey(toCommitKey(group))).toEqual(group);
});

test('a job of an installation with one shard belongs to none', () => {
  const job = jobIdOfPayload(newPayloadKey({ project: PROJECT, shard: undefined }));
  expect([projectOfJob(job), shardOfJob(job)]).toEqual([PROJECT, 1]);
  expect(job).not.toContain('.');
});

test('with one shard the key of a commit is the project', () => {
  expect(toCommitKey({ project: PROJECT, shard: undefined })).toBe(PROJECT);
  expect(parseCommitKey(PROJECT)).toEqual({ project: PROJECT, shard: undefined });
});
