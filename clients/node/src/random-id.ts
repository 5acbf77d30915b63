// Ids made by this client: 128 random bits. Node 18 has no global `crypto` yet; bundlers for browsers take
// random-id-web.ts instead of this file, as package.json tells them.
import { webcrypto } from 'node:crypto';
import { toHex } from './hex.js';

export const randomId = (): string => toHex(webcrypto.getRandomValues(new Uint32Array(4)));
