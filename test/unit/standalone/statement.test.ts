import { describe, expect, test } from 'vitest';
import { hasSubquery, parseStatement } from '../../../src/standalone/clickhouse-front/statement.js';

const insert = (table: string, columns: string[], format: string) => ({ kind: 'insert', table, columns, format });
const kill = (queryId: string, isParameter: boolean, sync: boolean, format?: string) => ({
  ...{ kind: 'kill', queryId, isParameter, sync, format },
});

test.each([
  ['INSERT INTO events FORMAT Native', insert('events', [], 'Native')],
  ['insert into db.`events` (a, `b c`)\nFORMAT JSONEachRow\n', insert('db.events', ['a', 'b c'], 'JSONEachRow')],
  ['INSERT INTO TABLE t(a) FORMAT CSV;', insert('t', ['a'], 'CSV')],
  ['-- why\n/* and how */ INSERT INTO t FORMAT TSV', insert('t', [], 'TSV')],
  // Rows in the statement, or none: the engine takes these as they are.
  ['INSERT INTO t VALUES (1)', { kind: 'other' }],
  ['INSERT INTO t FORMAT JSONEachRow {"a":1}', { kind: 'other' }],
  ['INSERT INTO t SELECT 1', { kind: 'other' }],
  ['CREATE TABLE t (a Int32) ENGINE = Memory', { kind: 'other' }],

  ['SELECT 1', { kind: 'read', format: undefined }],
  ['select 1\nformat JSONEachRow', { kind: 'read', format: 'JSONEachRow' }],
  ['WITH 1 AS a SELECT a FORMAT CSV SETTINGS max_threads = 1', { kind: 'read', format: 'CSV' }],
  ["SELECT 'FORMAT CSV'", { kind: 'read', format: undefined }],
  ['(SELECT 1) UNION ALL (SELECT 2)', { kind: 'read', format: undefined }],
  ['SHOW TABLES', { kind: 'read', format: undefined }],
  ['SELECTION', { kind: 'other' }],

  ["KILL QUERY WHERE query_id = 'lane-1'", kill('lane-1', false, false)],
  ["KILL QUERY WHERE query_id='lane-1' SYNC", kill('lane-1', false, true)],
  ['kill query where query_id = {id:String} async', kill('id', true, false)],
  ['KILL QUERY WHERE query_id = {id: String} SYNC \nFORMAT JSON', kill('id', true, true, 'JSON')],
  ['KILL MUTATION WHERE 1', { kind: 'other' }],
])('%s', (sql, expected) => {
  expect(parseStatement(sql)).toEqual(expected);
});

describe('a subquery', () => {
  test.each([
    ['SELECT 1', false],
    ['SELECT selected FROM selections', false],
    ['SELECT (SELECT 1)', true],
    ['SELECT a FROM t WHERE a IN (select b FROM u)', true],
  ])('%s: %s', (sql, expected) => {
    expect(hasSubquery(sql)).toBe(expected);
  });
});
