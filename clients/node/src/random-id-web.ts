// random-id.ts for browsers.
import { toHex } from './hex.js';

export const randomId = (): string => toHex(crypto.getRandomValues(new Uint32Array(4)));
