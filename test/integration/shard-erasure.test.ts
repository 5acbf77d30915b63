// Erasure and project deletion on two ClickHouse servers: no file of either has the data
// afterwards. A server that does not answer keeps the request open and is named; the request ends
// by itself when the server is back.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import type { Shards } from '../../src/platform/clickhouse/shards.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { addShard } from '../../src/shards/add-shard.js';
import { addTraces } from '../../src/shards/store.js';
import { hurryCleaning } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';
import { type ExtraEngine, startExtraEngine } from '../support/extra-engine.js';
import { readFilesUnder } from '../support/search-files.js';
import { openShards } from '../support/shards.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, track } from '../support/track.js';

let databases: TestDatabases;
let second: ExtraEngine;
let postgres: Postgres;
let redis: Redis;
let shards: Shards;
let processes: ProcessGroup;

beforeAll(async () => {
  const soon = { PRIVACY_PURGE_DELAY_MS: '0', PRIVACY_ANSWER_TIMEOUT_MS: '1000' };
  databases = await createTestDatabases(soon);
  second = await startExtraEngine();
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
  const signal = new AbortController().signal;
  await addShard({ config: databases.config, postgres, redis, say: () => {}, signal }, [second.url], 0);
  shards = openShards(databases.config);
  for (const { clickhouse } of await shards.read()) await hurryCleaning(clickhouse);
  processes = await startProcesses(databases.env);
}, 240_000);

afterAll(async () => {
  await processes?.stop();
  await shards?.close();
  redis?.disconnect();
  await postgres?.destroy();
  await second?.remove();
  await databases?.close();
});

function hasFileWith(folder: string, texts: readonly string[]): boolean {
  for (const { bytes } of readFilesUnder(folder)) if (texts.some((text) => bytes.includes(text))) return true;
  return false;
}

/** Which shards have a file with one of the texts. */
function search(texts: readonly string[]): number[] {
  const folders = [join(inject('engines').directory, 'clickhouse'), second.directory];
  return folders.flatMap((folder, index) => (hasFileWith(folder, texts) ? [index + 1] : []));
}

/** A merge may replace a file while the files are read. */
const areOnBoth = (texts: readonly string[]) => eventually(() => expect(search(texts)).toEqual([1, 2]), 30_000);

const newText = () => `searched-${randomBytes(16).toString('hex')}`;

/** A person with events, a mapping and a profile at home, and rows left on another shard. */
async function leaveData(project: NewProject, elsewhere: number): Promise<{ person: string; texts: string[] }> {
  const [person, device, word, old] = [newText(), newText(), newText(), newText()];
  const event = { event_type: 'visit', user_id: person, event_properties: { word } };
  const sent = await track(processes.url, project.publicKey, { events: [event] });
  expect(sent.body).toEqual({ accepted: 1 });
  const body = JSON.stringify({ user_id: person, device_id: device, user_properties: { word } });
  const identified = await fetch(`${processes.url}/identify`, {
    method: 'POST',
    headers: { 'X-API-Key': project.secretKey, 'Content-Type': 'application/json' },
    body,
  });
  expect(identified.status).toBe(200);
  await addTraces(postgres, project.id, [elsewhere]);
  // What an interrupted move would leave behind.
  const values = [
    { project_id: project.id, event_type: old, time: '2026-01-01 00:00:00', insert_id: old, user_id: person },
  ];
  await (await shards.get(elsewhere)).clickhouse.insert({ table: 'events', values, format: 'JSONEachRow' });
  const home = (await shards.homeOf(project.id)).at;
  for (const table of ['events', 'profiles', 'device_map']) {
    await eventually(async () => {
      const query = `SELECT toUInt32(count()) AS rows FROM ${table} WHERE project_id = '${project.id}'`;
      const result = await home.clickhouse.query({ query, format: 'JSONEachRow' });
      expect([table, await result.json()]).toEqual([table, [{ rows: 1 }]]);
    }, 60_000);
  }
  return { person, texts: [person, device, word, old] };
}

async function showRequest(project: NewProject, id: unknown): Promise<Record<string, unknown>> {
  const headers = { 'X-API-Key': project.secretKey };
  const response = await fetch(`${processes.url}/api/gdpr/requests/${String(id)}`, { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

async function doctor(): Promise<string> {
  const child = spawn(process.execPath, ['dist/cli/doctor.js'], {
    env: { PATH: process.env.PATH, ...databases.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return output;
}

const silent = () => `shard 2 at ${new URL(second.url).host}`;

const logged = () => processes.get('worker').output.join('\n');

test('an erased person is in no file of any shard, however long one of them does not answer', async () => {
  const [first, project] = [await createTestProject(databases), await createTestProject(databases)];
  const kept = await leaveData(first, 2);
  const { person, texts } = await leaveData(project, 1);
  await areOnBoth(texts);
  await second.kill();
  const path = `${processes.url}/api/gdpr/users/${person}`;
  const asked = await fetch(path, { method: 'DELETE', headers: { 'X-API-Key': project.secretKey } });
  expect(asked.status).toBe(202);
  const { request_id: id } = (await asked.json()) as { request_id: string };
  await eventually(() => expect(logged()).toContain(`${silent()} does not answer`), 60_000);
  expect(await showRequest(project, id)).toMatchObject({ status: 'pending', waiting_for: ['shard 2'] });
  await postgres('erasure_requests').update({ requested_at: new Date(Date.now() - 120_000) });
  expect(await doctor()).toContain(`1 erasures and 0 deleted projects are late; ${silent()} may be waited for`);
  await second.start();
  await eventually(async () => {
    expect(await showRequest(project, id)).toMatchObject({ status: 'purged', events: 1, waiting_for: [] });
  }, 120_000);
  expect(search(texts)).toEqual([]);
  await areOnBoth(kept.texts);
}, 240_000);

test('a deleted project is in no file of any shard, however long one of them does not answer', async () => {
  const project = await createTestProject(databases);
  const home = (await shards.homeOf(project.id)).shard;
  const { texts } = await leaveData(project, home === 1 ? 2 : 1);
  await areOnBoth(texts);
  await second.kill();
  const from = processes.get('worker').output.length;
  const deletedAt = new Date(Date.now() - 30 * 60_000);
  await postgres('projects').where({ id: project.id }).update({ deleted_at: deletedAt });
  await eventually(() => {
    expect(processes.get('worker').output.slice(from).join('\n')).toContain(`${silent()} does not answer`);
  }, 60_000);
  const isDeleted = async () =>
    (await postgres('projects').where({ id: project.id }).first('data_deleted_at')).data_deleted_at !== null;
  expect(await isDeleted()).toBe(false);
  expect(await doctor()).toContain('1 deleted projects are late');
  await second.start();
  await eventually(async () => expect(await isDeleted()).toBe(true), 120_000);
  expect(search(texts)).toEqual([]);
}, 240_000);
