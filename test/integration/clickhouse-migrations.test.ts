// Migrations of a ClickHouse database that already has events: stored events stay, and new events
// can be stored.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { toStatements } from '../../src/platform/clickhouse/migrate.js';
import { readRewrites } from '../../src/platform/clickhouse/rewrites.js';
import { packageRoot } from '../../src/platform/paths.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';
import { migrateClickHouse } from '../support/stack-template.js';

const FOLDER = join(packageRoot, 'ops', 'clickhouse');
const FILES = readdirSync(FOLDER).sort();
const SINGLE = { shard: 1, isReplicated: false };
const PROJECT = '00000000-0000-7000-8000-000000000001';

let databases: TestDatabases;
let clickhouse: ClickHouseClient;

beforeAll(async () => {
  databases = await createTestDatabases();
  clickhouse = createClickHouse(databases.config);
});

afterAll(async () => {
  await clickhouse?.close();
  await databases?.close();
});

/**
 * A database as an earlier version of the service created it, with only these migrations applied.
 */
async function createEarlierDatabase(files: readonly string[]): Promise<void> {
  const { CLICKHOUSE_DATABASE: name } = databases.config;
  await clickhouse.command({ query: `DROP DATABASE ${name} SYNC` });
  const admin = createClickHouse({ ...databases.config, CLICKHOUSE_DATABASE: 'default' });
  await admin.command({ query: `CREATE DATABASE ${name}` });
  await admin.close();
  await clickhouse.command({
    query:
      'CREATE TABLE schema_migrations (name String, applied_at DateTime DEFAULT now()) ENGINE = MergeTree ORDER BY name',
  });
  for (const file of files) {
    for (const query of toStatements(readFileSync(join(FOLDER, file), 'utf8'), SINGLE))
      await clickhouse.command({ query });
    await clickhouse.insert({ table: 'schema_migrations', values: [{ name: file }], format: 'JSONEachRow' });
  }
}

/** Ends when the engine has rewritten all parts. */
function migrateAndWait(): Promise<{ status: number | null; output: string }> {
  const command = ['dist/src/platform/migrate.js', '--wait'];
  const env = { PATH: process.env.PATH, ...databases.env, LOG_LEVEL: 'info' };
  const child = spawn(process.execPath, command, { cwd: packageRoot, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output })));
}

const store = (table: string, values: object) =>
  clickhouse.insert({
    table,
    values: [{ project_id: PROJECT, event_type: 'a', time: '2026-11-01 00:00:00.000', user_id: 'u', ...values }],
    format: 'JSONEachRow',
  });

test.each([
  ['0004_usage.sql', 'events_inbox'],
  ['0005_plain_names.sql', 'events_landing'],
])('migrating a database at %s keeps its events, and new events have every column', async (last, landing) => {
  const applied = FILES.slice(0, FILES.indexOf(last) + 1);
  await createEarlierDatabase(applied);
  await store(landing, { insert_id: 'early', geo_country: 'DE', ep_num: { 'a|b': 1 }, up_str: { c: '' } });
  expect(await migrateClickHouse(databases.config)).toEqual(FILES.slice(applied.length));
  const late = { insert_id: 'late', geo_country: 'NZ', geo_source: 'header', ep_bool: { d: true } };
  await store('events_landing', late);
  await store('events_landing', late);
  const answer = await clickhouse.query({
    query:
      'SELECT insert_id, geo_country, geo_source, user_hash = sipHash64(user_id) AS hashed, ep_types, up_types, ep_bool FROM events ORDER BY insert_id',
    format: 'JSONEachRow',
  });
  expect(await answer.json()).toEqual([
    {
      insert_id: 'early',
      geo_country: 'DE',
      geo_source: '',
      hashed: 1,
      ep_types: '|na%7Cb|',
      up_types: '|sc|ec|',
      ep_bool: {},
    },
    { ...late, hashed: 1, ep_types: '|bd|', up_types: '|' },
  ]);
  expect(await migrateClickHouse(databases.config)).toEqual([]);
});

test('what is rewritten in the background is counted, and migrate -- --wait waits for it', async () => {
  // A part for each month: ClickHouse rewrites few at a time, and a busy machine starts the command
  // in seconds.
  for (const month of [1, 2, 3, 4, 5, 6, 7, 8])
    await store('events_landing', { insert_id: 'slow', time: `2026-0${month}-01 00:00:00.000` });
  expect(await readRewrites(clickhouse)).toEqual({ parts: 0, bytes: 0 });
  const query = 'ALTER TABLE events UPDATE title = toString(sleep(2.5)) WHERE 1';
  await clickhouse.command({
    query,
    clickhouse_settings: { mutations_sync: '0', allow_nondeterministic_mutations: 1 },
  });
  const { parts, bytes } = await readRewrites(clickhouse);
  expect(parts).toBeGreaterThan(0);
  expect(bytes).toBeGreaterThan(0);
  const { status, output } = await migrateAndWait();
  expect(status).toBe(0);
  expect(output).toMatch(
    /ClickHouse rewrites \d+ parts \(\d+\.\d MiB\) in the background.*\n.*has rewritten all parts/,
  );
  expect(await readRewrites(clickhouse)).toEqual({ parts: 0, bytes: 0 });
});

test('a file that was interrupted is completed by the next run', async () => {
  const first = FILES.indexOf('0005_plain_names.sql');
  await createEarlierDatabase(FILES.slice(0, first));
  await store('events_inbox', { insert_id: 'early' });
  for (const file of FILES.slice(first)) {
    const statements = toStatements(readFileSync(join(FOLDER, file), 'utf8'), SINGLE);
    for (const end of [1, Math.ceil(statements.length / 2), statements.length])
      for (const query of statements.slice(0, end)) await clickhouse.command({ query });
  }
  expect(await migrateClickHouse(databases.config)).toEqual(FILES.slice(first));
  for (const id of ['early', 'late', 'late']) await store('events_landing', { insert_id: id });
  const answer = await clickhouse.query({ query: 'SELECT insert_id FROM events ORDER BY 1', format: 'JSONEachRow' });
  expect(await answer.json()).toEqual([{ insert_id: 'early' }, { insert_id: 'late' }]);
});
