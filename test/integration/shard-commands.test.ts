// Commands of shards that meet what else goes on: other commands, and projects that are created or
// deleted. No process of the service runs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withClient } from '../../src/platform/clickhouse/client.js';
import { hasTable } from '../../src/platform/clickhouse/has-table.js';
import { migrateShard, migrateShards } from '../../src/platform/clickhouse/migrate.js';
import { newUuidV7, type ProjectId, toProjectId } from '../../src/platform/ids.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { addShard } from '../../src/shards/add-shard.js';
import { changeAddress } from '../../src/shards/change-address.js';
import { drainShard, moveProject } from '../../src/shards/move-project.js';
import { removeShard } from '../../src/shards/remove-shard.js';
import { placeProject, setAcceptsNew, setCluster } from '../../src/shards/store.js';
import { hurryCleaning } from '../support/erasure.js';
import { startExtraEngine } from '../support/extra-engine.js';
import { startTwoShards, type TwoShards } from '../support/shards.js';
import { createTestDatabases } from '../support/stack.js';
import { createTestProject } from '../support/track.js';

let two: TwoShards;

beforeAll(async () => {
  two = await startTwoShards({}, []);
}, 240_000);

afterAll(() => two?.close());

test('a drain waits for projects that are being created', async () => {
  await two.postgres.transaction(async (creating) => {
    await placeProject(creating, toProjectId(newUuidV7()));
    const drain = two.postgres.transaction(async (draining) => {
      await draining.raw("SET LOCAL lock_timeout = '200ms'");
      await setAcceptsNew(draining, 2, false);
    });
    await expect(drain).rejects.toThrow('lock timeout');
  });
});

test('a drain moves projects that are created meanwhile, and goes on without those that are deleted', async () => {
  const projects = [];
  for (let tries = 0; projects.length < 3 && tries < 20; tries += 1) {
    const { id, home } = await two.projectWithEvent();
    if (home === 2) projects.push(id);
  }
  const [first, deleted, late] = projects.toSorted() as [ProjectId, ProjectId, ProjectId];
  await two.postgres('project_placements').where({ project_id: late }).update({ shard: 1 });
  let changing: Promise<unknown> | undefined;
  const { deps, said } = two.sayingDeps({
    onLine: (line) => {
      if (!line.startsWith('device_map:')) return;
      changing ??= Promise.all([
        two.postgres('projects').where({ id: deleted }).update({ deleted_at: new Date() }),
        two.postgres('project_placements').where({ project_id: late }).update({ shard: 2 }),
      ]);
    },
  });
  await drainShard(deps, 2);
  await changing;
  for (const id of [first, late]) {
    expect([await two.rowsOn(1, { id }), await two.rowsOn(2, { id })]).toEqual([1, 0]);
  }
  expect(said).not.toContain(`the project ${deleted} is on shard 1`);
  expect((await two.shards.homeOf(deleted)).shard).toBe(2);

  await expect(drainShard(deps, 1)).rejects.toThrow('no other shard accepts new projects');
  expect(await two.postgres('shards').where({ id: 1 }).first('accepts_new')).toEqual({ accepts_new: true });
}, 240_000);

test('of two commands that add a server at once, one adds it', async () => {
  const third = await startExtraEngine();
  try {
    const [one, other] = [two.sayingDeps(), two.sayingDeps()];
    await Promise.all([one, other].map(({ deps }) => addShard(deps, [third.url], { waitMs: 0 })));
    expect([...one.said, ...other.said].filter((line) => line.includes('another command'))).toHaveLength(1);
    expect(await two.postgres('shards').orderBy('id').pluck('id')).toEqual([1, 2, 3]);
  } finally {
    await third.remove();
  }
}, 120_000);

test('a shard is removed when nothing is left there, and its number is not used again', async () => {
  const remove = (shard: number, isLost = false) => removeShard(two.sayingDeps().deps, { shard, isLost }, 0);
  await expect(remove(1)).rejects.toThrow('shard 1 stays');
  await expect(remove(9)).rejects.toThrow('there is no shard 9');
  // The server of shard 3 has been removed.
  await expect(remove(3)).rejects.toThrow('shard 3 accepts new projects; run "npm run shards -- drain 3" first');
  await drainShard(two.sayingDeps().deps, 3);
  await expect(remove(3)).rejects.toThrow(/shard 3 at .* does not answer/);
  await remove(3, true);
  // Again, as after an interruption.
  const again = two.sayingDeps();
  await removeShard(again.deps, { shard: 3, isLost: false }, 0);
  expect(again.said.at(-1)).toBe('its server can be switched off');
  expect(await two.postgres('shards').where({ id: 3 }).first('urls')).toEqual({ urls: [] });

  const fourth = await startExtraEngine();
  try {
    await addShard(two.sayingDeps().deps, [fourth.url], { waitMs: 0 });
    await hurryCleaning(await two.clientOf(4));
    const { id } = await two.projectWithEvent();
    await moveProject(two.sayingDeps().deps, id, 4);
    await setAcceptsNew(two.postgres, 4, false);
    await expect(remove(4)).rejects.toThrow(`shard 4 has the project ${id}; run "npm run shards -- drain 4" first`);
    await two.postgres('projects').where({ id }).update({ deleted_at: new Date() });
    await expect(remove(4)).rejects.toThrow('the deletion of 1 projects that were on shard 4 has not ended');
    await two.postgres('projects').where({ id }).update({ data_deleted_at: new Date() });
    await expect(remove(4)).rejects.toThrow(`has rows of the project ${id} in events`);
    const clickhouse = await two.clientOf(4);
    await clickhouse.command({ query: `DELETE FROM events WHERE project_id = '${id}'` });
    await two.redis.zadd('bull:ingest-bulk-4:failed', 1, 'job');
    await expect(remove(4)).rejects.toThrow('1 failed jobs of shard 4 wait for an operator');
    await two.redis.del('bull:ingest-bulk-4:failed');
    await remove(4);
    expect((await two.shards.read()).map((shard) => shard.id)).toEqual([1, 2]);
    await addShard(two.sayingDeps().deps, [fourth.url], { waitMs: 0 });
    expect((await two.shards.read()).map((shard) => shard.id)).toEqual([1, 2, 5]);
    await drainShard(two.sayingDeps().deps, 5);
    await remove(5);
  } finally {
    await fourth.remove();
  }
}, 240_000);

test('a shard that has lost its tables gets none while projects live there, unless an operator says so', async () => {
  const fourth = await startExtraEngine();
  try {
    await addShard(two.sayingDeps().deps, [fourth.url], { waitMs: 0 });
    const { config } = two.databases;
    const id = (await two.shards.read()).at(-1)?.id ?? 0;
    const drop = async () =>
      (await two.clientOf(id)).command({ query: `DROP DATABASE ${config.CLICKHOUSE_DATABASE} SYNC` });
    await drop();
    expect(await migrateShards(config)).toContain('0001_events.sql');
    const project = await createTestProject(two.databases);
    await two.postgres('project_placements').where({ project_id: project.id }).update({ shard: id });
    await drop();
    const advice = `it has no tables, but 1 project lives there: restore its data (ops/runbooks/backup.md), or create empty tables by "npm run migrate -- --lost ${id}"`;
    const said = `shard ${id} at ${new URL(fourth.url).host}: ${advice}`;
    await expect(migrateShards(config)).rejects.toThrow(`1 host could not be migrated: ${said}`);
    await expect(addShard(two.sayingDeps().deps, [fourth.url], { waitMs: 0 })).rejects.toThrow(said);
    expect(await migrateShards(config, { lost: id })).toContain('0001_events.sql');
    expect(await migrateShards(config)).toEqual([]);
    await two.postgres('project_placements').where({ project_id: project.id }).update({ shard: 1 });
    await drainShard(two.sayingDeps().deps, id);
    await removeShard(two.sayingDeps().deps, { shard: id, isLost: false }, 0);
  } finally {
    await fourth.remove();
  }
}, 240_000);

test('the first shard gets tables once, however often they are lost afterwards', async () => {
  const databases = await createTestDatabases();
  const postgres = createPostgres(databases.config, { poolMax: 1 });
  try {
    const { CLICKHOUSE_DATABASE: database, CLICKHOUSE_URL: url } = databases.config;
    const lose = () =>
      withClient(url, 'system', (client) => client.command({ query: `DROP DATABASE ${database} SYNC` }));
    const { id } = await createTestProject(databases);
    await lose();
    expect(await migrateShards(databases.config)).toContain('0001_events.sql');
    await postgres('usage_days').insert({ project_id: id, day: new Date(), events_stored_max: 7 });
    await lose();
    const check = `check CLICKHOUSE_URL and CLICKHOUSE_DATABASE (${database}), restore its data (ops/runbooks/backup.md)`;
    await expect(migrateShards(databases.config)).rejects.toThrow(
      `shard 1 at ${new URL(url).host}: it has no tables, but 1 project lives there: ${check}, or create empty tables by "npm start -- --lost 1"`,
    );
    expect(await migrateShards(databases.config, { lost: 1 })).toContain('0001_events.sql');
    expect(await migrateShards(databases.config)).toEqual([]);
  } finally {
    await postgres.destroy();
    await databases.close();
  }
});

test('a shard takes no address where its data is not', async () => {
  const empty = await startExtraEngine();
  try {
    const change = (shard: number, ...urls: string[]) => changeAddress(two.sayingDeps().deps, shard, urls);
    const { url } = two.second;
    await expect(change(1, url)).rejects.toThrow('the address of shard 1 is CLICKHOUSE_URL');
    await expect(change(9, url)).rejects.toThrow('there is no shard 9');
    await expect(change(2, url, empty.url)).rejects.toThrow('name as many URLs as the shard 2 has: 1, not 2');
    await expect(change(2, two.databases.config.CLICKHOUSE_URL)).rejects.toThrow('are the same server');
    const database = two.databases.config.CLICKHOUSE_DATABASE;
    const replicas = [url, 'http://127.0.0.1:1', 'http://127.0.0.1:2'];
    await two.postgres('shards').where({ id: 2 }).update({ urls: replicas });
    const alias = empty.url.replace('127.0.0.1', 'localhost');
    const changed = expect(change(2, url, empty.url, alias)).rejects.toThrow('are the same server');
    await changed.finally(() =>
      two
        .postgres('shards')
        .where({ id: 2 })
        .update({ urls: [url] }),
    );
    await expect(addShard(two.sayingDeps().deps, [empty.url, alias], { waitMs: 0 })).rejects.toThrow(
      'are the same server',
    );
    // Tables would stay there, and in Keeper.
    expect(await hasTable(empty.url, database, 'schema_migrations')).toBe(false);
    await migrateShard({ id: 2, urls: [empty.url] }, database);
    await expect(change(2, empty.url)).rejects.toThrow('still answers and is another server');
    const { id } = await createTestProject(two.databases);
    const values = [{ project_id: id, device_id: 'phone', user_id: 'ada' }];
    const insert = { table: 'device_map', values, format: 'JSONEachRow' } as const;
    await withClient(empty.url, database, (clickhouse) => clickhouse.insert(insert));
    await expect(addShard(two.sayingDeps().deps, [empty.url], { waitMs: 0 })).rejects.toThrow(
      `has rows of the project ${id} in device_map`,
    );
    await two.postgres('project_placements').insert({ project_id: id, shard: 2 }).onConflict('project_id').merge();
    await two.postgres('usage_days').insert({ project_id: id, day: new Date(), events_stored: 7 });
    await two.second.kill();
    await expect(change(2, empty.url)).rejects.toThrow(`has no event of the project ${id}, which has sent 7`);
    await withClient(empty.url, database, (clickhouse) => clickhouse.command({ query: 'DROP TABLE events SYNC' }));
    await expect(change(2, empty.url)).rejects.toThrow('has no table "events" in the database');
    await expect(change(2, url)).rejects.toThrow('ECONNREFUSED');
    expect(await two.postgres('shards').where({ id: 2 }).first('urls')).toEqual({ urls: [url] });
  } finally {
    await two.second.start();
    await empty.remove();
  }
}, 240_000);

test('a shard that gets several hosts is opened again by every process', async () => {
  expect((await two.shards.get(2)).writer).toBeUndefined();
  await setCluster(two.postgres, 2, 'default');
  await two.shards.read();
  expect((await two.shards.get(2)).writer).toBeDefined();
});
