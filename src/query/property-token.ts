// Tokens of properties in statements and in the engine's errors. Only planning and execution need
// them: the parser and the analyzer also run in browsers, which have no synchronous digest.
import { createHash } from 'node:crypto';
import type { AnyBag } from './fields.js';
import { GUESSES, type Guess } from './property-guess.js';

/**
 * Identifies a property in an engine error. A digest, because a key is arbitrary text of clients.
 */
export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 16);

export const tokenOf = (bag: AnyBag, key: string): string => `${bag}:${digestOf(key)}`;

export interface Refusal {
  readonly token: string;
  readonly guess: Guess;
}

/** Engine error message for a rejected guess. */
export const refusalText = ({ token, guess }: Refusal): string => `refused guess ${token}=${guess}`;

const REFUSAL = /refused guess (\w+:[0-9a-f]{16})=(\w+)/;

export function tryParseRefusal(text: string): Refusal | undefined {
  const [, token, guess] = REFUSAL.exec(text) ?? [];
  const known = GUESSES.find((of) => of === guess);
  return token === undefined || known === undefined ? undefined : { token, guess: known };
}
