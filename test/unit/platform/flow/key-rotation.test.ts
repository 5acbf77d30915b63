// KeyRotation: one task per key, in fair order.
import { expect, test } from 'vitest';
import { KeyRotation } from '../../../../src/platform/flow/key-rotation.js';

/** Work that ends when the test ends it. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    work: (project: string) =>
      new Promise<void>((resolve) => {
        begun.push(project);
        ends.set(project, resolve);
      }),
    end: async (project: string) => {
      ends.get(project)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('KeyRotation runs one task per key, and next the key served longest ago', async () => {
  const { begun, work, end } = createWork();
  const rotation = new KeyRotation(2);
  expect(rotation.start(['a', 'b', 'c'], work)).toBe(2);
  expect(rotation.start(['a', 'b', 'c'], work)).toBe(0);
  await end('a');
  expect(rotation.start(['a', 'c'], work)).toBe(1);
  await end('b');
  expect(rotation.start(['b', 'a'], work)).toBe(1);
  expect(begun).toEqual(['a', 'b', 'c', 'a']);
  expect([...rotation.running].sort()).toEqual(['a', 'c']);
});

test('KeyRotation starts no second task of a key that runs, although places are free', async () => {
  const { begun, work } = createWork();
  const rotation = new KeyRotation(2);
  rotation.start(['a'], work);
  expect(rotation.start(['a'], work)).toBe(0);
  expect(begun).toEqual(['a']);
});
