// Kept answers against answers of the engine: after each kind of write to ClickHouse, in random
// order, a repeated question is answered as if nothing were kept.
import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRandom } from '../../bench/random.js';
import { BOUNDS } from '../../src/platform/flow/bounds.js';
import { type ProjectId, toProjectId } from '../../src/platform/ids.js';
import { formatJson } from '../../src/query-api/formats/json.js';
import { KeptAnswers } from '../../src/query-api/kept-answers.js';
import { createKeptMetrics } from '../../src/query-api/metrics.js';

import { eventually } from '../support/eventually.js';
import { type QueryService, startQueryService } from '../support/query-service.js';

const MONTH_MS = 30 * 86_400_000;
const NOW = Date.UTC(2026, 10, 22, 12, 10);

let service: QueryService;
let registry: Registry;
let kept: KeptAnswers;
let projectId: ProjectId;
let nowMs = NOW;

beforeAll(async () => {
  service = await startQueryService();
  // Merges in the background change the parts, too.
  for (const table of ['events', 'device_map', 'profiles']) {
    await command(
      `ALTER TABLE ${table} MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1`,
    );
  }
});
afterAll(() => service?.close());

function keepAnswers(bytesMax = 32 * 1024 * 1024): void {
  registry = new Registry();
  kept?.close();
  kept = new KeptAnswers(bytesMax, { ...createKeptMetrics(registry, () => 0), now: () => nowMs });
}

beforeEach(() => {
  projectId = toProjectId(randomUUID());
  nowMs = NOW;
  keepAnswers();
});

const at = (of: { limit?: number; offset?: number } = {}) => ({ nowMs, timezone: 'UTC', limit: 100, offset: 0, ...of });

/** The answer as JSON, without what it took. */
async function ask(q: string, keep: boolean, project = projectId): Promise<{ rows: Record<string, unknown>[] }> {
  const answer = await service.ask(project, q, { ...at(), ...(keep && { kept }) });
  return JSON.parse(formatJson({ ...answer, elapsedMs: 0, rowsScanned: 0 }));
}

async function countOf(result: string): Promise<number> {
  const counted = await registry.getSingleMetric('query_answers_kept_total')?.get();
  return counted?.values.find(({ labels }) => labels.result === result)?.value ?? 0;
}

const toTime = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');

interface Written {
  readonly time: number;
  readonly user?: number;
  readonly device?: number;
  readonly type?: string;
  readonly project?: ProjectId;
}

const insert = (table: string, values: object[]) => service.clickhouse.insert({ table, values, format: 'JSONEachRow' });

const track = (...events: readonly Written[]) =>
  insert(
    'events_landing',
    events.map(({ time, user, device, type = 'view', project = projectId }) => ({
      project_id: project,
      event_type: type,
      time: toTime(time),
      insert_id: randomUUID(),
      user_id: user === undefined ? '' : `user-${user}`,
      device_id: device === undefined ? '' : `device-${device}`,
      session_id: `session-${device ?? user}`,
      ep_num: { amount: time % 7 },
    })),
  );

test('the same question again is answered from memory, and a question of other formats or rows is not another one', async () => {
  await track({ time: NOW - 1000, user: 1 }, { time: NOW - 2000, user: 2 });
  const q = 'view | from 2026-11-01 to 2026-11-23 | unique distinct_id by day';
  const first = await ask(q, true);
  expect(await ask(q, true)).toEqual(first);
  expect(await ask(`  ${q} `, true)).toEqual(first);
  expect(await countOf('hit')).toBe(2);
  await service.ask(projectId, q, { ...at({ limit: 1 }), kept });
  expect(await countOf('hit')).toBe(2);
});

const QUESTIONS = [
  'view | last 30d | count',
  'view | last 7d | count by day',
  '* | last 90d | unique distinct_id',
  '* | from 2026-09-01 to 2026-10-01 | unique distinct_id by event_type',
  '* | from 2026-11-01 to 2026-11-30 | list',
  'buy | this month | sum event_properties.amount by day',
  '* | last 90d | where user.plan = "pro" | count',
  'users | count',
  'sessions | last 7d | count',
  'funnel view -> buy | last 30d',
  '* | last 90d | where count(buy last 30d) >= 1 | unique distinct_id',
  'view | last 7d | compare previous | count',
] as const;

type Random = () => number;
const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

/** Every kind of change that the service makes, and merges. */
const WRITES: Readonly<Record<string, (random: Random) => Promise<unknown>>> = {
  track: (random) => track({ time: nowMs - 1, user: Math.floor(random() * 9), type: pick(random, ['view', 'buy']) }),
  anonymous: (random) => track({ time: nowMs - Math.floor(random() * 9e8), device: Math.floor(random() * 9) }),
  late: (random) => track({ time: nowMs - Math.floor(random() * 3 * MONTH_MS), device: Math.floor(random() * 9) }),
  future: (random) => track({ time: nowMs + Math.floor(random() * 3e5), user: Math.floor(random() * 9) }),
  identify: (random) =>
    insert('device_map', [
      {
        project_id: projectId,
        device_id: `device-${Math.floor(random() * 9)}`,
        user_id: `user-${Math.floor(random() * 9)}`,
        updated_at: toTime(nowMs),
      },
    ]),
  profile: (random) =>
    insert('profiles', [
      {
        project_id: projectId,
        user_id: `user-${Math.floor(random() * 9)}`,
        first_seen: toTime(NOW),
        last_seen: toTime(NOW),
        props_str: { plan: pick(random, ['pro', 'free']) },
        version: String(nowMs),
        deleted: random() < 0.2 ? 1 : 0,
      },
    ]),
  erase: (random) => command(`DELETE FROM events WHERE user_id = 'user-${Math.floor(random() * 9)}'`),
  unmap: (random) => command(`DELETE FROM device_map WHERE device_id = 'device-${Math.floor(random() * 9)}'`),
  purge: async () => {
    const partitions = await partitionsOf('events');
    if (partitions[0]) await command(`ALTER TABLE events APPLY DELETED MASK IN PARTITION ID '${partitions[0]}'`);
  },
  drop: async (random) => {
    const [name] = await select("SELECT name FROM system.parts WHERE active AND table = 'events'", random);
    if (name) await command(`ALTER TABLE events DROP PART '${name}'`).catch(() => undefined);
  },
  merge: () => command('OPTIMIZE TABLE events FINAL'),
  // The clock goes on, by little or over the end of a day.
  wait: async (random) => {
    nowMs += pick(random, [1, 40, 1000, 60_000, 7_200_000]);
  },
};

const command = (query: string) =>
  service.clickhouse.command({
    query,
    clickhouse_settings: { lightweight_deletes_sync: '2', mutations_sync: '2' },
  });

async function select(sql: string, random: Random): Promise<string[]> {
  const result = await service.clickhouse.query({
    query: `${sql} AND database = currentDatabase()`,
    format: 'JSONCompact',
  });
  const { data } = await result.json<[string]>();
  return data.length === 0 ? [] : [pick(random, data)[0]];
}

const partitionsOf = (table: string): Promise<string[]> =>
  select(`SELECT DISTINCT partition_id FROM system.parts WHERE active AND table = '${table}'`, () => 0);

const trackSome = () =>
  track(...Array.from({ length: 40 }, (_, n) => ({ time: nowMs - n * 5e7, user: n % 9, device: n % 7 })));

/** On a busy machine the definitions may take too long to read, which an answer says. */
const askInTime = (q: string, isKept: boolean) =>
  eventually(async () => {
    const answer = await ask(q, isKept);
    expect(JSON.stringify(answer)).not.toContain('could not be read');
    return answer;
  });

async function expectFresh(asked: readonly string[], done: unknown): Promise<void> {
  const [fresh, again] = await Promise.all([
    Promise.all(asked.map((q) => askInTime(q, false))),
    Promise.all(asked.map((q) => askInTime(q, true))),
  ]);
  expect({ done, asked, answers: again }).toEqual({ done, asked, answers: fresh });
}

test.each(Object.keys(WRITES))('after %s each kept answer is that of the engine', async (kind) => {
  const random = createRandom(kind.length);
  await trackSome();
  // On a busy machine a look at the versions may take too long.
  await eventually(async () => {
    const hits = await countOf('hit');
    await Promise.all(QUESTIONS.map((q) => ask(q, true)));
    expect((await countOf('hit')) - hits).toBe(QUESTIONS.length);
  });
  await WRITES[kind]?.(random);
  await expectFresh(QUESTIONS, kind);
});

test('after any writes in any order a kept answer is that of the engine', async () => {
  const random = createRandom(1);
  const kinds = Object.keys(WRITES);
  await trackSome();
  for (let turn = 0; turn < 15; turn += 1) {
    const done = random() < 0.4 ? [] : [pick(random, kinds)];
    for (const kind of done) await WRITES[kind]?.(random);
    await expectFresh(
      Array.from({ length: 5 }, () => pick(random, QUESTIONS)),
      { turn, done },
    );
  }
  expect(await countOf('hit')).toBeGreaterThan(8);
  expect(await countOf('changed')).toBeGreaterThan(5);
});

test('a question that is asked after a write was acknowledged counts it, also when equal ones run', async () => {
  const q = 'view | last 30d | count';
  let acknowledged = 0;
  let isWriting = true;
  const write = async () => {
    for (let n = 0; n < 25; n += 1) {
      await track({ time: NOW - 1000 - n, user: 1 });
      acknowledged += 1;
    }
    isWriting = false;
  };
  const read = async () => {
    while (isWriting) {
      const before = acknowledged;
      const { rows } = await ask(q, true);
      expect(rows[0]?.value ?? 0).toBeGreaterThanOrEqual(before);
    }
  };
  await Promise.all([write(), read(), read(), read()]);
  expect((await ask(q, true)).rows[0]?.value).toBe(25);
});

test('an event before the ranges of a comparison ends the warning that the project is younger', async () => {
  const q = 'view | last 7d | compare previous | count';
  await track({ time: NOW - 1000, user: 1 });
  const first = await ask(q, true);
  await track({ time: NOW - 3 * MONTH_MS, user: 1 });
  const fresh = await ask(q, false);
  expect(fresh).not.toEqual(first);
  expect(await ask(q, true)).toEqual(fresh);
});

test('equal questions at the same moment share a run', async () => {
  await track({ time: NOW - 1000, user: 1 });
  const q = '* | from 2026-11-01 to 2026-11-23 | unique distinct_id by day';
  const answers = await Promise.all(Array.from({ length: 4 }, () => ask(q, true)));
  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect((await countOf('shared')) + (await countOf('hit'))).toBeGreaterThan(0);
});

test('a range that ends now is answered from memory until an event leaves or enters it', async () => {
  const q = 'view | last 7d | count';
  const edge = NOW - 7 * 86_400_000;
  await track({ time: edge + 60_000, user: 1 }, { time: NOW - 1000, user: 2 }, { time: NOW + 90_000, user: 3 });
  const valueAt = async (ms: number) => {
    nowMs = NOW + ms;
    const before = await countOf('hit');
    const { rows } = await ask(q, true);
    return { value: rows[0]?.value, isHit: (await countOf('hit')) > before };
  };
  expect(await valueAt(0)).toEqual({ value: 2, isHit: false });
  expect(await valueAt(59_999)).toEqual({ value: 2, isHit: true });
  expect(await valueAt(60_000)).toEqual({ value: 2, isHit: true });
  expect(await valueAt(60_001)).toEqual({ value: 1, isHit: false });
  expect(await valueAt(90_000)).toEqual({ value: 1, isHit: true });
  expect(await valueAt(90_001)).toEqual({ value: 2, isHit: false });
});

test('as days end and events leave and enter the ranges, each kept answer is that of the engine', async () => {
  const midnight = Math.ceil(NOW / 86_400_000) * 86_400_000;
  const edges = [0, 1, 7].map((days) => midnight - days * 86_400_000);
  await track(...edges.flatMap((edge) => [-20_000, 25_000].map((ms) => ({ time: edge + ms, user: 1, device: 1 }))));
  const asked = [
    'view | last 7d | count by day',
    'view | last 24h | unique by hour',
    'sessions | last 7d',
    'funnel view -> view | last 7d | by day',
    'retention view by day | last 7d',
    'lifecycle view by day | last 7d',
  ];
  for (const ms of [-30_000, -25_000, -10_000, -1, 0, 1, 20_000, 30_000]) {
    nowMs = midnight + ms;
    await expectFresh(asked, ms);
  }
  expect(await countOf('hit')).toBeGreaterThan(asked.length);
  expect(await countOf('miss')).toBeGreaterThan(asked.length);
});

test('an answer is forgotten after its time, and the project with most loses its oldest first', async () => {
  const other = toProjectId(randomUUID());
  await track({ time: NOW - 1000, user: 1 }, { time: NOW - 1000, user: 1, project: other });
  const q = 'view | from 2026-11-01 to 2026-11-23 | count';
  await ask(q, true);
  nowMs += BOUNDS.keptAnswerMs;
  await ask(q, true);
  expect(await countOf('hit')).toBe(0);

  keepAnswers(12_000);
  await ask(q, true, other);
  for (let day = 10; day < 22; day += 1) await ask(`view | from 2026-11-01 to 2026-11-${day} | count`, true);
  expect(kept.bytes).toBeLessThanOrEqual(12_000);
  expect(kept.bytes).toBeGreaterThan(8_000);
  await ask(q, true, other);
  await ask('view | from 2026-11-01 to 2026-11-21 | count', true);
  expect(await countOf('hit')).toBe(2);
  await ask('view | from 2026-11-01 to 2026-11-10 | count', true);
  expect(await countOf('hit')).toBe(2);
});
