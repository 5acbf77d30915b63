// Lists that leave a thread as texts.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readList, writeList } from '../../../src/platform/threads/list-texts.js';

test('a list arrives in its order', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), fc.integer({ min: 0, max: 3 }), async (values, long) => {
      const list = [...values, ...Array.from({ length: long }, () => 'é'.repeat(20_000)), ...values];
      expect(await readList(writeList(list))).toEqual(JSON.parse(JSON.stringify(list)));
    }),
  ));

test('many values are several texts, which are read with other work in between', async () => {
  const texts = writeList(Array.from({ length: 100_000 }, (_, index) => ({ index })));
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(64 * 1024);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  expect(await readList<{ index: number }>(texts)).toHaveLength(100_000);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
});
