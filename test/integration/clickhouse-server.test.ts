// Behaviour of ClickHouse that the service relies on: the query-id lock, the end of abandoned
// queries, one block per insert, errors in streams. Runs on the embedded server, which is
// ClickHouse's own.
import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { eventually } from '../support/eventually.js';

const ENDLESS = 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1';
const database = `test_${randomUUID().replaceAll('-', '')}`;
let client: ClickHouseClient;

beforeAll(async () => {
  const CLICKHOUSE_URL = inject('engines').clickhouse;
  const admin = createClickHouse({ CLICKHOUSE_URL, CLICKHOUSE_DATABASE: 'default' });
  await admin.command({ query: `CREATE DATABASE ${database}` });
  await admin.close();
  client = createClickHouse({ CLICKHOUSE_URL, CLICKHOUSE_DATABASE: database });
});

afterAll(async () => {
  await client.command({ query: `DROP DATABASE ${database} SYNC` });
  await client.close();
});

async function scalar(query: string): Promise<unknown> {
  const result = await client.query({ query, format: 'JSONCompact' });
  const { data } = await result.json<unknown[]>();
  return data[0]?.[0];
}

const runningOf = (marker: string) =>
  scalar(
    `SELECT toUInt32(count()) FROM system.processes WHERE query LIKE '%${marker}%' AND query NOT LIKE '%processes%'`,
  );

const untilRuns = (queryId: string): Promise<void> =>
  eventually(async () => {
    const count = await scalar(`SELECT toUInt32(count()) FROM system.processes WHERE query_id = '${queryId}'`);
    expect(count).toBe(1);
  });

describe('the query id of ClickHouse', () => {
  test('a second query with the id of a running one is refused, and accepted after its end', async () => {
    const query_id = randomUUID();
    const limited = { query: ENDLESS, query_id, clickhouse_settings: { max_execution_time: 2 } };
    const ended = expect(client.query(limited)).rejects.toMatchObject({ code: '159' });
    await untilRuns(query_id);
    await expect(client.query({ query: 'SELECT 1', query_id })).rejects.toMatchObject({ code: '216' });
    await ended;
    const again = await client.query({ query: 'SELECT 1', query_id });
    expect(again.query_id).toBe(query_id);
    again.close();
  });

  test('KILL QUERY … SYNC returns after the query has ended', async () => {
    const query_id = randomUUID();
    const endless = expect(client.query({ query: ENDLESS, query_id })).rejects.toMatchObject({ code: '394' });
    await untilRuns(query_id);
    const killed = await client.query({
      query: 'KILL QUERY WHERE query_id = {id:String} SYNC',
      query_params: { id: query_id },
      format: 'JSONEachRow',
    });
    expect(await killed.json()).toMatchObject([{ kill_status: 'finished', query_id }]);
    (await client.query({ query: 'SELECT 1', query_id })).close();
    await endless;
  });

  test('the id of an INSERT whose client disconnected stays in use until its rows are stored', async () => {
    await client.command({
      query:
        'CREATE TABLE slow_inbox (n UInt64, s UInt8 MATERIALIZED sleepEachRow(0.05)) ENGINE = MergeTree ORDER BY n',
    });
    const query_id = randomUUID();
    const abort = new AbortController();
    const values = Array.from({ length: 20 }, (_, n) => ({ n }));
    const slow = { table: 'slow_inbox', format: 'JSONEachRow', query_id } as const;
    const insert = client.insert({ ...slow, values, abort_signal: abort.signal });
    const rival = () => client.insert({ ...slow, values: [{ n: 100 }] });
    await untilRuns(query_id);
    abort.abort();
    await expect(insert).rejects.toThrow();
    await expect(rival()).rejects.toMatchObject({ code: '216' });
    await eventually(rival);
    expect(Number(await scalar('SELECT count() FROM slow_inbox'))).toBe(21);
  });
});

describe('a SELECT whose client disconnects', () => {
  const asReads = { readonly: '2' } as const;

  test('ends before it has sent rows', async () => {
    const marker = `left_${randomUUID()}`;
    const abort = new AbortController();
    const query = `SELECT '${marker}' FROM (${ENDLESS})`;
    const left = expect(
      client.query({ query, abort_signal: abort.signal, clickhouse_settings: asReads }),
    ).rejects.toThrow();
    await eventually(async () => expect(await runningOf(marker)).toBe(1));
    abort.abort();
    await left;
    await eventually(async () => expect(await runningOf(marker)).toBe(0));
  });

  test('ends while it sends rows', async () => {
    const marker = `stream_${randomUUID()}`;
    const query = `SELECT number, '${marker}', sleepEachRow(0.001) FROM numbers(1000000000000)`;
    const result = await client.query({
      query,
      format: 'JSONEachRow',
      clickhouse_settings: { ...asReads, max_block_size: '10' },
    });
    for await (const _ of result.stream()) break;
    await eventually(async () => expect(await runningOf(marker)).toBe(0));
  });
});

describe('a result stream', () => {
  test('rejects at the reader when the query fails after the first rows', async () => {
    const query = 'SELECT throwIf(number = 900000), number FROM numbers(1000000)';
    const drain = async () => {
      const result = await client.query({ query, format: 'JSONEachRow' });
      for await (const _ of result.stream());
    };
    await expect(drain()).rejects.toThrow();
    expect(await scalar('SELECT 42')).toBe(42);
  });
});

describe('an INSERT', () => {
  test('of 50,000 rows reaches a materialized view as one block, so the view drops duplicates within it', async () => {
    const columns = 'id UInt64, name String';
    await client.command({ query: `CREATE TABLE stored (${columns}) ENGINE = MergeTree ORDER BY id` });
    await client.command({ query: `CREATE TABLE inbox (${columns}) ENGINE = Null` });
    await client.command({
      query:
        'CREATE MATERIALIZED VIEW first_ones TO stored AS SELECT * FROM inbox WHERE id NOT IN (SELECT id FROM stored) LIMIT 1 BY id',
    });
    const values = Array.from({ length: 50_000 }, (_, index) => ({ id: index % 4000, name: `row ${index}` }));
    for (let round = 0; round < 2; round += 1) await client.insert({ table: 'inbox', values, format: 'JSONEachRow' });
    expect(await scalar('SELECT [toUInt32(count()), toUInt32(uniqExact(id))] FROM stored')).toEqual([4000, 4000]);
  });

  test('with unreadable rows is refused', async () => {
    await client.command({ query: 'CREATE TABLE typed (id UInt64) ENGINE = Memory' });
    const insert = client.insert({ table: 'typed', values: [{ id: 'x' }], format: 'JSONEachRow' });
    await expect(insert).rejects.toMatchObject({ code: '27' });
  });
});
