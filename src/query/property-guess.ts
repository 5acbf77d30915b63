// Property guesses: the assumed type of a property whose text form is read. Only the property map of that type is read, and the
// statement fails at the first value of another type. The caller then compiles again with the next guess
// (src/query-api/property-guesses.ts, docs/decisions/0005).
import { createHash } from 'node:crypto';
import type { AnyBag } from './fields.js';

/** In order of trial. The last one reads every property map and is never rejected. */
export const GUESSES = ['text', 'number', 'boolean', 'anything'] as const;
export type Guess = (typeof GUESSES)[number];

/** Guess by property token. */
export type GuessOf = (token: string) => Guess;

/** Identifies a property in an engine error. A digest, because a key is arbitrary text of clients. */
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
