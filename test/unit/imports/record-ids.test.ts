// Insert ids of records: the same for what two exports of one event write in another order.
import { expect, test } from 'vitest';
import { RecordIds } from '../../../src/imports/record-ids.js';

test('the order of fields does not change an id, at any depth', () => {
  const ids = new RecordIds('x');
  const record = { a: [{ b: 1, c: { d: 2, e: [3, 4] } }], f: null };
  for (const other of [
    { f: null, a: [{ b: 1, c: { d: 2, e: [3, 4] } }] },
    { a: [{ c: { d: 2, e: [3, 4] }, b: 1 }], f: null },
    { a: [{ b: 1, c: { e: [3, 4], d: 2 } }], f: null },
  ])
    expect(ids.ofContent(other)).toBe(ids.ofContent(record));
  expect(ids.ofContent({ a: [{ b: 1, c: { d: 2, e: [4, 3] } }], f: null })).not.toBe(ids.ofContent(record));
});
