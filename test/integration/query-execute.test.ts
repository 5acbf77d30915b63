// Limits of one query on the real engine: the error, and that the query really stops in the engine.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { compile } from '../../src/query/compile.js';
import { parseResult } from '../../src/query-api/engine-answer.js';
import { AnswerNotWanted } from '../../src/query-api/engine-failures.js';
import { beginExecution, type EngineLimits, type Execution, type QueryCaller } from '../../src/query-api/execute.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let clickhouse: ClickHouseClient;
const log = createLogger({ process: 'test', level: 'fatal' });
const LIMITS: EngineLimits = { timeoutMs: 10_000, memoryBytes: 512 * 1024 * 1024 };

beforeAll(async () => {
  databases = await createTestDatabases();
  clickhouse = createClickHouse(databases.config);
});

afterAll(async () => {
  await clickhouse.close();
  await databases.close();
});

const shareOf = ({ memoryBytes }: EngineLimits): QueryCaller['share'] => ({
  current: () => ({ memoryBytes, threads: undefined, niceValue: 0 }),
  raiseMemory: async () => false,
});

function begin(changes: Partial<EngineLimits> = {}, signal = new AbortController().signal): Execution {
  const limits = { ...LIMITS, ...changes };
  const caller = {
    requestId: 'test',
    signal,
    share: shareOf(limits),
    deadlineMs: performance.now() + limits.timeoutMs,
  };
  return beginExecution({ clickhouse, limits, log }, caller);
}

/** A query of hours, recognisable among the running queries by `mark`. */
const endless = (mark: number) => ({
  sql: `SELECT count() FROM numbers_mt(1000000000000) WHERE sipHash64(number) = ${mark}`,
  params: {},
});

async function countRunning(mark: number): Promise<number> {
  const result = await clickhouse.query({
    query: `SELECT count() AS running FROM system.processes WHERE query LIKE '%sipHash64(number) = ' || {mark:String} || '%' AND query NOT LIKE '%system.processes%'`,
    query_params: { mark: String(mark) },
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ running: string | number }>();
  return Number(row?.running);
}

test('an answer that is too large for the process is refused', async () => {
  const row = 'SELECT repeat(toString(number % 10), 1000000) FROM numbers';
  await expect(begin().run({ sql: `${row}(10)`, params: {} })).resolves.toMatchObject({ rowsBeforeLimit: 10 });
  await expect(begin().run({ sql: `${row}(40)`, params: {} })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('list fewer rows'),
  });
});

test('an experiment of more variants than rows is refused with the limit', async () => {
  const projectId = toProjectId('01900000-0000-7000-8000-000000000001');
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_type, time, insert_id, user_id, ep_str)
      SELECT {project:UUID}, 'service.exposure', now64(3) - 60, toString(number), toString(number),
        map('choice_key', 'color', 'variant_key', toString(number))
      FROM numbers(50000)`,
    query_params: { project: projectId },
  });
  const text = 'choice color | results a | window 1d | unit user_id';
  const compiled = compile(text, { projectId, nowMs: Date.now(), timezone: 'UTC', limit: 100, offset: 0 });
  await expect(begin().run(compiled.statement)).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('computed from more than 10000 rows, the limit of one query; an experiment'),
  });
});

test('row counts are read from the end of the answer, even when its texts contain the same keys', async () => {
  const text = `\n\t"rows": 7,\n\n\t"rows_before_limit_at_least": 8\n}`;
  const sql = 'SELECT {text:String} AS text, number FROM numbers(30000) ORDER BY number DESC LIMIT {limit:UInt32}';
  for (const limit of [1, 9999]) {
    const answered = await begin().runForBytes({ sql, params: { text, limit } });
    expect(answered).toMatchObject({ rowCount: limit, rowsBeforeLimit: 30_000 });
    expect(parseResult(answered).rows).toHaveLength(limit);
  }
});

describe('the deadline of a query', () => {
  test('answers 504 with advice and stops the query in ClickHouse', async () => {
    const later = new AbortController();
    const ended: string[] = [];
    const ofLater = begin({ timeoutMs: 60_000 }, later.signal)
      .run(endless(4))
      .catch(() => ended.push('later'));
    await expect(begin({ timeoutMs: 300 }).run(endless(1))).rejects.toMatchObject({
      kind: 'timed_out',
      status: 504,
      message: expect.stringContaining('shorter time range'),
    });
    expect(ended).toEqual([]);
    later.abort();
    await ofLater;
    await eventually(async () => expect([await countRunning(1), await countRunning(4)]).toEqual([0, 0]));
  });

  test('is shared by all statements of the query', async () => {
    const timeoutMs = 3_000;
    const execution = begin({ timeoutMs });
    await delay(timeoutMs - 500);
    // Half a second is left of its deadline, and three seconds of the deadline of the other one.
    const ended: string[] = [];
    const endOf = (name: string, run: Promise<unknown>) => run.catch(({ kind }) => ended.push(`${name} ${kind}`));
    await Promise.all([
      endOf('another query', begin({ timeoutMs }).run(endless(5))),
      endOf('second statement', execution.run(endless(2))),
    ]);
    expect(ended).toEqual(['second statement timed_out', 'another query timed_out']);
  });
});

describe('a client that disconnects', () => {
  test('stops its query in ClickHouse', async () => {
    const gone = new AbortController();
    const running = begin({}, gone.signal).run(endless(3));
    const settled = expect(running).rejects.toBeInstanceOf(AnswerNotWanted);
    await eventually(async () => expect(await countRunning(3)).toBeGreaterThan(0));
    gone.abort();
    await settled;
    await eventually(async () => expect(await countRunning(3)).toBe(0));
  });
});

describe('limits of a query', () => {
  test('answer 400 with the limit when memory is exceeded', async () => {
    // An array of everything cannot be spilled to disk.
    const greedy = { sql: 'SELECT length(groupArray(toString(number))) FROM numbers(50000000)', params: {} };
    await expect(begin({ memoryBytes: 64 * 1024 * 1024 }).run(greedy)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('64 MiB'),
    });
  });

  test('answer 400 when rows are exceeded', async () => {
    const wide = { sql: 'SELECT number FROM numbers(20000)', params: {} };
    await expect(begin().run(wide)).rejects.toMatchObject({ status: 400 });
  });

  test('let large groups spill to disk before memory is exceeded', async () => {
    const groups = {
      sql: 'SELECT count() FROM (SELECT toString(number) AS g, count() FROM numbers(3000000) GROUP BY g)',
      params: {},
    };
    const result = await begin({ memoryBytes: 300 * 1024 * 1024, timeoutMs: 50_000 }).run(groups);
    expect(result.rows).toEqual([[3_000_000]]);
  });

  test('refuse statements that write', async () => {
    const write = { sql: "INSERT INTO device_map (device_id) VALUES ('x')", params: {} };
    await expect(begin().run(write)).rejects.toThrow();
  });
});

describe('the result of a query', () => {
  test('contains rows read and the number of rows before the limit', async () => {
    const paged = {
      sql: 'SELECT number % 10 AS g, count() AS c FROM numbers(1000) GROUP BY g ORDER BY g LIMIT {n:UInt64}',
      params: { n: 3 },
    };
    expect(await begin().run(paged)).toEqual({
      rows: [
        [0, 100],
        [1, 100],
        [2, 100],
      ],
      rowsBeforeLimit: 10,
      rowsScanned: 1000,
    });
  });

  test('contains 64-bit integers as numbers, times as RFC 3339, NaN and infinity', async () => {
    const values = {
      sql: "SELECT toUInt64(5), toDateTime64('2026-01-01 00:00:00.5', 3, 'UTC'), nan, -inf, 'inf'",
      params: {},
    };
    const row = [5, '2026-01-01T00:00:00.500Z', Number.NaN, Number.NEGATIVE_INFINITY, 'inf'];
    expect((await begin().run(values)).rows).toEqual([row]);
  });

  test.each([
    "it's",
    'a\\b',
    'tab\there',
    'line\nbreak',
    "'); DROP TABLE events; --",
    '{p1:String}',
    '%00',
    '\u0000',
    '😀',
    '\\N',
  ])('returns the parameter %j unchanged', async (value) => {
    const echo = { sql: 'SELECT {v:String}, {list:Array(String)}', params: { v: value, list: [value, 'x'] } };
    expect((await begin().run(echo)).rows).toEqual([[value, [value, 'x']]]);
  });

  test('reports an invalid regular expression as 400', async () => {
    const broken = { sql: 'SELECT match({text:String}, {pattern:String})', params: { text: 'x', pattern: '(' } };
    await expect(begin().run(broken)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('regular expression'),
    });
  });
});

test('answers 503 when ClickHouse is unavailable', async () => {
  const unavailable = createClickHouse({ CLICKHOUSE_URL: 'http://127.0.0.1:1', CLICKHOUSE_DATABASE: 'x' });
  const execution = beginExecution(
    { clickhouse: unavailable, limits: LIMITS, log },
    {
      requestId: 'test',
      signal: new AbortController().signal,
      share: shareOf(LIMITS),
      deadlineMs: performance.now() + LIMITS.timeoutMs,
    },
  );
  await expect(execution.run({ sql: 'SELECT 1', params: {} })).rejects.toMatchObject({ status: 503 });
  await unavailable.close();
});
