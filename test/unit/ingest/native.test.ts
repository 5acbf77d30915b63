// Native encoding of maps and arrays whose first rows have no entries.
import { expect, test } from 'vitest';
import { Float64Column, LowCardinalityArrayColumn, MapColumn } from '../../../packages/clickhouse-native/native.js';

/** The ends of the rows: they follow the version of the keys, which takes eight bytes. */
function endsOf(chunks: readonly Buffer[], rows: number): number[] {
  const bytes = Buffer.concat(chunks).subarray(8, 8 + 8 * rows);
  return Array.from({ length: bytes.length / 8 }, (_, row) => Number(bytes.readBigUInt64LE(8 * row)));
}

test.each([
  ['no rows', []],
  ['no entries at all', [0, 0, 0]],
  ['entries from the first row on', [2, 0, 1]],
  ['entries after rows without any', [0, 0, 3, 0, 1]],
])('maps and arrays with %s', (_, entriesOfRows) => {
  const map = new MapColumn(new Float64Column());
  const array = new LowCardinalityArrayColumn();
  const ends: number[] = [];
  for (const entries of entriesOfRows) {
    for (let entry = 0; entry < entries; entry += 1) {
      map.addKey(`key ${entry}`);
      map.values.add(entry);
      array.addItem(`key ${entry}`);
    }
    map.endRow();
    array.endRow();
    ends.push((ends.at(-1) ?? 0) + entries);
  }
  expect(endsOf(map.chunks(), entriesOfRows.length)).toEqual(ends);
  expect(endsOf(array.chunks(), entriesOfRows.length)).toEqual(ends);
});
