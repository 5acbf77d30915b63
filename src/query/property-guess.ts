// Property guesses: the assumed type of a property whose text form is read. Only the property map
// of that type is read, and the statement fails at the first value of another type. The caller then
// compiles again with the next guess (src/query-api/property-guesses.ts, docs/decisions/0005).
import type { AnyBag } from './fields.js';

/** In order of trial. The last one reads every property map and is never rejected. */
export const GUESSES = ['text', 'number', 'boolean', 'anything'] as const;
export type Guess = (typeof GUESSES)[number];

/** Guess by property. */
export type GuessOf = (bag: AnyBag, key: string) => Guess;
