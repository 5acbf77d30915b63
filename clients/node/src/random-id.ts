// Random 128-bit ids, without an import of Node.js: bundlers for edge runtimes would not find it.
import { toHex } from './hex.js';

const WORDS = 4;

/** Node 18 has no global `crypto`. The random numbers of its processes are seeded independently. */
export const randomId = (): string =>
  toHex(
    globalThis.crypto?.getRandomValues(new Uint32Array(WORDS)) ??
      Array.from({ length: WORDS }, () => Math.random() * 2 ** 32),
  );
