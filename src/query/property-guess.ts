// What a property is taken to hold while its text form is read. Nobody declares types, so they are guessed: only the bucket of
// the guessed type is read, and the engine refuses the first value of another type instead of passing over it. Whoever runs
// the statement learns from the refusal and compiles again (src/query-api/property-guesses.ts).
import { createHash } from 'node:crypto';
import type { AnyBag } from './fields.js';

/** In the order in which they are tried; the last one is never refused, and reads every bucket. */
export const GUESSES = ['text', 'number', 'boolean', 'anything'] as const;
export type Guess = (typeof GUESSES)[number];

/** By the token of a property. */
export type GuessOf = (token: string) => Guess;

/** A key is somebody's text, and must not become a name in SQL; its digest may. */
export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 16);

export const tokenOf = (bag: AnyBag, key: string): string => `${bag}:${digestOf(key)}`;

export interface Refusal {
  readonly token: string;
  readonly guess: Guess;
}

/** What the engine is told to say when it meets a value of another type. */
export const refusalText = ({ token, guess }: Refusal): string => `refused guess ${token}=${guess}`;

const REFUSAL = /refused guess (\w+:[0-9a-f]{16})=(\w+)/;

export function tryParseRefusal(text: string): Refusal | undefined {
  const [, token, guess] = REFUSAL.exec(text) ?? [];
  const known = GUESSES.find((of) => of === guess);
  return token === undefined || known === undefined ? undefined : { token, guess: known };
}
