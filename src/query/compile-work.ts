// What one compilation may spend beyond its own text: on the text of definitions, which a name of a
// character may bring in, and on searches for nearest names. The fixes of a query are compiled too,
// and share both.
import type { Definition } from './definitions/definitions.js';
import { NearestNames } from './nearest-names.js';

/** The definitions of a query have more text than is allowed here. */
export class TooMuchText extends Error {
  override readonly name = 'TooMuchText';
}

export class CompileWork {
  readonly nearest = new NearestNames();
  readonly #charactersMax: number;
  #charactersRead = 0;

  /** `charactersMax` of all definitions, counted each time that one is used. */
  constructor(charactersMax = Number.POSITIVE_INFINITY) {
    this.#charactersMax = charactersMax;
  }

  get charactersRead(): number {
    return this.#charactersRead;
  }

  /** Throws TooMuchText. */
  read({ query }: Definition): void {
    this.#charactersRead += query.length;
    if (this.#charactersRead > this.#charactersMax) throw new TooMuchText();
  }
}
