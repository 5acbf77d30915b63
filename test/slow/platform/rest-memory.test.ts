// In a process of its own, because ffi-rs may only be used in a main thread.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openMemoryReturn } from '../../../src/platform/rest-memory.js';

const MEGABYTE = 1_000_000;
const anonymousBytes = () =>
  Number(/^Pss_Anon:\s+(\d+)/m.exec(readFileSync('/proc/self/smaps_rollup', 'utf8'))?.[1]) * 1024;

/** One in a hundred of buffers in an arena of glibc, so that the arena cannot shrink. */
function fragment(): Buffer[] {
  const buffers = Array.from({ length: 4_000 }, () => Buffer.alloc(50_000, 1));
  return buffers.filter((_buffer, at) => at % 100 === 0);
}

test.skipIf(process.platform !== 'linux')('pages of freed buffers go back to the system', async () => {
  const returnMemory = openMemoryReturn();
  if (returnMemory === undefined) throw new Error('ffi-rs is missing');
  const kept = fragment();
  await returnMemory();
  const returned = anonymousBytes();
  const filled = Array.from({ length: 4_000 }, () => Buffer.alloc(50_000, 1));
  const held = anonymousBytes();
  expect(held - returned).toBeGreaterThan(150 * MEGABYTE);
  filled.length = 0;
  await returnMemory();
  expect(anonymousBytes() - returned).toBeLessThan(50 * MEGABYTE);
  expect(kept).toHaveLength(40);
});
