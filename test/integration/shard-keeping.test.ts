// Keeping and erasure with further ClickHouse servers: what has expired leaves the files of every
// server that has ever had the project, and every host of a shard must be without it. A host that
// does not answer is named, and delays only the projects that were there.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { CHECKS, type Stores } from '../../src/operate/checks.js';
import type { ClickHouseClient } from '../../src/platform/clickhouse/client.js';
import { migrateShard } from '../../src/platform/clickhouse/migrate.js';
import type { Shards } from '../../src/platform/clickhouse/shards.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { addShard } from '../../src/shards/add-shard.js';
import { changeAddress } from '../../src/shards/change-address.js';
import { describeShards } from '../../src/shards/describe-shards.js';
import { addTraces, registerShard } from '../../src/shards/store.js';
import { send } from '../support/accounts.js';
import { hurryCleaning } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';
import { type ExtraEngine, startExtraEngine } from '../support/extra-engine.js';
import { beNextNight, DAY_MS, startNight, startOfToday } from '../support/keeping.js';
import { readFilesUnder } from '../support/search-files.js';
import { openShards } from '../support/shards.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject } from '../support/track.js';

/** The server of shard 2, and the two hosts of shard 3. */
let engines: ExtraEngine[];
let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
let shards: Shards;
let processes: ProcessGroup;

beforeAll(async () => {
  databases = await createTestDatabases({ PRIVACY_PURGE_DELAY_MS: '0', PRIVACY_ANSWER_TIMEOUT_MS: '1000' });
  engines = await Promise.all([startExtraEngine(), startExtraEngine(), startExtraEngine()]);
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
  const signal = new AbortController().signal;
  await addShard({ config: databases.config, postgres, redis, say: () => {}, signal }, [urlOf(0)], { waitMs: 0 });
  // Replicas need Keeper. These copy nothing: the test does what replication would do.
  for (const url of [urlOf(1), urlOf(2)])
    await migrateShard({ id: 3, urls: [url] }, databases.config.CLICKHOUSE_DATABASE);
  expect(await registerShard(postgres, [urlOf(1), urlOf(2)])).toBe(3);
  shards = openShards(databases.config);
  for (const { hosts } of await shards.read()) {
    for (const { clickhouse } of hosts) await hurryCleaning(clickhouse);
  }
  processes = await startProcesses(databases.env);
  await startOfToday();
}, 300_000);

afterAll(async () => {
  await processes?.stop();
  await shards?.close();
  redis?.disconnect();
  await postgres?.destroy();
  for (const engine of engines ?? []) await engine.remove();
  await databases?.close();
});

const engineOf = (index: number): ExtraEngine => engines[index] as ExtraEngine;
const urlOf = (index: number): string => engineOf(index).url;
const nameOf = (index: number): string => new URL(urlOf(index)).host;
/** Texts that share nothing, which compression would write once. */
const newText = () => randomBytes(24).toString('base64url');

/** Positions of the servers with a file that has the text; 0 is that of shard 1. */
function search(text: string): number[] {
  const folders = [join(inject('engines').directory, 'clickhouse'), ...engines.map(({ directory }) => directory)];
  return folders.flatMap((folder, index) => {
    for (const { bytes } of readFilesUnder(folder)) if (bytes.includes(text)) return [index];
    return [];
  });
}

/** A merge may replace a file while the files are read. */
const areAt = (text: string, expected: readonly number[]) =>
  eventually(() => expect(search(text)).toEqual(expected), 30_000);

async function createAt(shard: number, { traces = [] }: { traces?: readonly number[] } = {}): Promise<NewProject> {
  const project = await createTestProject(databases);
  await postgres('project_placements')
    .insert({ project_id: project.id, shard })
    .onConflict('project_id')
    .merge({ shard });
  await addTraces(postgres, project.id, [shard, ...traces]);
  return project;
}

const clientsOf = async (shard: number): Promise<ClickHouseClient[]> =>
  (await shards.get(shard)).hosts.map(({ clickhouse }) => clickhouse);

const toTime = (days: number): string =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 19).replace('T', ' ');

/** Rows of one part, of types that are kept for different times. */
async function store(
  clickhouse: ClickHouseClient,
  { id }: NewProject,
  { gone = '', kept = '', days = 60 },
): Promise<void> {
  const time = toTime(days);
  const rowOf = (event_type: string, text: string) => ({
    project_id: id,
    event_type,
    time,
    insert_id: text,
    user_id: text,
  });
  const values = [...(gone ? [rowOf('short', gone)] : []), ...(kept ? [rowOf('long', kept)] : [])];
  await clickhouse.insert({ table: 'events', values, format: 'JSONEachRow' });
}

async function keep({ secretKey }: NewProject): Promise<void> {
  const source_yaml = 'version: 1\nkeep: { short: 30d }\n';
  const answer = await send(processes.url, 'PUT /api/definitions', { key: secretKey, body: { source_yaml } });
  expect(answer.status).toBeLessThan(300);
}

/** The job of the night, for these projects. */
async function startNightOf(projects: readonly NewProject[]): Promise<void> {
  for (const { id } of projects) await beNextNight(postgres, id);
  await startNight({ postgres, redis }, projects[0]?.id ?? '');
}

const isPurged = async ({ id }: NewProject): Promise<boolean> => {
  const receipt = await postgres('keep_receipts').where({ project_id: id }).first('purged_at');
  return receipt !== undefined && receipt.purged_at !== null;
};

const workerSays = (text: string, from = 0) =>
  eventually(() => expect(processes.get('worker').output.slice(from).join('\n')).toContain(text), 60_000);

test('expired events leave every shard that has had the project, and a silent one delays only those', async () => {
  const here = await createAt(1);
  const moved = await createAt(2, { traces: [1] });
  // Nothing has expired where it lives.
  const leftBehind = await createAt(1, { traces: [2] });
  const [first] = await clientsOf(1);
  const [second] = await clientsOf(2);
  if (first === undefined || second === undefined) throw new Error('a shard has no host');
  const [ofHere, ofMoved, ofLeft, kept] = [newText(), newText(), newText(), newText()];
  await store(first, here, { gone: ofHere, kept });
  for (const host of [first, second]) await store(host, moved, { gone: ofMoved, kept });
  await store(first, leftBehind, { kept });
  await store(second, leftBehind, { gone: ofLeft, kept });
  const projects = [here, moved, leftBehind];
  for (const project of projects) await keep(project);
  await areAt(ofHere, [0]);
  await areAt(ofMoved, [0, 1]);
  await areAt(ofLeft, [1]);

  await engineOf(0).kill();
  await startNightOf(projects);
  await workerSays(`shard 2 at ${nameOf(0)} does not answer`);
  await eventually(async () => expect(await isPurged(here)).toBe(true), 120_000);
  expect([await isPurged(moved), await isPurged(leftBehind)]).toEqual([false, false]);
  expect(search(ofHere)).toEqual([]);
  await engineOf(0).start();

  await startNightOf([moved, leftBehind]);
  await eventually(async () => {
    expect([await isPurged(moved), await isPurged(leftBehind)]).toEqual([true, true]);
  }, 240_000);
  expect([search(ofMoved), search(ofLeft)]).toEqual([[], []]);
  await areAt(kept, [0, 1]);
}, 300_000);

test('expired events are gone from every host of a shard before they are said to be deleted', async () => {
  const project = await createAt(3);
  const [gone, kept] = [newText(), newText()];
  const hosts = await clientsOf(3);
  for (const host of hosts) await store(host, project, { gone, kept });
  await keep(project);
  await areAt(gone, [2, 3]);

  await engineOf(2).kill();
  expect(await describeShards({ config: databases.config, postgres })).toMatch(
    new RegExp(`\\| 3 +\\|.*\\| shard 3 at ${nameOf(2)} does not answer +\\|`),
  );
  const check = CHECKS.find(({ name }) => name === 'ClickHouse');
  expect(await check?.run({} as Stores, await shards.get(3))).toEqual({
    state: 'failed',
    found: `shard 3 at ${nameOf(2)}: no answer, or behind the other hosts`,
  });
  await startNightOf([project]);
  await workerSays(`shard 3 at ${nameOf(2)} does not answer`);
  await engineOf(2).start();

  // The second host has copied nothing yet, however often the job runs.
  for (let run = 0; run < 2; run += 1) {
    const from = processes.get('worker').output.length;
    await startNightOf([project]);
    await workerSays(`1 events are still at ${nameOf(2)} after they were deleted`, from);
    expect(await postgres('keep_receipts').where({ project_id: project.id }).first('deleted_at')).toEqual({
      deleted_at: null,
    });
  }
  await deleteAtSecond(`event_type = 'short'`, project);
  await startNightOf([project]);
  await eventually(async () => expect(await isPurged(project)).toBe(true), 120_000);
  expect(search(gone)).toEqual([]);
  await areAt(kept, [2, 3]);
}, 300_000);

test('where a shard has replicas, a part with only expired events stays, empty', async () => {
  const project = await createAt(3);
  const hosts = await clientsOf(3);
  // As the migrations of replicas do.
  for (const host of hosts) await host.command({ query: 'ALTER TABLE events MODIFY SETTING remove_empty_parts = 0' });
  const days = 400;
  const expired = newText();
  await store(hosts[0] as ClickHouseClient, project, { gone: expired, days });
  await keep(project);
  await areAt(expired, [2]);
  await startNightOf([project]);
  await eventually(async () => expect(await isPurged(project)).toBe(true), 120_000);
  expect(search(expired)).toEqual([]);
  const query = 'SELECT toUInt32(rows) AS rows FROM system.parts WHERE active AND partition = {month:String}';
  const month = toTime(days).slice(0, 7).replace('-', '');
  const asked = await hosts[0]?.query({ query, query_params: { month }, format: 'JSONEachRow' });
  expect(await asked?.json()).toEqual([{ rows: 0 }]);
}, 300_000);

async function deleteAtSecond(condition: string, { id }: NewProject): Promise<void> {
  await (await clientsOf(3))[1]?.command({
    query: `DELETE FROM events WHERE project_id = {id:UUID} AND ${condition}`,
    query_params: { id },
    clickhouse_settings: { lightweight_deletes_sync: '2' },
  });
}

test('an erasure ends when no host of a shard has the person, and names one that is silent', async () => {
  const project = await createAt(3);
  const [person, other] = [newText(), newText()];
  for (const host of await clientsOf(3)) await store(host, project, { gone: person, kept: other });
  await areAt(person, [2, 3]);
  await engineOf(2).kill();
  const key = project.secretKey;
  const asked = await send(processes.url, `DELETE /api/gdpr/users/${person}`, { key });
  expect(asked.status).toBe(202);
  const show = async () => (await send(processes.url, `GET /api/gdpr/requests/${asked.body.request_id}`, { key })).body;
  await workerSays(`shard 3 at ${nameOf(2)} does not answer`);
  expect(await show()).toMatchObject({ status: 'pending', waiting_for: ['shard 3'] });
  const from = processes.get('worker').output.length;
  await engineOf(2).start();
  await workerSays(`events at ${nameOf(2)} still has rows of 1 ids that were erased`, from);
  expect(await show()).toMatchObject({ status: 'pending' });
  await deleteAtSecond(`insert_id = '${person}'`, project);
  await eventually(async () => expect(await show()).toMatchObject({ status: 'purged', waiting_for: [] }), 120_000);
  expect(search(person)).toEqual([]);
  await areAt(other, [2, 3]);
}, 300_000);

test('replicas change their order while the first does not answer, and an empty server replaces it', async () => {
  const signal = new AbortController().signal;
  const change = async (...urls: string[]): Promise<string[]> => {
    await changeAddress({ config: databases.config, postgres, redis, say: () => {}, signal }, 3, urls);
    await shards.read();
    return (await shards.get(3)).hosts.map(({ name }) => name);
  };
  await engineOf(1).kill();
  await expect(change(urlOf(1), urlOf(2))).rejects.toThrow('ECONNREFUSED');
  expect(await change(urlOf(2), urlOf(1))).toEqual([nameOf(2), nameOf(1)]);
  const empty = await startExtraEngine();
  engines.push(empty);
  await expect(change(empty.url, urlOf(1))).rejects.toThrow('ECONNREFUSED');
  expect(await change(urlOf(2), empty.url)).toEqual([nameOf(2), new URL(empty.url).host]);
  const tables: unknown[] = [];
  for (const host of await clientsOf(3)) {
    const asked = await host.query({ query: 'SHOW TABLES', format: 'JSONEachRow' });
    tables.push(await asked.json());
  }
  expect(tables[1]).toEqual(tables[0]);
}, 120_000);
