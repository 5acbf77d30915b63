// Cache of rejected property guesses by project (src/query/property-guess.ts). It only affects
// performance: a lost entry costs one rejected statement, and a stale one never changes an answer.
import { ClickHouseError } from '@clickhouse/client';
import { LRUCache } from 'lru-cache';
import type { ProjectId } from '../platform/ids.js';
import { GUESSES, type Guess, type GuessOf } from '../query/property-guess.js';
import { tokenOf, tryParseRefusal } from '../query/property-token.js';

const PROPERTIES_MAX = 20_000;
const THROW_IF = '395';

export interface PropertyGuesses {
  of(projectId: ProjectId): GuessOf;
  /** The guesses of a project other than the first, by token. */
  learned(projectId: ProjectId): ReadonlyMap<string, Guess>;
  /** Whether the error rejects a guess; if so, that guess is not made again. */
  learn(projectId: ProjectId, error: unknown): boolean;
}

export function createPropertyGuesses(): PropertyGuesses {
  const guesses = new LRUCache<string, Guess>({ max: PROPERTIES_MAX });
  const find = (projectId: ProjectId, token: string): Guess => guesses.get(`${projectId} ${token}`) ?? GUESSES[0];
  return {
    of: (projectId) => (bag, key) => find(projectId, tokenOf(bag, key)),
    learned: (projectId) => {
      const own = new Map<string, Guess>();
      for (const [key, guess] of guesses.entries()) {
        if (key.startsWith(projectId)) own.set(key.slice(projectId.length + 1), guess);
      }
      return own;
    },
    learn: (projectId, error) => {
      const refusal =
        error instanceof ClickHouseError && error.code === THROW_IF ? tryParseRefusal(error.message) : undefined;
      if (refusal === undefined) return false;
      const { token, guess } = refusal;
      // Another query may have learned it meanwhile.
      const next = GUESSES[GUESSES.indexOf(guess) + 1];
      if (find(projectId, token) === guess && next !== undefined) guesses.set(`${projectId} ${token}`, next);
      return true;
    },
  };
}
