// External sort with folding: results do not depend on how many runs were written to files.
import { expect, test } from 'vitest';
import { FoldingSorter } from '../../../src/imports/folding-sorter.js';

const joined = {
  combine: (earlier: string, later: string) => `${earlier},${later}`,
  sizeOf: (text: string) => text.length,
};

async function sortAll(pairs: readonly (readonly [string, string])[], runBytesMax: number) {
  const sorter = new FoldingSorter(joined, runBytesMax);
  try {
    for (const [key, value] of pairs) await sorter.add(key, value);
    const entries: (readonly [string, string])[] = [];
    for await (const entry of sorter.entries()) entries.push(entry);
    return entries;
  } finally {
    await sorter.close();
  }
}

test('values of a key are combined in the order in which they were added', async () => {
  const pairs = ['b1', 'a1', 'b2', 'é1', 'a2', 'b3'].map((text) => [text.slice(0, 1), text] as const);
  const expected = [
    ['a', 'a1,a2'],
    ['b', 'b1,b2,b3'],
    ['é', 'é1'],
  ];
  for (const runBytesMax of [1, 150, 1e6]) expect(await sortAll(pairs, runBytesMax)).toEqual(expected);
  expect(await sortAll([], 1)).toEqual([]);
});

test('many keys in many runs equal one run', async () => {
  const pairs = Array.from({ length: 3000 }, (_, n) => [`key ${(n * 7919) % 500}\n"`, String(n)] as const);
  expect(await sortAll(pairs, 20_000)).toEqual(await sortAll(pairs, 1e9));
});
