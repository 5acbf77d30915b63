// Searches for the nearest known name, within a bound: a project chooses its names, thousands of
// which may be as long as a name can be.
import { findNearest } from './errors.js';

/** Pairs of characters that one instance compares: about 5 ms. */
const PAIRS_MAX = 1_000_000;

export class NearestNames {
  readonly #found = new Map<string, string | undefined>();
  readonly #bound: { pairsLeft: number };

  constructor(pairsLeft = PAIRS_MAX) {
    this.#bound = { pairsLeft };
  }

  /**
   * The known name with the smallest edit distance; undefined when none is near, or when the bound
   * was reached before it was found. All searches of one `kind` have the same known names.
   */
  find(kind: string, name: string, known: () => Iterable<string>): string | undefined {
    const key = `${kind} ${name}`;
    if (!this.#found.has(key)) this.#found.set(key, findNearest(name, known(), this.#bound));
    return this.#found.get(key);
  }
}
