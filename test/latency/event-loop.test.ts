// Event loop delays with two tenants: one repeatedly sends requests that are expensive to parse;
// the other's events and queries continue, and the processes report that no event loop was blocked.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createTeam, createTeamProject, type TestTeam } from '../support/accounts.js';
import { createToken } from '../support/agent.js';
import {
  AGENT_ATTACKS,
  cards,
  DEFINITION_ATTACKS,
  DEFINITIONS_ATTACKS,
  HOSTILE_DEFINITIONS,
  IDENTIFY_ATTACKS,
  type LoopAttack,
  manyLines,
  QUERY_ATTACKS,
  SEGMENT_ATTACKS,
  SYNC_ATTACKS,
  TRACK_ATTACKS,
} from '../support/loop-attacks.js';
import { type Metronome, startMetronome } from '../support/metronome.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, track } from '../support/track.js';

const ATTACKERS = 3;
const ROUND_MS = 200;
/**
 * Maximum number of rounds; one good round is enough, because a real block occurs in each, and
 * noise of the machine does not.
 */
const ROUNDS = 10;
/**
 * The aim is 50 ms on a machine with an idle core; multiplied by the machine's current slowness.
 */
const DELAY_MS_MAX = 100;
/**
 * Ratio of medians. The other tenant's requests take a millisecond or two, on two cores shared with
 * the attack.
 */
const SLOWER_MAX = 8;
const SLOWER_ALLOWED_MS = 50;

let databases: TestDatabases;
let metronome: Metronome;
let postgres: Postgres;
let processes: ProcessGroup;
let team: TestTeam;
let hostile: NewProject;
let other: NewProject;
/** Medians of the other tenant without an attack. */
const aloneMs = { web: 0, query: 0 };

const sendEvent = () => track(processes.url, other.publicKey, '{"event_type":"signup"}');
// An invalid query, so that only the query process is measured.
const ask = () => post('/query', other.secretKey, Buffer.from('{"q":"signup | cuont"}'));

async function post(path: string, apiKey: string, body: Buffer, method = 'POST', headers: object = {}) {
  const response = await fetch(`${processes.url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...(apiKey !== '' && { 'X-API-Key': apiKey }), ...headers },
    body,
  });
  await response.arrayBuffer();
  return response;
}

async function syncDashboard(key: string, yaml: string) {
  const response = await fetch(`${processes.url}/api/dashboard-sync/${key}`, {
    method: 'PUT',
    headers: { 'X-API-Key': hostile.secretKey },
    body: JSON.stringify({ source_yaml: yaml, visibility: 'project' }),
  });
  return (await response.json()) as { dashboard?: { id: string }; error?: string };
}

beforeAll(async () => {
  metronome = startMetronome();
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  team = await createTeam(postgres);
  hostile = await createTeamProject(postgres, databases, team.organization.id);
  other = await createTestProject(databases);
  processes = await startProcesses(databases.env, ['web', 'query']);
  // Load threads, routes and parsers before measuring.
  await post('/api/dashboard-sync/a', hostile.secretKey, SYNC_ATTACKS[0]?.body ?? Buffer.alloc(0), 'PUT');
  await post('/track', hostile.secretKey, TRACK_ATTACKS[0]?.body ?? Buffer.alloc(0));
  aloneMs.web = median(await repeat(sendEvent, 2000));
  aloneMs.query = median(await repeat(ask, 2000));
}, 240_000);

afterAll(async () => {
  await metronome?.stop();
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

async function repeat(send: () => Promise<{ status: number }>, forMs: number): Promise<number[]> {
  const tookMs: number[] = [];
  for (const end = performance.now() + forMs; performance.now() < end; ) {
    const startedAt = performance.now();
    await send();
    tookMs.push(performance.now() - startedAt);
  }
  return tookMs;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** The maximum since the last call. */
async function longestDelayMs(name: 'web' | 'query'): Promise<number> {
  const text = await (await fetch(`${processes.get(name).url}/metrics`)).text();
  return 1000 * Number(/^event_loop_delay_max_seconds (.+)$/m.exec(text)?.[1]);
}

interface Attacked {
  readonly at: 'web' | 'query';
  readonly send: () => Promise<{ status: number }>;
  readonly statuses: readonly number[];
}

async function expectToHold(attacked: Attacked): Promise<void> {
  const allowedMs = aloneMs[attacked.at] * SLOWER_MAX + SLOWER_ALLOWED_MS;
  let round = await attackOnce(attacked);
  for (let repeats = 1; repeats < ROUNDS && !isGood(round, allowedMs); repeats++) round = await attackOnce(attacked);
  expect(round.delayMs / round.slowness, `the event loop of ${attacked.at}`).toBeLessThan(DELAY_MS_MAX);
  expect(round.medianMs / round.slowness).toBeLessThan(allowedMs);
}

const isGood = ({ delayMs, medianMs, slowness }: Round, allowedMs: number): boolean =>
  delayMs / slowness < DELAY_MS_MAX && medianMs / slowness < allowedMs;

interface Round {
  /** Maximum event loop delay. */
  readonly delayMs: number;
  /** Median latency of the other tenant's requests. */
  readonly medianMs: number;
  /** Of the machine meanwhile. */
  readonly slowness: number;
}

async function attackOnce({ at, send, statuses }: Attacked): Promise<Round> {
  await longestDelayMs(at);
  metronome.slowness();
  const answered = new Set<number>();
  const attack = Array.from({ length: ATTACKERS }, () =>
    repeat(async () => {
      const answer = await send();
      answered.add(answer.status);
      return answer;
    }, ROUND_MS),
  );
  const tookMs = await repeat(at === 'web' ? sendEvent : ask, ROUND_MS);
  await Promise.all(attack);
  expect([...answered].filter((status) => !statuses.includes(status))).toEqual([]);
  const delayMs = await longestDelayMs(at);
  return { delayMs, medianMs: median(tookMs), slowness: metronome.slowness() };
}

// Above the limit of waiting tasks, a project gets 429.
const orLater = ({ status }: LoopAttack): number[] => [...(Array.isArray(status) ? status : [status]), 429] as number[];

describe('dashboard documents do not block the event loop', () => {
  test.each(SYNC_ATTACKS.map((attack) => [attack.what, attack] as const))('%s', async (_what, attack) => {
    const send = () => post('/api/dashboard-sync/attack', hostile.secretKey, attack.body, 'PUT');
    await expectToHold({ at: 'web', send, statuses: [...orLater(attack), ...(attack.status === 200 ? [201] : [])] });
  });
});

describe('queries do not block the event loop', () => {
  test.each(QUERY_ATTACKS.map((attack) => [attack.what, attack] as const))('%s', async (_what, attack) => {
    const send = () => post('/query', hostile.secretKey, attack.body);
    await expectToHold({ at: 'query', send, statuses: orLater(attack) });
  });
});

describe('events do not block the event loop', () => {
  test.each(TRACK_ATTACKS.map((attack) => [attack.what, attack] as const))('%s', async (_what, attack) => {
    const send = () => post('/track', hostile.secretKey, attack.body);
    await expectToHold({ at: 'web', send, statuses: orLater(attack) });
  });
});

describe('calls of other SDKs do not block the event loop', () => {
  test.each(SEGMENT_ATTACKS.map((attack) => [attack.what, attack] as const))('%s', async (_what, attack) => {
    const send = () => post('/v1/batch', hostile.secretKey, attack.body);
    await expectToHold({ at: 'web', send, statuses: orLater(attack) });
  });
});

describe('identify calls do not block the event loop', () => {
  test.each(IDENTIFY_ATTACKS.map((attack) => [attack.what, attack] as const))('%s', async (_what, attack) => {
    const send = () => post('/identify', hostile.secretKey, attack.body);
    await expectToHold({ at: 'web', send, statuses: orLater(attack) });
  });
});

describe('definitions do not block the event loop', () => {
  const store = (body: Buffer) => post('/api/definitions', hostile.secretKey, body, 'PUT');

  test.each(DEFINITIONS_ATTACKS.map((attack) => [attack.what, attack] as const))('PUT: %s', async (_what, attack) => {
    const statuses = [...orLater(attack), ...(attack.status === 200 ? [201] : [])];
    await expectToHold({ at: 'web', send: () => store(attack.body), statuses });
  });

  test.each(DEFINITION_ATTACKS.map((attack) => [attack.what, attack] as const))('%s', async (_what, attack) => {
    const stored = await store(Buffer.from(JSON.stringify({ source_yaml: HOSTILE_DEFINITIONS })));
    expect([200, 201]).toContain(stored.status);
    const send = () => post('/query', hostile.secretKey, attack.body);
    await expectToHold({ at: 'query', send, statuses: orLater(attack) });
  });

  test('a list of 20,000 uses', async () => {
    const body = JSON.stringify({ source_yaml: "version: 1\nevents: { seen: { query: 'a' } }" });
    expect((await store(Buffer.from(body))).status).toBeLessThan(300);
    expect((await syncDashboard('uses', cards(200, 'seen | count'))).error).toBeUndefined();
    await postgres.raw(
      `WITH one AS (SELECT * FROM dashboards WHERE project_id = ? AND key = 'uses'), copies AS (
         INSERT INTO dashboards (id, project_id, key, visibility, version, title, checksum)
         SELECT gen_random_uuid(), project_id, 'uses-' || n, visibility, version, title, checksum
         FROM one, generate_series(1, 99) AS n RETURNING id)
       INSERT INTO dashboard_versions (dashboard_id, version, checksum, config, source_yaml)
       SELECT copies.id, v.version, v.checksum, v.config, v.source_yaml
       FROM copies, one JOIN dashboard_versions v ON v.dashboard_id = one.id AND v.version = one.version`,
      [hostile.id],
    );
    const send = async () => {
      const headers = { 'X-API-Key': hostile.secretKey };
      const response = await fetch(`${processes.url}/api/definitions/uses`, { headers });
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(response.ok ? 1_000_000 : 0);
      return response;
    };
    await expectToHold({ at: 'web', send, statuses: [200, 429] });
  });
});

describe('messages of agents do not block the event loop', () => {
  let token: string;

  beforeAll(async () => {
    token = await createToken(postgres, hostile.id, ['query', 'dashboards']);
    const stored = await syncDashboard('lines', manyLines(1));
    expect(stored.error).toBeUndefined();
  });

  test.each(AGENT_ATTACKS.map((attack) => [attack.what, attack] as const))('%s', async (_what, attack) => {
    const send = () => post('/mcp', token, attack.body);
    await expectToHold({ at: 'query', send, statuses: orLater(attack) });
  });
});

describe('filled cards do not block the event loop', () => {
  const YAML = `version: 1
title: t
variables:
  plan: {type: select, query: "* | count by event_properties.plan", value_column: event_properties.plan}
  when: {type: date_range}
sections:
- title: S
  cards:
  - {id: values, title: T, kind: table, viz: table, query: "* | {{when}} | where event_properties.plan in (${'{{plan}},'.repeat(1500)}'a') | count"}
`;
  let cardsUrl: string;

  beforeAll(async () => {
    const { dashboard, error } = await syncDashboard('filled', YAML);
    expect(error).toBeUndefined();
    cardsUrl = `/api/projects/${hostile.id}/dashboards/${dashboard?.id}/cards`;
  });

  test.each([
    ['a long value in many places', 'values', { plan: '"'.repeat(8000) }],
    ['a value above the limit of an option', 'values', { plan: 'x'.repeat(60_000) }],
    ['an invalid range', 'values', { when: '|'.repeat(8000), plan: 'a' }],
    ['a longer invalid range', 'values', { when: '| '.repeat(30_000), plan: 'a' }],
    ['thousands of variables', 'values', Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`v${i}`, 1]))],
  ])('%s', async (_what, card, variables) => {
    const body = Buffer.from(JSON.stringify({ variables }));
    const headers = { Cookie: `service_session=${team.people.member.session}`, Origin: processes.url };
    const send = () => post(`${cardsUrl}/${card}/queries`, '', body, 'POST', headers);
    await expectToHold({ at: 'web', send, statuses: [200, 400] });
  });
});
