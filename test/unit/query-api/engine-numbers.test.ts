// Numbers of ClickHouse that JSON does not have, which it writes as texts.
import { expect, test } from 'vitest';
import { readRows } from '../../../src/query-api/engine-numbers.js';

const read = (type: string, value: unknown) =>
  readRows(Buffer.from(JSON.stringify({ meta: [{ type }, { type: 'String' }], data: [[value, 'inf']] })))[0]?.[0];

test.each<[string, unknown, unknown]>([
  ['Float64', 'inf', Number.POSITIVE_INFINITY],
  ['Nullable(Float64)', '-inf', Number.NEGATIVE_INFINITY],
  ['Nullable(Float64)', 'nan', Number.NaN],
  ['Nullable(Float64)', null, null],
  ['Float64', 1.5, 1.5],
  ['String', 'inf', 'inf'],
  ['Nullable(String)', 'nan', 'nan'],
  ['LowCardinality(String)', '-inf', '-inf'],
  ['UInt64', 7, 7],
])('readRows() reads %s %j as %s', (type, value, expected) => {
  expect(read(type, value)).toEqual(expected);
});

test('readRows() reads numbers within other values, and leaves the texts beside them', () => {
  expect(read('Array(Nullable(Float64))', ['inf', null, 2])).toEqual([Number.POSITIVE_INFINITY, null, 2]);
  const named = "Tuple(at DateTime64(3, 'UTC'), n Float64, name String)";
  expect(read(named, { at: 'inf', n: 'inf', name: 'inf' })).toEqual({
    at: 'inf',
    n: Number.POSITIVE_INFINITY,
    name: 'inf',
  });
  const maps = 'Tuple(Map(String, String), Map(LowCardinality(String), Float64), Array(String))';
  const value = JSON.parse('[{"inf": "nan"}, {"__proto__": "inf", "b": 1}, ["inf"]]');
  expect(JSON.stringify(read(maps, value))).toBe('[{"inf":"nan"},{"__proto__":null,"b":1},["inf"]]');
});
