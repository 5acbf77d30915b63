// Lists of ids within the size limit of a ClickHouse parameter.
import { expect, test } from 'vitest';
import { inParameters } from '../../../src/platform/clickhouse/parameter-fields.js';

const LIMIT = 128 * 1024;
const parameterBytes = (ids: readonly string[]): number =>
  Buffer.byteLength(`['${ids.join("','").replaceAll('\\', '\\\\')}']`);

test.each<[string, string[]]>([
  ['nothing', []],
  ['one id', ['a']],
  ['ids of machines', Array.from({ length: 1500 }, (_, index) => `d2f1c1f0-0000-4000-8000-${index}`)],
  ['the longest ids', Array.from({ length: 1500 }, () => '😀'.repeat(512))],
  ['ids of escaped characters only', Array.from({ length: 1500 }, () => '\\'.repeat(512))],
])('inParameters() splits into lists below the limit, in order: %s', (_, ids) => {
  const lists = inParameters(ids);
  expect(lists.flat()).toEqual(ids);
  expect(lists.every((list) => list.length > 0)).toBe(true);
  expect(Math.max(0, ...lists.map(parameterBytes))).toBeLessThan(LIMIT);
});

test('inParameters() puts short ids into one list', () => {
  expect(inParameters(Array.from({ length: 1000 }, (_, index) => `device ${index}`))).toHaveLength(1);
});
