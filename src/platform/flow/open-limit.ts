// Concurrency limit that rejects instead of queueing: bounds how many of something are open at
// once, and how many of these one owner may hold. One owner leaves room for three others with as
// many.
import { PublicError } from '../errors.js';
import { KeyedCount } from './keyed-count.js';

const SHARE_OF_OWNER = 1 / 4;

export class OpenLimit {
  readonly #what: string;
  readonly #openMax: number;
  readonly #ownerMax: number;
  readonly #open = new KeyedCount();
  #total = 0;

  /** `what` is the plural noun of the error messages. */
  constructor(what: string, openMax: number) {
    this.#what = what;
    this.#openMax = openMax;
    this.#ownerMax = Math.max(1, Math.floor(openMax * SHARE_OF_OWNER));
  }

  /** Returns the function to call once, at the end. Throws rate_limited above a limit. */
  open(projectId: string): () => void {
    const own = this.#open.of(projectId);
    if (own >= this.#ownerMax) throw this.#refusal(own, `of this project are open; its limit is ${this.#ownerMax}`);
    if (this.#total >= this.#openMax) throw this.#refusal(this.#total, `are open; the limit is ${this.#openMax}`);
    this.#count(projectId, 1);
    return () => this.#count(projectId, -1);
  }

  #count(projectId: string, change: number): void {
    this.#open.add(projectId, change);
    this.#total += change;
  }

  #refusal(count: number, limit: string): PublicError {
    return new PublicError('rate_limited', `${count} ${this.#what} ${limit} in this process; try again in a minute`);
  }
}
