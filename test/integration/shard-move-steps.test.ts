// Steps of a move that meets what else goes on: what began before it, merges, an interruption, a
// Redis that loses its last writes. No process of the service runs.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectionQueryId } from '../../src/identity/clickhouse-projection.js';
import { jobIdOfPayload, newPayloadKey } from '../../src/ingest/payloads.js';
import { PLACEMENT_VERSION } from '../../src/ingest/placement-cache.js';
import { ingestQueuesOf } from '../../src/ingest/queue.js';
import type { ClickHouseClient } from '../../src/platform/clickhouse/client.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { waitForIngestion } from '../../src/privacy/erase-people.js';
import { copyProject } from '../../src/shards/copy-project.js';
import { fenceOf, raiseFence } from '../../src/shards/move-fence.js';
import { moveProject } from '../../src/shards/move-project.js';
import { beginMove, cancelMove, completeMove, markCleared, readLeftMs } from '../../src/shards/store.js';
import { eventually } from '../support/eventually.js';
import { startTwoShards, type TwoShards } from '../support/shards.js';
import { createTestProject } from '../support/track.js';

let two: TwoShards;

beforeAll(async () => {
  two = await startTwoShards({}, []);
}, 240_000);

afterAll(() => two?.close());

test('versions of a mapping that ClickHouse merges meanwhile are copied as one', async () => {
  const { id } = await createTestProject(two.databases);
  const [source, destination] = [await two.clientOf(1), await two.clientOf(2)];
  const mapping = { project_id: id, device_id: 'phone' };
  const values = [
    { ...mapping, user_id: 'ada', updated_at: '2026-01-01 00:00:00' },
    { ...mapping, user_id: 'bob', updated_at: '2026-01-02 00:00:00' },
  ];
  // In one part, which is merged only on request.
  const clickhouse_settings = { optimize_on_insert: 0 } as const;
  await source.insert({ table: 'device_map', values, format: 'JSONEachRow', clickhouse_settings });
  expect(await two.rowsOn(1, { id }, 'device_map')).toBe(2);
  const merging: ClickHouseClient = Object.assign(Object.create(destination) as ClickHouseClient, {
    exec: async (params: Parameters<ClickHouseClient['exec']>[0]) => {
      const result = await destination.exec(params);
      await source.command({ query: 'OPTIMIZE TABLE device_map FINAL' });
      return result;
    },
  });
  const fence = fenceOf(id, 1);
  await raiseFence(destination, fence, async () => {});
  const copied = await copyProject({ from: source, to: merging, signal: AbortSignal.timeout(60_000), fence }, id);
  expect(copied.find(({ table }) => table === 'device_map')).toEqual({ table: 'device_map', rows: 1 });

  // As many rows, of which one has another value.
  const changing: ClickHouseClient = Object.assign(Object.create(destination) as ClickHouseClient, {
    exec: async (params: Parameters<ClickHouseClient['exec']>[0]) => {
      const result = await destination.exec(params);
      const changed = { ...mapping, user_id: 'eve', updated_at: '2026-01-03 00:00:00' };
      await destination.insert({ table: 'device_map', values: [changed], format: 'JSONEachRow' });
      return result;
    },
  });
  const again = copyProject({ from: source, to: changing, signal: AbortSignal.timeout(60_000), fence }, id);
  await expect(again).rejects.toThrow('device_map has 1 rows of the project after 1 were copied, or other values');
});

test('a move waits for what began before it: deletions, jobs, projections, and an insert of a killed worker', async () => {
  const { id, home, other } = await two.projectWithEvent();
  const source = await two.clientOf(home);
  const locks = createPostgres(two.databases.config, { poolMax: 1 });
  const { deps, said } = two.sayingDeps({ onLine: (line) => steps.get(line)?.() });
  const isSaid = (line: string) => new Promise<void>((resolve) => steps.set(line, resolve));
  const steps = new Map<string, () => void>();
  /** Nothing is copied yet. The time is that in which a move that does not wait copies. */
  const requireWaits = async () => {
    await delay(500);
    expect([await two.shards.homeOf(id), said.join()]).toEqual([
      expect.objectContaining({ shard: home, isMoving: true }),
      expect.not.stringContaining('rows are copied'),
    ]);
  };
  // The last of the runs that delete, and the first as soon as that is waited for.
  await locks.raw('SELECT pg_advisory_lock(4726107)');
  const keepIsSaid = isSaid('waiting for the end of a run of keep');
  const erasureIsSaid = isSaid('waiting for the end of a run of erasures');
  const job = jobIdOfPayload(newPayloadKey({ project: id, shard: home }));
  const active = `bull:${ingestQueuesOf(home)[1]}:active`;
  await two.redis.rpush(active, job);
  await two.postgres('identity_outbox').insert({ project_id: id, kind: 'profile', key: 'ada' });
  const projection = await two.postgres.transaction();
  const moving = moveProject(deps, id, other);
  moving.catch(() => {});
  try {
    await keepIsSaid;
    expect(await two.shards.homeOf(id)).toMatchObject({ isMoving: false });
    await locks.raw('SELECT pg_advisory_lock(4726101), pg_advisory_unlock(4726107)');
    await Promise.race([erasureIsSaid, moving]);
    await requireWaits();
    await locks.destroy();
    await requireWaits();
    const late = [{ project_id: id, event_type: 'visit', time: '2026-01-01 00:00:00', insert_id: 'late' }];
    await source.insert({ table: 'events', values: late, format: 'JSONEachRow' });
    await projection.raw('SELECT FROM identity_outbox WHERE project_id = ? FOR UPDATE', [id]);
    await two.redis.lrem(active, 1, job);
    await requireWaits();
    const query_id = projectionQueryId(two.databases.config.CLICKHOUSE_DATABASE, 'profiles');
    const inserted = source.command({
      query: `INSERT INTO profiles (project_id, user_id) SELECT '${id}', 'ada' FROM numbers(1) WHERE sleep(2) = 0`,
      query_id,
    });
    await eventually(async () => {
      const found = await source.query({
        query: 'SELECT 1 FROM system.processes WHERE query_id = {query_id:String}',
        query_params: { query_id },
        format: 'JSONEachRow',
      });
      expect(await found.json()).toHaveLength(1);
    });
    await projection.commit();
    await moving;
    await inserted;
  } finally {
    if (!projection.isCompleted()) await projection.rollback();
    await locks.destroy();
    await two.redis.del(active);
  }
  await two.postgres('identity_outbox').where({ project_id: id }).delete();
  expect(said).toEqual(
    expect.arrayContaining([
      'events: 2 rows are copied, with equal checksums',
      'profiles: 1 rows are copied, with equal checksums',
    ]),
  );
}, 240_000);

test('a move changes the epoch, leaves no table behind, and needs equal migrations', async () => {
  const { id, other } = await two.projectWithEvent();
  const destination = await two.clientOf(other);
  await destination.insert({ table: 'schema_migrations', values: [{ name: 'newer' }], format: 'JSONEachRow' });
  await expect(moveProject(two.sayingDeps().deps, id, other)).rejects.toThrow(
    'the two shards have different migrations',
  );
  await destination.command({ query: "DELETE FROM schema_migrations WHERE name = 'newer'" });
  const { epoch } = await two.shards.homeOf(id);
  await moveProject(two.sayingDeps().deps, id, other);
  expect(await two.shards.homeOf(id)).toMatchObject({ shard: other, epoch: epoch + 1 });
  const tables = await destination.query({
    query: 'SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, {prefix:String})',
    query_params: { prefix: fenceOf(id, 1).queryPrefix },
    format: 'JSONEachRow',
  });
  expect(await tables.json()).toEqual([]);
}, 240_000);

test('a project from before the second shard leaves the first one', async () => {
  const { id } = await createTestProject(two.databases);
  await two.postgres('project_placements').where({ project_id: id }).delete();
  await two.postgres('project_traces').where({ project_id: id }).delete();
  const values = [{ project_id: id, event_type: 'visit', time: '2026-01-01 00:00:00', insert_id: 'one' }];
  await (await two.clientOf(1)).insert({ table: 'events', values, format: 'JSONEachRow' });
  await moveProject(two.sayingDeps().deps, id, 2);
  expect([await two.rowsOn(1, { id }), await two.rowsOn(2, { id })]).toEqual([0, 1]);
  // An erasure looks there as well.
  expect((await two.shards.tracesOf(id)).map((shard) => shard.id)).toEqual([2, 1]);
}, 240_000);

test('rows that queries still read are spared by the move after one that was killed', async () => {
  const { id, home, other } = await two.projectWithEvent();
  const killed = two.sayingDeps({ waitMs: 3000, onLine: (line) => line.startsWith('waiting') && killed.abort() });
  await expect(moveProject(killed.deps, id, other)).rejects.toThrow();
  expect([await two.rowsOn(home, { id }), await two.rowsOn(other, { id })]).toEqual([1, 1]);
  const { deps, said } = two.sayingDeps();
  await moveProject(deps, id, home);
  const lines = said.filter((line) => /queries|deleted/.test(line));
  expect(lines.slice(0, 2)).toEqual([
    expect.stringMatching(/^waiting \d s for queries that read the old shard/),
    `1 rows of the project ${id} are deleted from shard ${home}`,
  ]);
  expect([await two.rowsOn(home, { id }), await two.rowsOn(other, { id })]).toEqual([1, 0]);
}, 240_000);

test('only the last move of a project changes its placement, and none shortens the time of queries', async () => {
  const { id: projectId } = await createTestProject(two.databases);
  const { shard: from } = await two.shards.homeOf(projectId);
  const to = from === 1 ? 2 : 1;
  const clearAfterMs = 3_600_000;
  const first = await beginMove(two.postgres, { projectId, from, to });
  await completeMove(two.postgres, { projectId, move: first, from, to, clearAfterMs });
  await expect(beginMove(two.postgres, { projectId, from, to })).rejects.toThrow('has been moved meanwhile');
  const second = await beginMove(two.postgres, { projectId, from: to, to: from });
  for (const move of [first, second]) await markCleared(two.postgres, { projectId, move });
  expect(await readLeftMs(two.postgres, projectId)).toBeGreaterThan(clearAfterMs / 2);
  const elsewhere = completeMove(two.postgres, { projectId, move: second, from, to, clearAfterMs });
  await expect(elsewhere).rejects.toThrow('has changed during the move');
  expect(await cancelMove(two.postgres, { projectId, move: first })).toBe(false);
  expect(await cancelMove(two.postgres, { projectId, move: second })).toBe(true);
  await markCleared(two.postgres, { projectId, move: first });
  expect(await readLeftMs(two.postgres, projectId)).toBeGreaterThan(clearAfterMs / 2);
  await markCleared(two.postgres, { projectId, move: second });
  expect(await readLeftMs(two.postgres, projectId)).toBe(0);
});

test('a project stays where it was when Redis has lost the version by which jobs know of the move', async () => {
  const { id, home, other } = await two.projectWithEvent();
  const before = await two.redis.get(PLACEMENT_VERSION);
  const restore = (line: string) => line.startsWith('events:') && two.redis.set(PLACEMENT_VERSION, before ?? '');
  const move = moveProject(two.sayingDeps({ onLine: restore }).deps, id, other);
  await expect(move).rejects.toThrow('redis has lost the version of the placements');
  expect(await two.shards.homeOf(id)).toMatchObject({ shard: home, isMoving: false });
  await moveProject(two.sayingDeps().deps, id, other);
  expect(await two.rowsOn(other, { id })).toBe(1);
}, 240_000);

test('jobs that are put back again and again, but never all at once, are not waited for', async () => {
  const { id } = await two.projectWithEvent();
  const [one, next] = [0, 1].map(() => jobIdOfPayload(newPayloadKey({ project: id, shard: 1 })));
  const active = 'bull:ingest-bulk:active';
  const set = (...ids: (string | undefined)[]) =>
    two.redis
      .multi()
      .del(active)
      .rpush(active, ...ids.map(String))
      .exec();
  await set(one, next);
  // One of them is in the list at any time.
  const putBack = setInterval(() => void set(Math.random() < 0.5 ? one : next), 5);
  try {
    const deps = { config: two.databases.config, redis: two.redis, shards: two.shards };
    await waitForIngestion({ ...deps, signal: AbortSignal.timeout(30_000) }, [{ projectId: id }]);
  } finally {
    clearInterval(putBack);
    await two.redis.del(active);
  }
});
