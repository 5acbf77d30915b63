// Parts that are loaded when they are used first.
import { expect, test } from 'vitest';
import { loadOnce } from '../../../src/platform/load-once.js';

test('a part is loaded by its first use, and once', async () => {
  let loads = 0;
  const part = loadOnce(async () => {
    loads += 1;
    return loads;
  });
  expect(loads).toBe(0);
  expect(await Promise.all([part(), part()])).toEqual([1, 1]);
  expect(await part()).toBe(1);
});

test('a part that cannot be loaded is unavailable, and loaded by a later use', async () => {
  let isThere = false;
  const part = loadOnce(async () => {
    if (!isThere) throw new Error('no such file');
    return 'part';
  });
  await expect(part()).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('restart it') });
  isThere = true;
  expect(await part()).toBe('part');
});
