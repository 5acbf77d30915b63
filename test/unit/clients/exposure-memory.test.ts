// Memory of the exposures that the Node client has recorded.
import { expect, test } from 'vitest';
import { ExposureMemory } from '../../../clients/node/src/exposure-memory.js';

test('holds 10,000 exposures, and forgets the one that was recorded first', () => {
  const memory = new ExposureMemory();
  const renewedMs = 30 * 60_000;
  memory.isNew('renewed', 0);
  for (let n = 0; n < 9_999; n += 1) memory.isNew(`${n}`, 1);
  expect(memory.isNew('renewed', renewedMs)).toBe(true);
  expect([memory.isNew('one more', renewedMs), memory.isNew('renewed', renewedMs)]).toEqual([true, false]);
  expect([memory.isNew('1', 2), memory.isNew('0', 2)]).toEqual([false, true]);
});
