// Random 128-bit ids. Node 18 has no global `crypto`; browser bundlers use random-id-web.ts instead
// (package.json).
import { webcrypto } from 'node:crypto';
import { toHex } from './hex.js';

export const randomId = (): string => toHex(webcrypto.getRandomValues(new Uint32Array(4)));
