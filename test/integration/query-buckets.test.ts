// Time buckets: counts from the hourly projection equal counts from the events for any range, zone
// and granularity; every bucket of a range appears once; and buckets add up to the total.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { type CompileContext, compile } from '../../src/query/compile.js';
import { GRANULARITIES } from '../../src/query/fields.js';
import type { EngineResult } from '../../src/query-api/engine-answer.js';
import { beginExecution } from '../../src/query-api/execute.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const projectId = toProjectId('01900000-0000-7000-8000-000000000001');
const FROM_MS = Date.parse('2026-02-20T00:00:00Z');
const TO_MS = Date.parse('2026-04-20T00:00:00Z');
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Asia/Kolkata',
  'Africa/Cairo',
];

let databases: TestDatabases;
let clickhouse: ClickHouseClient;

beforeAll(async () => {
  databases = await createTestDatabases();
  clickhouse = createClickHouse(databases.config);
  // One event every 251 s through the change of clocks in New York (8 March) and Berlin (29 March).
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_type, time, insert_id, user_id)
      SELECT {project:UUID}, ['a', 'b', 'c'][1 + number % 3], toDateTime64({from:UInt64} + number * 251, 3, 'UTC'),
        toString(number), toString(number % 50)
      FROM numbers(20000)`,
    query_params: { project: projectId, from: FROM_MS / 1000 },
  });
});

afterAll(async () => {
  await clickhouse.close();
  await databases.close();
});

async function run(query: string, context: Partial<CompileContext> = {}): Promise<EngineResult> {
  const compiled = compile(query, { projectId, nowMs: TO_MS, timezone: 'UTC', limit: 10_000, offset: 0, ...context });
  const limits = { timeoutMs: 20_000, memoryBytes: 1024 * 1024 * 1024 };
  const engine = { memoryBytes: limits.memoryBytes, threads: undefined, niceValue: 0 };
  const share = { current: () => engine, raiseMemory: async () => false };
  const log = createLogger({ process: 'test', level: 'fatal' });
  const asker = {
    ...{ requestId: 'test', signal: new AbortController().signal },
    ...{ share, deadlineMs: performance.now() + limits.timeoutMs },
  };
  return beginExecution({ clickhouse, limits, log }, asker).run(compiled.statement);
}

const instant = fc.integer({ min: FROM_MS / 60_000, max: TO_MS / 60_000 }).map((minutes) => minutes * 60_000);
const range = fc
  .tuple(instant, instant)
  .filter(([a, b]) => a !== b)
  .map(([a, b]) => ({ from: new Date(Math.min(a, b)).toISOString(), to: new Date(Math.max(a, b)).toISOString() }));

// A random range has too many minutes.
const LONG_GRANULARITIES = GRANULARITIES.filter((granularity) => granularity !== 'minute');

// True for every event, and unknown to the hourly counts.
const BY_EVENTS = 'where insert_id exists';

describe('counts from the hourly projection', () => {
  test('equal counts from the events', async () => {
    const question = fc.record({
      range,
      timezone: fc.constantFrom(...ZONES),
      source: fc.constantFrom('*', 'a'),
      groups: fc.constantFrom(...LONG_GRANULARITIES, 'event_type', 'day, event_type', 'event_type, hour'),
    });
    await fc.assert(
      fc.asyncProperty(question, async ({ range: { from, to }, timezone, source, groups }) => {
        const stages = `from "${from}" to "${to}" | count by ${groups}`;
        const fromHours = await run(`${source} | ${stages}`, { timezone });
        const fromEvents = await run(`${source} | ${BY_EVENTS} | ${stages}`, { timezone });
        expect(fromHours.rows).toEqual(fromEvents.rows);
      }),
      { numRuns: 40 },
    );
  });

  test('read less than half of the rows', async () => {
    const stages = 'last 50d | count by day';
    const fromHours = await run(`* | ${stages}`);
    const fromEvents = await run(`* | ${BY_EVENTS} | ${stages}`);
    expect(fromHours.rowsScanned).toBeLessThan(fromEvents.rowsScanned / 2);
  });
});

describe('time buckets', () => {
  test('add up to the total', async () => {
    await fc.assert(
      fc.asyncProperty(
        range,
        fc.constantFrom(...ZONES),
        fc.constantFrom(...LONG_GRANULARITIES),
        async (within, timezone, by) => {
          const stages = `from "${within.from}" to "${within.to}"`;
          const [total] = (await run(`* | ${stages} | count`)).rows;
          const buckets = (await run(`* | ${stages} | count by ${by}`, { timezone })).rows;
          expect(buckets.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(total?.[0]);
          const starts = buckets.map(([start]) => start as string | number);
          expect(starts).toEqual([...new Set(starts)].sort((a, b) => (a < b ? -1 : 1)));
        },
      ),
      { numRuns: 30 },
    );
  });

  test.each([
    ['a day of 23 hours', 'Europe/Berlin', '2026-03-29', '2026-03-30', 'hour', 23],
    ['an ordinary day', 'Europe/Berlin', '2026-03-30', '2026-03-31', 'hour', 24],
    ['a day of 23 hours in New York', 'America/New_York', '2026-03-08', '2026-03-09', 'hour', 23],
    ['March', 'Europe/Berlin', '2026-03-01', '2026-04-01', 'day', 31],
    ['weeks that March touches', 'Europe/Berlin', '2026-03-01', '2026-04-01', 'week', 6],
    ['two months', 'Pacific/Kiritimati', '2026-03-01', '2026-05-01', 'month', 2],
    ['an hour of minutes', 'Asia/Kolkata', '2026-03-30T10:00', '2026-03-30T11:00', 'minute', 60],
    ['years that a night touches', 'UTC', '2025-12-31T23:00', '2026-01-01T01:00', 'year', 2],
    ['an hour, by weekday', 'UTC', '2026-03-30T10:00', '2026-03-30T11:00', 'weekday', 7],
    ['an hour, by hour of day', 'UTC', '2026-03-30T10:00', '2026-03-30T11:00', 'hour_of_day', 24],
    ['a year of quarters', 'UTC', '2026-01-01', '2027-01-01', 'quarter', 4],
  ])('cover %s completely', async (_, timezone, from, to, by, count) => {
    const { rows, rowsBeforeLimit } = await run(`* | from ${from} to ${to} | count by ${by}`, { timezone });
    expect(rows).toHaveLength(count);
    expect(rowsBeforeLimit).toBe(count);
  });

  test('include empty ones, also in the total of a page', async () => {
    const { rows, rowsBeforeLimit } = await run('nothing | last 30d | unique by day', { limit: 5, offset: 10 });
    expect(rows.map(([, count]) => count)).toEqual([0, 0, 0, 0, 0]);
    // The clock is at midnight, so the range touches no 31st day.
    expect(rowsBeforeLimit).toBe(30);
  });
});

test.each([
  ['0.1', [0.3, 0.29999999999, -0.1, 99999999.95], [-0.1, 0.2, 0.3, 99999999.9]],
  ['10', [9.999999999, -1e-9, 1e15], [-10, 0, 1e15]],
  ['0.000001', [-959.749, 0.000001], [-959.749, 0.000001]],
  ['2.5', [1e15, 7.5, 1e20], [7.5, 1e15, 1e20]],
])('numbers in steps of %s are in the step that begins at or below them', async (width, numbers, edges) => {
  const type = `steps of ${width}`;
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_type, time, insert_id, user_id, ep_num)
      SELECT {project:UUID}, {type:String}, toDateTime64('2025-01-01', 3, 'UTC'), toString(n), 'u', map('n', n)
      FROM (SELECT arrayJoin({numbers:Array(Float64)}) AS n)`,
    query_params: { project: projectId, type, numbers },
  });
  const { rows } = await run(`"${type}" | from 2025-01-01 to 2025-01-02 | count by bucket(n, ${width})`);
  expect(rows.map(([edge]) => edge)).toEqual(edges);
});
