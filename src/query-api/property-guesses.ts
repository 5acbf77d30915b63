// Guessed types of properties by project (src/query/property-guess.ts): what its catalog says, as
// far as it is in memory, and else the first guess that was not rejected. Only performance depends
// on them: a lost entry costs one rejected statement, and a stale one never changes an answer.
import { ClickHouseError } from '@clickhouse/client';
import { LRUCache } from 'lru-cache';
import type { Catalog } from '../catalog/catalog.js';
import { type PropertyType, propertyField } from '../catalog/names.js';
import type { ProjectId } from '../platform/ids.js';
import { type AnyBag, PROPERTY_BAGS } from '../query/fields.js';
import { GUESSES, type Guess, type GuessOf } from '../query/property-guess.js';
import { tokenOf, tryParseRefusal } from '../query/property-token.js';

const PROPERTIES_MAX = 20_000;
const THROW_IF = '395';

export interface PropertyGuesses {
  of(projectId: ProjectId): GuessOf;
  /** The guesses of a project other than the first, by token. */
  known(projectId: ProjectId): ReadonlyMap<string, Guess>;
  /** Whether the error rejects a guess; if so, that guess is not made again. */
  learn(projectId: ProjectId, error: unknown): boolean;
}

/** The catalog of a project, if it is in memory. */
export type HeldCatalog = (projectId: ProjectId) => Catalog | undefined;

export function createPropertyGuesses(heldCatalog: HeldCatalog = () => undefined): PropertyGuesses {
  const rejected = new LRUCache<string, readonly Guess[]>({ max: PROPERTIES_MAX });
  const guess = (projectId: ProjectId, token: string, types: readonly string[] | undefined): Guess =>
    guessFrom(types, rejected.get(`${projectId} ${token}`) ?? []);
  return {
    of: (projectId) => {
      const catalog = heldCatalog(projectId);
      return (bag, key) => guess(projectId, tokenOf(bag, key), catalog?.properties.get(propertyField(bag, key)));
    },
    known: (projectId) => {
      const catalog = heldCatalog(projectId);
      const types = catalog ? typesByToken(catalog) : new Map<string, readonly string[]>();
      const own = [...rejected.keys()].filter((key) => key.startsWith(projectId));
      const tokens = new Set([...types.keys(), ...own.map((key) => key.slice(projectId.length + 1))]);
      return new Map([...tokens].map((token) => [token, guess(projectId, token, types.get(token))]));
    },
    learn: (projectId, error) => {
      const refusal =
        error instanceof ClickHouseError && error.code === THROW_IF ? tryParseRefusal(error.message) : undefined;
      if (refusal === undefined) return false;
      const key = `${projectId} ${refusal.token}`;
      rejected.set(key, [...new Set([...(rejected.get(key) ?? []), refusal.guess])]);
      return true;
    },
  };
}

const GUESS_OF_TYPE: ReadonlyMap<string, Guess> = new Map<PropertyType, Guess>([
  ['string', 'text'],
  ['number', 'number'],
  ['boolean', 'boolean'],
]);

/** A property whose known type is rejected has another type too. */
function guessFrom(types: readonly string[] = [], rejected: readonly Guess[]): Guess {
  const [first, ...others] = types.flatMap((type) => GUESS_OF_TYPE.get(type) ?? []);
  if (first === undefined) return GUESSES.find((guess) => !rejected.includes(guess)) ?? 'anything';
  return others.length > 0 || rejected.includes(first) ? 'anything' : first;
}

const BAGS: readonly AnyBag[] = [...(Object.keys(PROPERTY_BAGS) as (keyof typeof PROPERTY_BAGS)[]), 'user'];
const tokens = new WeakMap<Catalog, ReadonlyMap<string, readonly string[]>>();

/** Types of the properties by token, computed once for each version of a catalog. */
function typesByToken(catalog: Catalog): ReadonlyMap<string, readonly string[]> {
  const before = tokens.get(catalog);
  if (before) return before;
  const found = new Map<string, readonly string[]>();
  for (const [field, types] of catalog.properties) {
    const bag = BAGS.find((candidate) => field.startsWith(`${candidate}.`));
    if (bag) found.set(tokenOf(bag, field.slice(bag.length + 1)), types);
  }
  tokens.set(catalog, found);
  return found;
}
