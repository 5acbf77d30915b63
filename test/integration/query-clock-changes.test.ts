// Time buckets around clock changes of every kind, compared with a count by Temporal of the same
// events: changes by half an hour or a quarter, days without midnight, a skipped day.
import { Temporal } from 'temporal-polyfill';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { compile } from '../../src/query/compile.js';
import { beginExecution } from '../../src/query-api/execute.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const projectId = toProjectId('01900000-0000-7000-8000-000000000001');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Zones and a day of each in UTC on which clocks change, or change nearby. */
const CHANGES: readonly (readonly [zone: string, day: string])[] = [
  ['Australia/Lord_Howe', '2025-10-04'],
  ['Australia/Lord_Howe', '2026-04-04'],
  ['Asia/Kathmandu', '1985-12-31'],
  ['America/Caracas', '2007-12-09'],
  ['America/Caracas', '2016-05-01'],
  ['Asia/Pyongyang', '2015-08-14'],
  ['Asia/Pyongyang', '2018-05-04'],
  ['Asia/Colombo', '1996-10-25'],
  ['Asia/Colombo', '2006-04-14'],
  ['Pacific/Apia', '2011-12-30'],
  ['America/Sao_Paulo', '2017-10-15'],
  ['America/Sao_Paulo', '2018-02-18'],
  ['Asia/Beirut', '2026-03-28'],
  ['Asia/Beirut', '2025-10-25'],
  ['America/Havana', '2026-03-08'],
  ['America/St_Johns', '2006-04-02'],
  ['Australia/Adelaide', '2026-04-04'],
  ['Asia/Gaza', '2020-03-27'],
  ['Asia/Gaza', '2020-10-23'],
  ['Europe/Lisbon', '2026-03-29'],
  ['Africa/Casablanca', '2026-02-15'],
  ['America/Scoresbysund', '2024-03-31'],
  ['Asia/Kolkata', '2026-03-29'],
];

const GROUPS = ['hour', 'day', 'week', 'month', 'hour_of_day', 'weekday'] as const;
type Buckets = Record<(typeof GROUPS)[number], number | string>;

type Minute = readonly [ms: number, buckets: Buckets];

const minutesOfRanges = new Map<string, readonly Minute[]>();

/** The buckets of every minute of the range, kept: Temporal takes longer than the queries. */
function minutesOf(range: TimeRange, zone: string): readonly Minute[] {
  const key = `${range.fromMs} ${range.toMs} ${zone}`;
  const minutes = minutesOfRanges.get(key) ?? [...readMinutes(range, zone)];
  minutesOfRanges.set(key, minutes);
  return minutes;
}

function* readMinutes({ fromMs, toMs }: TimeRange, zone: string): Generator<Minute> {
  const at = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);
  let startOfHour = 0;
  let last = at(fromMs - 61 * MINUTE_MS);
  for (let ms = fromMs - HOUR_MS; ms < toMs; ms += MINUTE_MS) {
    const time = at(ms);
    // An hour goes on behind a change of clocks unless they show a full hour, or another one.
    if (time.minute === 0 || time.hour !== last.hour) startOfHour = ms;
    last = time;
    if (ms < fromMs) continue;
    const date = time.toPlainDate();
    const buckets = {
      hour: new Date(startOfHour).toISOString(),
      day: date.toString(),
      week: date.subtract({ days: date.dayOfWeek - 1 }).toString(),
      month: date.with({ day: 1 }).toString(),
      hour_of_day: time.hour,
      weekday: date.dayOfWeek,
    };
    yield [ms, buckets];
  }
}

let databases: TestDatabases;
let clickhouse: ClickHouseClient;

const rangeOf = (day: string): TimeRange => ({ fromMs: Date.parse(day) - DAY_MS, toMs: Date.parse(day) + 2 * DAY_MS });

/** One event every 11 minutes, and none in every third hour. */
const hasEvent = (ms: number): boolean => (ms / MINUTE_MS) % 11 === 0 && Math.floor(ms / HOUR_MS) % 3 !== 0;

function eventTimes({ fromMs, toMs }: TimeRange): number[] {
  const minutes = Array.from({ length: (toMs - fromMs) / MINUTE_MS }, (_, minute) => fromMs + minute * MINUTE_MS);
  return minutes.filter(hasEvent);
}

beforeAll(async () => {
  databases = await createTestDatabases();
  clickhouse = createClickHouse(databases.config);
  for (const day of new Set(CHANGES.map(([, day]) => day))) {
    await clickhouse.command({
      query: `INSERT INTO events (project_id, event_type, time, insert_id, user_id)
        SELECT {project:UUID}, {day:String}, fromUnixTimestamp64Milli(ms), toString(ms), 'u'
        FROM (SELECT arrayJoin({times:Array(Int64)}) AS ms)`,
      query_params: { project: projectId, day, times: eventTimes(rangeOf(day)) },
    });
  }
});

afterAll(async () => {
  await clickhouse.close();
  await databases.close();
});

async function run(query: string, timezone: string): Promise<readonly (readonly unknown[])[]> {
  const nowMs = Date.parse('2026-11-01T00:00:00Z');
  const compiled = compile(query, { projectId, nowMs, timezone, limit: 10_000, offset: 0 });
  const limits = { timeoutMs: 20_000, memoryBytes: 1024 * 1024 * 1024 };
  const engine = { memoryBytes: limits.memoryBytes, threads: undefined, niceValue: 0 };
  const share = { current: () => engine, raiseMemory: async () => false };
  const log = createLogger({ process: 'test', level: 'fatal' });
  const asker = {
    ...{ requestId: 'test', signal: new AbortController().signal },
    ...{ share, deadlineMs: performance.now() + limits.timeoutMs },
  };
  return (await beginExecution({ clickhouse, limits, log }, asker).run(compiled.statement)).rows;
}

const read = (cell: unknown): string | number => {
  if (typeof cell === 'number') return cell;
  const text = String(cell);
  return /^\d{4}-\d\d-\d\d$/.test(text) ? text : new Date(text).toISOString();
};

const cyclic = (length: number, first: number): [number, number][] =>
  Array.from({ length }, (_, index) => [index + first, 0]);

test.each(CHANGES)('buckets of %s around %s', async (zone, day) => {
  const range = rangeOf(day);
  const expected = new Map(GROUPS.map((by) => [by, new Map<string | number, number>()]));
  expected.set('hour_of_day', new Map(cyclic(24, 0))).set('weekday', new Map(cyclic(7, 1)));
  for (const [ms, buckets] of minutesOf(range, zone)) {
    for (const [by, counts] of expected) counts.set(buckets[by], (counts.get(buckets[by]) ?? 0) + Number(hasEvent(ms)));
  }
  const within = `from "${new Date(range.fromMs).toISOString()}" to "${new Date(range.toMs).toISOString()}"`;
  for (const by of GROUPS) {
    // Of whole hours, where they are counted beforehand, and of events.
    for (const condition of ['', '| where insert_id exists']) {
      const rows = await run(`"${day}" | ${within} ${condition} | count by ${by}`, zone);
      expect(
        rows.map(([bucket, count]) => [read(bucket), count]),
        `${by} ${condition}`,
      ).toEqual([...(expected.get(by) ?? [])]);
    }
  }
});

test.each(CHANGES)('every source has the same buckets of %s around %s', async (zone, day) => {
  const { fromMs, toMs } = rangeOf(day);
  const within = `from "${new Date(fromMs).toISOString()}" to "${new Date(toMs).toISOString()}"`;
  const counts = await run(`"${day}" | ${within} | count by hour`, zone);
  expect(await run(`formula count("${day}") as events by hour | ${within}`, zone)).toEqual(counts);
  const starts = counts.map(([start]) => start);
  const unique = await run(`"${day}" | ${within} | unique by hour`, zone);
  expect(unique.map(([start]) => start)).toEqual(starts);
  expect(unique.map(([, people]) => people)).toEqual(counts.map(([, count]) => Math.min(1, Number(count))));
  const days = await run(`"${day}" | ${within} | count by day`, zone);
  const funnel = await run(`funnel "${day}" -> "${day}" | ${within} | window 1m | by day`, zone);
  expect([...new Set(funnel.map(([start]) => start))]).toEqual(days.map(([start]) => start));
});

/** Buckets of the range in their order, each with the number of its events that are of `events`. */
function bucketsOf(range: TimeRange, zone: string, by: 'hour' | 'day', events: TimeRange) {
  const counts = new Map<string | number, number>();
  for (const [ms, buckets] of minutesOf(range, zone)) {
    const isEvent = hasEvent(ms) && events.fromMs <= ms && ms < events.toMs;
    counts.set(buckets[by], (counts.get(buckets[by]) ?? 0) + Number(isEvent));
  }
  return [...counts];
}

const textOf = ({ fromMs, toMs }: TimeRange): string =>
  `from "${new Date(fromMs).toISOString()}" to "${new Date(toMs).toISOString()}"`;

test.each(CHANGES)('buckets of %s around %s are compared by their position in the range', async (zone, day) => {
  const range = rangeOf(day);
  // Mostly its buckets are evenly apart.
  const before = { fromMs: range.fromMs - 7 * DAY_MS, toMs: range.toMs - 7 * DAY_MS };
  const comparisons = [
    { current: range, earlier: before },
    { current: before, earlier: range },
  ];
  for (const { current, earlier } of comparisons) {
    for (const by of ['hour', 'day'] as const) {
      const earlierBuckets = bucketsOf(earlier, zone, by, range);
      const expected = bucketsOf(current, zone, by, range).map(([bucket, count], index) => {
        const [previous, previousCount] = earlierBuckets[index] ?? [null, null];
        return [bucket, previous, count, previousCount];
      });
      const compared = `${textOf(current)} | compare ${textOf(earlier)}`;
      for (const query of [
        `"${day}" | ${compared} | count by ${by}`,
        `formula count("${day}") by ${by} | ${compared}`,
      ]) {
        const rows = await run(query, zone);
        const found = rows.map(([bucket, previous, count, previousCount]) => [
          read(bucket),
          previous === null ? null : read(previous),
          count,
          previousCount,
        ]);
        expect(found, query).toEqual(expected);
      }
    }
  }
});

const skipping = CHANGES.filter(([zone]) => ['Pacific/Apia', 'America/Sao_Paulo', 'Europe/Lisbon'].includes(zone));

test.each(skipping)(
  'lifecycle and retention by day of %s around %s count the days that there are',
  async (zone, day) => {
    const range = rangeOf(day);
    const dayOf = (ms: number): string =>
      Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone).toPlainDate().toString();
    const days = [...new Set(eventTimes(range).map(dayOf))];
    const from = `from ${new Date(range.fromMs).toISOString()} to ${new Date(range.toMs).toISOString()}`;

    const lifecycle = await run(`lifecycle "${day}" by day | ${from}`, zone);
    expect(lifecycle.filter(([, , users]) => users === 1).map(([period, status]) => [period, status])).toEqual(
      days.map((one, index) => [one, index === 0 ? 'New' : 'Returning']),
    );
    expect(new Set(lifecycle.map(([period]) => period))).toEqual(new Set(days));

    const retention = await run(`retention "${day}" by day | ${from}`, zone);
    expect(retention.map(([cohort, , period, users]) => [cohort, period, users])).toEqual(
      days.map((_, index) => [days[0], index, 1]),
    );
  },
);

test('a cohort that begins behind a skipped day has its date', async () => {
  const from = 'from 2011-12-29 to 2012-01-02';
  const cohorts = await run(`retention "2011-12-30"[time > 2011-12-30T10:00:00Z] by day | ${from}`, 'Pacific/Apia');
  expect(cohorts[0]?.[0]).toBe('2011-12-31');
});
