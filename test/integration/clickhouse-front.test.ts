// The embedded engine behaves towards @clickhouse/client as a server does.
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.js';

const ENDLESS = 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1';
const database = `front_${randomUUID().replaceAll('-', '')}`;
let url: string;
let client: ClickHouseClient;

const connect = (options: { database?: string } = {}): ClickHouseClient =>
  createClient({ url, log: { level: ClickHouseLogLevel.OFF }, ...options });

beforeAll(async () => {
  url = inject('engines').clickhouse;
  const admin = connect();
  await admin.command({ query: `CREATE DATABASE ${database}` });
  await admin.close();
  client = connect({ database });
});

afterAll(async () => {
  await client.command({ query: `DROP DATABASE ${database} SYNC` });
  await client.close();
});

async function scalar(query: string, parameters: Record<string, unknown> = {}): Promise<unknown> {
  const result = await client.query({ query, query_params: parameters, format: 'JSONCompact' });
  const { data } = await result.json<unknown[]>();
  return data[0]?.[0];
}

const post = (query: string, init: RequestInit = {}, settings: Record<string, string> = {}) =>
  fetch(`${url}/?${new URLSearchParams({ database, query, ...settings })}`, { method: 'POST', ...init });

describe('parameters', () => {
  test.each([
    ['quotes', 'String', `it's "quoted" \`so\``],
    ['backslashes and control characters', 'String', 'a\\b\tc\nd\re\\n'],
    ['any script', 'String', 'größe 大小 😀'],
    ['nothing at all', 'String', ''],
    ['what looks like SQL', 'String', `'); DROP TABLE t; -- {x:String}`],
    ['arrays of awkward text', 'Array(String)', ["a'b", 'c\\d', 'e,f]', '']],
    ['null', 'Nullable(String)', null],
    ['maps', 'Map(String, Float64)', { "a'": 1.5 }],
    ['booleans', 'Bool', true],
  ])('carry %s', async (_name, type, value) => {
    expect(await scalar(`SELECT {x:${type}}`, { x: value })).toEqual(value);
  });

  test('may be longer than a URL', async () => {
    const ids = Array.from({ length: 20_000 }, (_, index) => `device-${index}`);
    const result = await client.query({
      query: 'SELECT length({ids:Array(String)}) AS n',
      query_params: { ids },
      use_multipart_params: true,
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ n: 20000 }]);
  });

  test('of one request are unknown to the next', async () => {
    await scalar('SELECT {forgotten:String}', { forgotten: 'secret' });
    await expect(scalar('SELECT {forgotten:String}')).rejects.toMatchObject({ code: '456' });
    await expect(scalar('SELECT {forgotten:String}', { other: '1' })).rejects.toMatchObject({ code: '456' });
  });
});

describe('settings', () => {
  const threads = async (settings: Record<string, string | number>) => {
    const query = "SELECT getSetting('max_threads') AS n, getSetting('max_block_size') AS b";
    const result = await client.query({ query, clickhouse_settings: settings, format: 'JSONEachRow' });
    return (await result.json<{ n: number; b: number }>())[0];
  };

  test('hold for their own request only', async () => {
    const defaults = await threads({});
    expect(await threads({ max_threads: 7, max_block_size: '123' })).toEqual({ n: 7, b: 123 });
    expect(await threads({})).toEqual(defaults);
  });

  test('readonly holds and does not stay', async () => {
    const create = { query: 'CREATE TABLE readonly_probe (a Int32) ENGINE = Memory' };
    for (const readonly of ['1', '2']) {
      await expect(client.command({ ...create, clickhouse_settings: { readonly } })).rejects.toMatchObject({
        code: '164',
      });
    }
    await client.command(create);
  });

  test('a database is the one of the request', async () => {
    const other = connect({ database: 'system' });
    const result = await other.query({ query: 'SELECT currentDatabase() AS d', format: 'JSONEachRow' });
    expect(await result.json()).toEqual([{ d: 'system' }]);
    await other.close();
    expect(await scalar('SELECT currentDatabase()')).toBe(database);
  });
});

describe('errors', () => {
  test.each([
    ['SELECTT 1', '62', 'SYNTAX_ERROR'],
    ['SELECT * FROM absent', '60', 'UNKNOWN_TABLE'],
    ['SELECT throwIf(1)', '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
    [`${ENDLESS} SETTINGS max_execution_time = 0.2`, '159', 'TIMEOUT_EXCEEDED'],
  ])('%s → %s', async (query, code, type) => {
    await expect(scalar(query)).rejects.toMatchObject({ code, type });
  });

  test('leave nothing behind for the next answer', async () => {
    // Rows have been produced when this fails; they must not come out later.
    const failing = 'SELECT throwIf(number = 5) FROM numbers(10) SETTINGS max_block_size = 1';
    for (let round = 0; round < 5; round++) {
      await expect(scalar(failing)).rejects.toMatchObject({ code: '395' });
      expect(await scalar('SELECT 42')).toBe(42);
    }
  });

  test('have the status and the header of a server', async () => {
    const response = await post('SELECT * FROM absent');
    expect(response.status).toBe(404);
    expect(response.headers.get('x-clickhouse-exception-code')).toBe('60');
    expect(await response.text()).toMatch(/^Code: 60\. DB::Exception: .*\(UNKNOWN_TABLE\)\n$/);
  });

  test('sessions are refused', async () => {
    expect((await post('SELECT 1', {}, { session_id: 'x' })).status).toBe(501);
  });
});

describe('results', () => {
  test('tell what was read', async () => {
    const result = await client.query({
      query: 'SELECT count() FROM numbers(12345) WHERE number % 2',
      format: 'JSONCompact',
    });
    const { statistics } = await result.json<unknown[]>();
    expect(statistics?.rows_read).toBe(12_345);
    expect(JSON.parse(String(result.response_headers['x-clickhouse-summary']))).toMatchObject({ read_rows: '12345' });
  });

  test('of any length are streamed', async () => {
    const result = await client.query({ query: 'SELECT number FROM numbers(1000000)', format: 'JSONEachRow' });
    let count = 0;
    for await (const rows of result.stream()) count += rows.length;
    expect(count).toBe(1_000_000);
  });

  test('that fail after the first rows fail at the reader', async () => {
    const query = 'SELECT throwIf(number = 900000), number FROM numbers(1000000)';
    const result = await client.query({ query, format: 'JSONEachRow' });
    const drain = async () => {
      for await (const _ of result.stream());
    };
    await expect(drain()).rejects.toMatchObject({ code: '395' });
  });

  test('do not wait for a slow subquery of someone else', async () => {
    const slow = client.query({
      query: `SELECT (${ENDLESS}) AS n`,
      format: 'JSONEachRow',
      clickhouse_settings: { max_execution_time: 2 },
    });
    const startedAt = performance.now();
    expect(await scalar('SELECT 1')).toBe(1);
    expect(performance.now() - startedAt).toBeLessThan(1500);
    await expect(slow).rejects.toMatchObject({ code: '159' });
  });
});

describe('a query id', () => {
  const runningQueries = () => scalar("SELECT count() FROM system.processes WHERE query LIKE '%1000000000000%'");

  test('is refused while it runs, and free afterwards', async () => {
    const query_id = randomUUID();
    const first = client.query({ query: ENDLESS, query_id, clickhouse_settings: { max_execution_time: 1 } });
    await eventually(async () => {
      await expect(client.query({ query: 'SELECT 1', query_id })).rejects.toMatchObject({ code: '216' });
    });
    await expect(first).rejects.toMatchObject({ code: '159' });
    const again = await client.query({ query: 'SELECT 1', query_id });
    expect(again.query_id).toBe(query_id);
    again.close();
  });

  test('can be killed: when KILL … SYNC has answered, it is gone', async () => {
    const query_id = randomUUID();
    const endless = expect(client.query({ query: ENDLESS, query_id })).rejects.toMatchObject({ code: '394' });
    await eventually(async () => {
      await expect(client.query({ query: 'SELECT 1', query_id })).rejects.toMatchObject({ code: '216' });
    });
    const killed = await client.query({
      query: 'KILL QUERY WHERE query_id = {id:String} SYNC',
      query_params: { id: query_id },
      format: 'JSONEachRow',
    });
    expect(await killed.json()).toEqual([
      { kill_status: 'finished', query_id, user: 'default', query: expect.anything() },
    ]);
    (await client.query({ query: 'SELECT 1', query_id })).close();
    await endless;
  });

  test('of a SELECT whose client left is ended in the engine', async () => {
    const abort = new AbortController();
    const left = client.query({ query: `SELECT 1 FROM (${ENDLESS})`, abort_signal: abort.signal });
    await eventually(async () => expect(Number(await runningQueries())).toBeGreaterThan(1));
    abort.abort();
    await expect(left).rejects.toThrow();
    // The query that counts finds itself.
    await eventually(async () => expect(Number(await runningQueries())).toBe(1));
  });

  test('of a stream whose reader left is ended in the engine', async () => {
    const query = 'SELECT number, sleepEachRow(0.001) FROM numbers(1000000000000)';
    const result = await client.query({ query, format: 'JSONEachRow', clickhouse_settings: { max_block_size: '10' } });
    for await (const _ of result.stream()) break;
    await eventually(async () => expect(Number(await runningQueries())).toBe(1));
  });

  test('of an INSERT whose client left stays taken until its rows are in', async () => {
    await client.command({
      query:
        'CREATE TABLE slow_inbox (n UInt64, s UInt8 MATERIALIZED sleepEachRow(0.05)) ENGINE = MergeTree ORDER BY n',
    });
    const query_id = randomUUID();
    const abort = new AbortController();
    const values = Array.from({ length: 20 }, (_, n) => ({ n }));
    const insert = client.insert({
      table: 'slow_inbox',
      values,
      format: 'JSONEachRow',
      query_id,
      abort_signal: abort.signal,
    });
    const rival = () => client.insert({ table: 'slow_inbox', values: [{ n: 100 }], format: 'JSONEachRow', query_id });
    await eventually(async () => expect(rival()).rejects.toMatchObject({ code: '216' }));
    abort.abort();
    await expect(insert).rejects.toThrow();
    await expect(rival()).rejects.toMatchObject({ code: '216' });
    await eventually(rival);
    expect(await scalar('SELECT count() FROM slow_inbox')).toBe(21);
  });
});

describe('inserts', () => {
  beforeAll(async () => {
    const columns = "id UInt64, name LowCardinality(String), note String DEFAULT 'none'";
    await client.command({ query: `CREATE TABLE stored (${columns}) ENGINE = MergeTree ORDER BY id` });
    await client.command({ query: `CREATE TABLE inbox (${columns}) ENGINE = Null` });
    await client.command({
      query:
        'CREATE MATERIALIZED VIEW first_ones TO stored AS SELECT * FROM inbox WHERE id NOT IN (SELECT id FROM stored) LIMIT 1 BY id',
    });
  });

  async function bodyOf(query: string, format: string): Promise<Buffer> {
    const response = await post(`${query} FORMAT ${format}`);
    return Buffer.from(await response.arrayBuffer());
  }

  test('of several Native blocks reach the table as one', async () => {
    const first = await bodyOf("SELECT number AS id, 'first' AS name FROM numbers(3000)", 'Native');
    const second = await bodyOf("SELECT number AS id, 'second' AS name FROM numbers(4000)", 'Native');
    const body = Buffer.concat([first, second, first]);
    for (let round = 0; round < 2; round++) {
      expect((await post('INSERT INTO inbox (id, name) FORMAT Native', { body })).status).toBe(200);
    }
    const counts = "SELECT [count(), uniqExact(id), countIf(name = 'first'), countIf(note = 'none')] FROM stored";
    expect(await scalar(counts)).toEqual([4000, 4000, 3000, 4000]);
  });

  test.each([
    ['Native', '(id, name)'],
    ['Native', ''],
    ['RowBinary', '(id, name)'],
    ['JSONCompactEachRow', '(id, name)'],
    ['CSV', '(id, name)'],
    ['JSONEachRow', ''],
  ])('take %s %s', async (format, columns) => {
    const table = `into_${format}_${columns === '' ? 'all' : 'some'}`;
    await client.command({
      query: `CREATE TABLE ${table} (id UInt64, name String, at Date DEFAULT '2020-01-01') ENGINE = Memory`,
    });
    const body = await bodyOf("SELECT toUInt64(7) AS id, 'größe' AS name", format);
    expect((await post(`INSERT INTO ${table} ${columns} FORMAT ${format}`, { body })).status).toBe(200);
    expect(await scalar(`SELECT [toString(id), name, toString(at)] FROM ${table}`)).toEqual([
      '7',
      'größe',
      '2020-01-01',
    ]);
  });

  test('may be compressed', async () => {
    await client.command({ query: 'CREATE TABLE compressed (id UInt64) ENGINE = Memory' });
    const body = gzipSync('{"id":1}\n{"id":2}\n');
    const headers = { 'content-encoding': 'gzip' };
    expect((await post('INSERT INTO compressed FORMAT JSONEachRow', { body, headers })).status).toBe(200);
    expect(await scalar('SELECT sum(id) FROM compressed')).toBe(3);
  });

  test('that cannot be read are refused', async () => {
    expect((await post('INSERT INTO inbox FORMAT Native', { body: 'nonsense' })).status).not.toBe(200);
    expect((await post('INSERT INTO inbox FORMAT JSONEachRow', { body: '{"id":"x"}' })).status).toBe(400);
    expect((await post('INSERT INTO inbox FORMAT Avro', { body: 'x' })).status).toBe(501);
  });
});
