// Limits of one query on the real engine: the error, and that the query really stops in the engine.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { createLogger } from '../../src/platform/log.js';
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
  const asker = { requestId: 'test', signal, share: shareOf(limits), deadlineMs: Date.now() + limits.timeoutMs };
  return beginExecution({ clickhouse, limits, log }, asker);
}

/** Hours of work, recognisable among the running queries by its number. */
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

test('an answer that would not fit into the process is refused', async () => {
  const row = 'SELECT repeat(toString(number % 10), 1000000) FROM numbers';
  await expect(begin().run({ sql: `${row}(10)`, params: {} })).resolves.toMatchObject({ rowsBeforeLimit: 10 });
  await expect(begin().run({ sql: `${row}(40)`, params: {} })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('list fewer rows'),
  });
});

test('counts of an answer are read from its end, even when its texts contain the same keys', async () => {
  const text = `\n\t"rows": 7,\n\n\t"rows_before_limit_at_least": 8\n}`;
  const sql = 'SELECT {text:String} AS text, number FROM numbers(30000) ORDER BY number DESC LIMIT {limit:UInt32}';
  for (const limit of [1, 9999]) {
    const answered = await begin().runForBytes({ sql, params: { text, limit } });
    expect(answered).toMatchObject({ rowCount: limit, rowsBeforeLimit: 30_000 });
    expect(parseResult(answered).rows).toHaveLength(limit);
  }
});

describe('the deadline', () => {
  test('ends the query with 504, says what to narrow, and stops the work', async () => {
    const startedAt = Date.now();
    await expect(begin({ timeoutMs: 300 }).run(endless(1))).rejects.toMatchObject({
      kind: 'timed_out',
      status: 504,
      message: expect.stringContaining('shorter time range'),
    });
    expect(Date.now() - startedAt).toBeLessThan(LIMITS.timeoutMs);
    await eventually(async () => expect(await countRunning(1)).toBe(0));
  });

  test('is one for all statements of a query', async () => {
    const timeoutMs = 3_000;
    const execution = begin({ timeoutMs });
    await delay(timeoutMs - 500);
    const startedAt = Date.now();
    await expect(execution.run(endless(2))).rejects.toMatchObject({ kind: 'timed_out' });
    // Half a second was left; a deadline of its own would be three.
    expect(Date.now() - startedAt).toBeLessThan(timeoutMs - 500);
  });
});

describe('a client that leaves', () => {
  test('ends its query', async () => {
    const gone = new AbortController();
    const running = begin({}, gone.signal).run(endless(3));
    const settled = expect(running).rejects.toBeInstanceOf(AnswerNotWanted);
    await eventually(async () => expect(await countRunning(3)).toBeGreaterThan(0));
    gone.abort();
    await settled;
    await eventually(async () => expect(await countRunning(3)).toBe(0));
  });
});

describe('limits', () => {
  test('of memory are a clear refusal', async () => {
    // An array of everything cannot be spilled to disk.
    const greedy = { sql: 'SELECT length(groupArray(toString(number))) FROM numbers(50000000)', params: {} };
    await expect(begin({ memoryBytes: 64 * 1024 * 1024 }).run(greedy)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('64 MiB'),
    });
  });

  test('of rows are a clear refusal', async () => {
    const wide = { sql: 'SELECT number FROM numbers(20000)', params: {} };
    await expect(begin().run(wide)).rejects.toMatchObject({ status: 400 });
  });

  test('of memory are reached only after spilling to disk', async () => {
    const groups = {
      sql: 'SELECT count() FROM (SELECT toString(number) AS g, count() FROM numbers(3000000) GROUP BY g)',
      params: {},
    };
    const result = await begin({ memoryBytes: 300 * 1024 * 1024 }).run(groups);
    expect(result.rows).toEqual([[3_000_000]]);
  });

  test('keep writes out', async () => {
    const write = { sql: "INSERT INTO device_map (device_id) VALUES ('x')", params: {} };
    await expect(begin().run(write)).rejects.toThrow();
  });
});

describe('answers', () => {
  test('tell what was read and how many rows there are before the limit', async () => {
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

  test('carry 64-bit integers as numbers, instants as RFC 3339, and no NaN', async () => {
    const values = { sql: "SELECT toUInt64(5), toDateTime64('2026-01-01 00:00:00.5', 3, 'UTC'), nan", params: {} };
    expect((await begin().run(values)).rows).toEqual([[5, '2026-01-01T00:00:00.500Z', null]]);
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
  ])('give back the parameter %j unchanged', async (value) => {
    const echo = { sql: 'SELECT {v:String}, {list:Array(String)}', params: { v: value, list: [value, 'x'] } };
    expect((await begin().run(echo)).rows).toEqual([[value, [value, 'x']]]);
  });

  test('say that a regular expression is not valid', async () => {
    const broken = { sql: 'SELECT match({text:String}, {pattern:String})', params: { text: 'x', pattern: '(' } };
    await expect(begin().run(broken)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('regular expression'),
    });
  });
});

test('an unavailable engine is 503', async () => {
  const away = createClickHouse({ CLICKHOUSE_URL: 'http://127.0.0.1:1', CLICKHOUSE_DATABASE: 'x' });
  const execution = beginExecution(
    { clickhouse: away, limits: LIMITS, log },
    {
      requestId: 'test',
      signal: new AbortController().signal,
      share: shareOf(LIMITS),
      deadlineMs: Date.now() + LIMITS.timeoutMs,
    },
  );
  await expect(execution.run({ sql: 'SELECT 1', params: {} })).rejects.toMatchObject({ status: 503 });
  await away.close();
});
