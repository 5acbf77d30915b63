// Memory of processes from /proc, of which benchmarks print sums.
import { expect, test } from 'vitest';
import { readMemory } from '../../../bench/process-usage.js';

const MEBIBYTE = 1024 * 1024;

test.skipIf(process.platform !== 'linux')('readMemory() tells anonymous memory from mapped files', () => {
  const read = () => readMemory([{ name: 'this', pid: process.pid }]).get('this');
  const before = read();
  const held = Buffer.alloc(64 * MEBIBYTE, 1);
  const after = read();
  expect(held[held.length - 1]).toBe(1);
  expect(after?.anonymousBytes ?? 0).toBeGreaterThan((before?.anonymousBytes ?? Infinity) + 48 * MEBIBYTE);
  // Node itself is a file.
  expect(after?.anonymousBytes).toBeLessThan(after?.pssBytes ?? 0);
});
