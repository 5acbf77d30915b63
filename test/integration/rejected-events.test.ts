// Counts and samples of rejected events, which members of a project can read.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import type { rejected } from '../../src/ingest/answers.js';
import {
  FIELDS_KEPT,
  forgetRejected,
  forgetSamplesOf,
  type RejectedSample,
  readRejected,
  SAMPLES_KEPT,
  saveRejected,
} from '../../src/ingest/rejected/store.js';
import type { JsonOf } from '../../src/platform/answer-fields.js';
import { newUuidV7, toProjectId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createTeam, createTeamProject, send, type TestTeam } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { track } from '../support/track.js';

type Rejected = JsonOf<typeof rejected>;

const NOTHING: Rejected = { counts: [], samples: [], ignored_fields: [] };
const DAY_MS = 24 * 60 * 60_000;

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
let processes: ProcessGroup;
let team: TestTeam;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
  team = await createTeam(postgres);
  processes = await startProcesses(databases.env, ['web']);
});

afterAll(async () => {
  await processes?.stop();
  redis?.disconnect();
  await postgres?.destroy();
  await databases?.close();
});

const newProject = (): Promise<NewProject> => createTeamProject(postgres, databases, team.organization.id);
const newProjectId = () => toProjectId(newUuidV7());

async function rejectedOf(project: NewProject): Promise<Rejected> {
  const route = `GET /api/projects/${project.id}/rejected`;
  const { status, body } = await send(processes.url, route, { session: team.people.member.session });
  expect(status).toBe(200);
  return body;
}

test('GET /rejected returns counts by reason and the newest samples, without keys and IP addresses', async () => {
  const [project, other] = [await newProject(), await newProject()];
  expect(await rejectedOf(project)).toEqual(NOTHING);
  const before = Date.now();
  const events = [
    { event_type: 'good' },
    { user_id: 'alice', ip: '203.0.113.7' },
    { user_id: 'bob', page: `https://a.example/?key=${project.publicKey}` },
    { event_type: 'x'.repeat(257) },
  ];
  expect((await track(processes.url, project.secretKey, { events })).body).toEqual({ accepted: 1 });
  const { counts, samples } = await eventually(async () => {
    const rejected = await rejectedOf(project);
    expect(rejected.counts).not.toEqual([]);
    return rejected;
  });
  const date = new Date(before).toISOString().slice(0, 10);
  expect(counts).toEqual([
    { date, reason: 'event_type_missing', events: 2 },
    { date, reason: 'event_type_too_long', events: 1 },
  ]);
  const texts = [
    '{"user_id":"alice"}',
    '{"user_id":"bob","page":"https://a.example/?key=pk_…"}',
    JSON.stringify(events[3]),
  ];
  expect(samples.map(({ event }) => event).sort()).toEqual(texts.sort());
  for (const { at } of samples) expect(Date.parse(at)).toBeGreaterThanOrEqual(before);
  expect(await rejectedOf(other)).toEqual(NOTHING);
});

test('GET /rejected names fields of accepted events that are ignored, and what to send instead', async () => {
  const project = await newProject();
  const event = { event_type: 'a', timestamp: 1, userId: 'u', amount: 5, __proto__x: 1, geo: { country: 'DE' } };
  const bodies = [
    event,
    {
      ...{ origin: 'server', clientOriginated: false, user_id: 'u', sentAt: 1, amount: 2 },
      events: [
        { event_type: 'a', amount: 1, ['x'.repeat(65)]: 1 },
        { event_type: 'a', second: 1 },
      ],
    },
  ];
  for (const body of bodies) await track(processes.url, project.publicKey, body);
  // More than 128 KiB, which a thread reads.
  await track(processes.url, project.publicKey, {
    events: Array.from({ length: 2000 }, () => ({
      event_type: 'b',
      traits: {},
      time: '2026-01-31T10:00:00Z',
      event_properties: { text: 'x'.repeat(50) },
    })),
  });
  await eventually(async () => {
    const { ignored_fields: ignored } = await rejectedOf(project);
    const found = ignored.map(({ field, instead }) => `${field}: ${instead}`).sort();
    expect(found).toEqual([
      '__proto__x: event_properties',
      'amount: event_properties',
      'amount: events[].event_properties',
      'sentAt: events[].event_properties',
      'timestamp: time',
      'traits: user_properties',
      'userId: user_id',
      'user_id: events[].user_id',
    ]);
  });
});

test('GET /rejected names fields of identify calls that are ignored, and what to send instead', async () => {
  const project = await newProject();
  const identify = async (body: object, path = '/identify'): Promise<void> => {
    const { status } = await fetch(`${processes.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': project.secretKey },
      body: JSON.stringify(body),
    });
    expect(status).toBe(200);
  };
  const known = {
    user_id: 'u',
    device_id: 'd',
    user_properties: {},
    user_property_ops: {},
    time: new Date(),
    library: 'x',
  };
  const filling = { text: 'x'.repeat(8000) };
  await identify({ ...known, traits: {}, anonymousId: 'a', event_type: 'e' });
  // More than a thread reads.
  await identify({ ...known, plan: Array(16).fill(filling) });
  const call = { user_id: 'u', time: new Date(), traits: {}, second: 1 };
  await identify({ calls: [call, { ...call, later: 1 }], device_id: 'd' }, '/identify/batch');
  const calls = Array.from({ length: 16 }, () => ({ ...call, user_properties: filling, name: 'Ann' }));
  await identify({ calls }, '/identify/batch');
  await track(processes.url, project.publicKey, { event_type: 'a', user_id: 'u', traits: {} });
  await eventually(async () => {
    const { ignored_fields: ignored } = await rejectedOf(project);
    expect(ignored.map(({ route, field, instead }) => `${route} ${field}: ${instead}`).sort()).toEqual([
      '/identify anonymousId: device_id',
      '/identify device_id: calls[].device_id',
      '/identify event_type: user_properties',
      '/identify name: user_properties',
      '/identify plan: user_properties',
      '/identify second: user_properties',
      '/identify traits: user_properties',
      '/track traits: user_properties',
    ]);
  });
});

test('a flood of rejected events is counted exactly, also when the process stops', async () => {
  const project = await newProject();
  const batch = { events: Array.from({ length: 2000 }, (_, index) => ({ index })) };
  await Promise.all(Array.from({ length: 10 }, () => track(processes.url, project.publicKey, batch)));
  await processes.get('web').kill('SIGTERM');
  await processes.start('web');
  const { counts, samples } = await rejectedOf(project);
  expect(counts).toMatchObject([{ reason: 'event_type_missing', events: 20_000 }]);
  expect(samples).toHaveLength(SAMPLES_KEPT);
});

test('samples are distinct and the newest, and expire within a week, counts within a month', async () => {
  const projectId = newProjectId();
  const now = Date.now();
  const sample = (event: string, at: number): RejectedSample => ({ projectId, reason: 'not_an_object', at, event });
  const save = (samples: RejectedSample[], at: number) =>
    saveRejected(
      redis,
      { counts: [{ projectId, reason: 'not_an_object', events: samples.length }], samples, ignored: [] },
      at,
    );
  await save([sample('old', now - 4 * DAY_MS)], now - 4 * DAY_MS);
  await save([sample('3', now - 3 * DAY_MS), sample('5', now - 2)], now - 3 * DAY_MS);
  expect((await readRejected(redis, projectId, now)).samples.map(({ event }) => event)).toEqual(['5', '3', 'old']);
  await save([sample('3', now - 1)], now);
  const { counts, samples } = await readRejected(redis, projectId, now);
  expect(samples.map(({ event }) => event)).toEqual(['3', '5']);
  expect(counts.map(({ events }) => events)).toEqual([1, 2, 1]);

  await save(
    Array.from({ length: 50 }, (_, index) => sample(`n-${index}`, now + index)),
    now,
  );
  const newest = Array.from({ length: SAMPLES_KEPT }, (_, index) => `n-${49 - index}`);
  expect((await readRejected(redis, projectId, now)).samples.map(({ event }) => event)).toEqual(newest);
  expect(await redis.pttl(`ingest:rejected-samples:${projectId}`)).toBeLessThanOrEqual(3.5 * DAY_MS);
  expect((await readRejected(redis, projectId, now + 31 * DAY_MS)).counts).toEqual([]);
});

test('ignored fields are the newest, and expire within a week', async () => {
  const projectId = newProjectId();
  const now = Date.now();
  const route = '/track';
  const save = (at: number, fields: readonly string[]) =>
    saveRejected(
      redis,
      { counts: [], samples: [], ignored: fields.map((field) => ({ projectId, route, field, at })) },
      at,
    );
  await save(now - 4 * DAY_MS, ['old', 'again']);
  await save(now, ['again', ...Array.from({ length: FIELDS_KEPT + 5 }, (_, index) => `field-${index}`)]);
  const fields = (await readRejected(redis, projectId, now)).ignored_fields.map(({ field }) => field);
  expect(fields).toHaveLength(FIELDS_KEPT);
  expect(fields).not.toContain('old');
  expect(await redis.pttl(`ingest:ignored-fields:${projectId}`)).toBeLessThanOrEqual(3.5 * DAY_MS);
});

test('erasing a person and deleting a project remove their samples only', async () => {
  const [mine, theirs] = [newProjectId(), newProjectId()];
  const now = Date.now();
  for (const projectId of [mine, theirs]) {
    const reason = 'id_too_long';
    const events = ['{"user_id":"alice"}', '{"device_id":"phone"}', '{"by":["alice"]}', '{"user_id":"bob"}'];
    const samples = events.map((event, index) => ({ projectId, reason, at: now + index, event }) as const);
    const ignored = ['alice', 'amount'].map((field) => ({ projectId, route: '/identify', field, at: now }) as const);
    await saveRejected(redis, { counts: [{ projectId, reason, events: 4 }], samples, ignored }, now);
  }
  await forgetSamplesOf(redis, mine, ['alice', 'phone']);
  const { counts, samples, ignored_fields: ignored } = await readRejected(redis, mine, now);
  expect(ignored.map(({ field }) => field)).toEqual(['amount']);
  expect(counts).toMatchObject([{ events: 4 }]);
  expect(samples.map(({ event }) => event)).toEqual(['{"user_id":"bob"}']);
  await forgetRejected(redis, mine, now);
  expect(await readRejected(redis, mine, now)).toEqual(NOTHING);
  expect((await readRejected(redis, theirs, now)).samples).toHaveLength(4);
});
