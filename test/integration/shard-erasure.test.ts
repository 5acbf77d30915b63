// Erasure and project deletion on two ClickHouse servers: no file of either has the data
// afterwards. A server that does not answer keeps the request open and is named; the request ends
// by itself when the server is back.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { addTraces } from '../../src/shards/store.js';
import { eventually } from '../support/eventually.js';
import { readFilesUnder } from '../support/search-files.js';
import { startTwoShards, type TwoShards } from '../support/shards.js';
import { createTestProject, track } from '../support/track.js';

let two: TwoShards;

beforeAll(async () => {
  two = await startTwoShards({ PRIVACY_PURGE_DELAY_MS: '0', PRIVACY_ANSWER_TIMEOUT_MS: '1000' });
}, 240_000);

afterAll(() => two?.close());

function hasFileWith(folder: string, texts: readonly string[]): boolean {
  for (const { bytes } of readFilesUnder(folder)) if (texts.some((text) => bytes.includes(text))) return true;
  return false;
}

/** Which shards have a file with one of the texts. */
function search(texts: readonly string[]): number[] {
  const folders = [join(inject('engines').directory, 'clickhouse'), two.second.directory];
  return folders.flatMap((folder, index) => (hasFileWith(folder, texts) ? [index + 1] : []));
}

/**
 * Which of the other stores have a file with one of the texts. The role of these tests may not
 * begin a new segment of PostgreSQL's log, so only its tables are searched.
 */
const searchOthers = (texts: readonly string[]): string[] =>
  ['postgres/base', 'redis'].filter((folder) => hasFileWith(join(inject('engines').directory, folder), texts));

/** A merge may replace a file while the files are read. */
const areOnBoth = (texts: readonly string[]) => eventually(() => expect(search(texts)).toEqual([1, 2]), 30_000);

const newText = () => `searched-${randomBytes(16).toString('hex')}`;

/** A person with events, a mapping and a profile at home, and rows left on another shard. */
async function leaveData(project: NewProject, elsewhere: number): Promise<{ person: string; texts: string[] }> {
  const [person, device, word, old] = [newText(), newText(), newText(), newText()];
  const event = { event_type: 'visit', user_id: person, event_properties: { word } };
  const sent = await track(two.processes.url, project.publicKey, { events: [event] });
  expect(sent.body).toEqual({ accepted: 1 });
  const body = JSON.stringify({ user_id: person, device_id: device, user_properties: { word } });
  const identified = await fetch(`${two.processes.url}/identify`, {
    method: 'POST',
    headers: { 'X-API-Key': project.secretKey, 'Content-Type': 'application/json' },
    body,
  });
  expect(identified.status).toBe(200);
  await addTraces(two.postgres, project.id, [elsewhere]);
  // What an interrupted move would leave behind.
  const values = [1, 2].map((copy) => ({
    ...{ project_id: project.id, event_type: old, time: '2026-01-01 00:00:00', user_id: person },
    insert_id: `${old}-${copy}`,
  }));
  await (await two.shards.get(elsewhere)).clickhouse.insert({ table: 'events', values, format: 'JSONEachRow' });
  const home = (await two.shards.homeOf(project.id)).at;
  for (const table of ['events', 'profiles', 'device_map']) {
    await eventually(async () => {
      const query = `SELECT toUInt32(count()) AS rows FROM ${table} WHERE project_id = '${project.id}'`;
      const result = await home.clickhouse.query({ query, format: 'JSONEachRow' });
      expect([table, await result.json()]).toEqual([table, [{ rows: 1 }]]);
    }, 120_000);
  }
  return { person, texts: [person, device, word, old] };
}

async function showRequest(project: NewProject, id: unknown): Promise<Record<string, unknown>> {
  const headers = { 'X-API-Key': project.secretKey };
  const response = await fetch(`${two.processes.url}/api/gdpr/requests/${String(id)}`, { headers });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

async function doctor(): Promise<string> {
  const child = spawn(process.execPath, ['dist/cli/doctor.js'], {
    env: { PATH: process.env.PATH, ...two.databases.env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return output;
}

const silent = () => `shard 2 at ${new URL(two.second.url).host}`;

const logged = () => two.processes.get('worker').output.join('\n');

test('an erased person is in no file of any shard, however long one of them does not answer', async () => {
  const [first, project] = [await createTestProject(two.databases), await createTestProject(two.databases)];
  const kept = await leaveData(first, 2);
  const { person, texts } = await leaveData(project, 1);
  await areOnBoth(texts);
  await two.second.kill();
  const path = `${two.processes.url}/api/gdpr/users/${person}`;
  const asked = await fetch(path, { method: 'DELETE', headers: { 'X-API-Key': project.secretKey } });
  expect(asked.status).toBe(202);
  const { request_id: id } = (await asked.json()) as { request_id: string };
  await eventually(() => expect(logged()).toContain(`${silent()} does not answer`), 60_000);
  expect(await showRequest(project, id)).toMatchObject({ status: 'pending', waiting_for: ['shard 2'] });
  await two.postgres('erasure_requests').update({ requested_at: new Date(Date.now() - 120_000) });
  expect(await doctor()).toContain(`1 erasures and 0 deleted projects are late; ${silent()} may be waited for`);
  await two.second.start();
  await eventually(async () => {
    expect(await showRequest(project, id)).toMatchObject({ status: 'purged', events: 1, waiting_for: [] });
  }, 240_000);
  expect(search(texts)).toEqual([]);
  await areOnBoth(kept.texts);
}, 240_000);

test('a deleted project is in no file of any shard, however long one of them does not answer', async () => {
  const project = await createTestProject(two.databases);
  const home = (await two.shards.homeOf(project.id)).shard;
  const { texts } = await leaveData(project, home === 1 ? 2 : 1);
  await areOnBoth(texts);
  await two.postgres.raw('CHECKPOINT');
  // Another test may have made Redis rewrite its file without the finished jobs. This value stays
  // until it is deleted, and after that in the file until the next rewrite.
  await two.redis.set(texts[0] as string, texts.join());
  expect(searchOthers(texts)).toEqual(['postgres/base', 'redis']);
  await two.redis.del(texts[0] as string);
  await two.second.kill();
  const from = two.processes.get('worker').output.length;
  const deletedAt = new Date(Date.now() - 30 * 60_000);
  await two.postgres('projects').where({ id: project.id }).update({ deleted_at: deletedAt });
  await eventually(() => {
    expect(two.processes.get('worker').output.slice(from).join('\n')).toContain(`${silent()} does not answer`);
  }, 120_000);
  const isDeleted = async () =>
    (await two.postgres('projects').where({ id: project.id }).first('data_deleted_at')).data_deleted_at !== null;
  expect(await isDeleted()).toBe(false);
  expect(await doctor()).toContain('1 deleted projects are late');
  await two.second.start();
  await eventually(async () => expect(await isDeleted()).toBe(true), 120_000);
  expect([search(texts), searchOthers(texts)]).toEqual([[], []]);
}, 240_000);
