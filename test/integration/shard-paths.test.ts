// Every path that reads or reports works on a shard as on the only server: two projects with the
// same data, on one ClickHouse server each, have the same answers. With one server dead or hanging,
// the doctor, the metrics and the list of shards name it, and the projects of the other go on.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { CANARY_EVERY_MS } from '../../src/ingest/canary.js';
import { eventually } from '../support/eventually.js';
import { runScheduled } from '../support/scheduled-jobs.js';
import { startTwoShards, type TwoShards } from '../support/shards.js';
import { createTestProject, track } from '../support/track.js';

/** More than half of INGEST_FLUSH_ROWS. */
const BATCHES = 4;
const BATCH_EVENTS = 2000;
const PEOPLE = ['ada', 'bob', 'cleo'];
/** Each source of the query language. */
const QUESTIONS = [
  '* | last 30d | count by day',
  'signup | last 30d | unique by week',
  'formula count(pay) / unique(signup) | last 30d',
  'funnel signup -> pay | last 30d',
  'retention signup returning pay by week | last 30d',
  'lifecycle signup by week | last 30d',
  'stickiness signup | last 30d',
  'paths from signup | last 30d',
  'sessions | last 30d | count',
  'users | last 30d | list',
  'user "ada"',
  'fields',
];

let two: TwoShards;
let projects: readonly [NewProject, NewProject];

beforeAll(async () => {
  two = await startTwoShards();
  projects = [await createTestProject(two.databases), await createTestProject(two.databases)];
}, 240_000);

afterAll(() => two?.close());

async function call(project: NewProject, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(two.processes.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'X-API-Key': project.secretKey, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  expect([path, response.status, answer.error]).toEqual([path, 200, undefined]);
  return answer;
}

const rowsOf = async (project: NewProject, q: string) => (await call(project, '/query', { q, format: 'json' })).rows;

/** Without when an identify call came, which is later for one of them. */
const settled = (rows: unknown): unknown[] =>
  JSON.parse(JSON.stringify(rows), (key, value) => (/^(?:first|last)_seen$/.test(key) ? undefined : value));

async function run(...command: string[]): Promise<string> {
  const child = spawn(process.execPath, command, { env: { PATH: process.env.PATH, ...two.databases.env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  await new Promise((resolve) => child.once('close', resolve));
  return output;
}

async function metric(name: string, shard: number, labels = ''): Promise<number> {
  const text = await (await fetch(`${two.processes.url}/metrics`)).text();
  return Number(new RegExp(`^${name}\\{shard="${shard}"${labels}\\} (\\S+)`, 'm').exec(text)?.[1] ?? Number.NaN);
}

const diskOf = (shard: number, what: 'free' | 'total') => metric(`disk_${what}_bytes`, shard, ',disk="default"');

test('every source of queries, the catalog and the doctor answer for a project on another shard', async () => {
  const now = Date.now();
  const events = PEOPLE.flatMap((user_id, person) =>
    ['signup', 'view', 'pay'].map((event_type, step) => ({
      ...{ event_type, user_id, insert_id: `${user_id}-${step}`, event_properties: { amount: person * 10 + step } },
      time: new Date(now - (person * 8 + 1) * 86_400_000 + step * 60_000).toISOString(),
    })),
  );
  for (const project of projects) {
    expect((await track(two.processes.url, project.publicKey, { events })).body).toEqual({ accepted: events.length });
    await call(project, '/identify', { user_id: 'ada', device_id: 'phone', user_properties: { plan: 'pro' } });
    await eventually(async () => {
      expect(await rowsOf(project, 'pay | last 30d | where user.plan = "pro" | count')).toMatchObject([{ value: 1 }]);
      expect(await rowsOf(project, '* | last 30d | count')).toMatchObject([{ value: events.length }]);
    }, 120_000);
  }
  const [first, other] = projects;
  for (const question of QUESTIONS) {
    const [here, there] = [settled(await rowsOf(first, question)), settled(await rowsOf(other, question))];
    expect([question, there]).toEqual([question, here]);
    expect([question, here.length > 0]).toEqual([question, true]);
  }
  const inspected = await rowsOf(other, 'inspect * | last 30d');
  expect((inspected as unknown[]).length).toBe(((await rowsOf(first, 'inspect * | last 30d')) as unknown[]).length);
  await eventually(async () => {
    const [here, there] = [await call(first, '/catalog'), await call(other, '/catalog')];
    expect(there.complete).toBe(true);
    expect(there.events).toEqual(here.events);
    expect(JSON.stringify(there)).toContain('signup');
  }, 120_000);

  await runScheduled(two.databases, { queue: 'canary', schedule: 'canary', everyMs: CANARY_EVERY_MS });
  for (const shard of [1, 2]) {
    await eventually(async () => expect(await metric('shard_ingest_lag_seconds', shard)).toBeLessThan(30), 60_000);
  }
  const healthy = await run('dist/cli/doctor.js');
  for (const name of ['ClickHouse', 'Parts of the events table', 'Disk of ClickHouse']) {
    for (const shard of [1, 2]) expect(healthy).toMatch(new RegExp(`^[✓!] ${name}, shard ${shard}:`, 'm'));
  }
  for (const shard of [1, 2]) {
    const [free, total] = [await diskOf(shard, 'free'), await diskOf(shard, 'total')];
    expect(free).toBeGreaterThan(0);
    expect(total).toBeGreaterThan(free);
  }
}, 240_000);

test('a dead shard is named by the doctor, the metrics and the list, which go on', async () => {
  await two.second.kill();
  try {
    const [first, other] = projects;
    await track(two.processes.url, other.publicKey, { event_type: 'late', user_id: 'ada' });
    await runScheduled(two.databases, { queue: 'canary', schedule: 'canary', everyMs: CANARY_EVERY_MS });
    const found = await run('dist/cli/doctor.js');
    expect(found).toMatch(/^✗ ClickHouse, shard 2: .*ECONNREFUSED/m);
    expect(found).toMatch(/^✓ ClickHouse, shard 1:/m);
    expect(found).toMatch(
      /^✗ Parts of the events table, shard 2: .*ECONNREFUSED.*\n {4}→ first do what is advised for ClickHouse$/m,
    );
    expect(found).toMatch(/^✓ Clocks: within \d+ ms of this machine; not asked: 1 of 4 stores, which do not answer$/m);
    const listed = await run('dist/cli/shards.js', 'list');
    expect(listed).toMatch(/\| 1 +\|.*\| ok +\|/);
    expect(listed).toMatch(/\| 2 +\|.*ECONNREFUSED/);
    await eventually(async () => {
      expect(await diskOf(2, 'free')).toBeNaN();
      expect(await diskOf(1, 'free')).toBeGreaterThan(0);
      expect(await metric('shard_ingest_lag_seconds', 2)).toBeGreaterThan(1);
      expect(await metric('shard_ingest_lag_seconds', 1)).toBeLessThan(30);
    }, 180_000);
    expect((await fetch(`${two.processes.url}/readyz`)).status).toBe(200);
    expect(await rowsOf(first, '* | last 30d | count')).toMatchObject([{ value: 9 }]);
  } finally {
    await two.second.start();
  }
  await eventually(async () => {
    expect(await rowsOf(projects[1], 'late | last 1d | count')).toMatchObject([{ value: 1 }]);
  }, 240_000);
}, 240_000);

test('a shard that hangs holds up no other, and has its events afterwards', async () => {
  const [first, other] = projects;
  const stored = async (project: NewProject) => rowsOf(project, 'large | last 1d | count');
  two.second.hang();
  try {
    // Large inserts, which take turns; those of the shard that hangs begin.
    for (const project of [other, first]) {
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const events = Array.from({ length: BATCH_EVENTS }, () => ({ event_type: 'large', user_id: 'ada' }));
        const answer = await track(two.processes.url, project.publicKey, { events });
        expect(answer.body).toEqual({ accepted: BATCH_EVENTS });
      }
    }
    await eventually(
      async () => expect(await stored(first)).toMatchObject([{ value: BATCHES * BATCH_EVENTS }]),
      60_000,
    );
    await runScheduled(two.databases, { queue: 'canary', schedule: 'canary', everyMs: CANARY_EVERY_MS });
    await eventually(async () => {
      expect(await metric('shard_ingest_lag_seconds', 1)).toBeLessThan(30);
      expect(await metric('shard_ingest_lag_seconds', 2)).toBeGreaterThan(1);
    }, 180_000);
    expect((await fetch(`${two.processes.url}/readyz`)).status).toBe(200);
    expect(await run('dist/cli/doctor.js')).toMatch(/^✗ ClickHouse, shard 2:/m);
  } finally {
    two.second.resume();
  }
  await eventually(async () => expect(await stored(other)).toMatchObject([{ value: BATCHES * BATCH_EVENTS }]), 120_000);
}, 300_000);
