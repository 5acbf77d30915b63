// random-id.ts for the browser script, which needs no fallback.
import { toHex } from './hex.js';

export const randomId = (): string => toHex(crypto.getRandomValues(new Uint32Array(4)));
