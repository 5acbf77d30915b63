// Concurrency limit that rejects instead of queueing: bounds how many of something are open at
// once, and how many of these one project, and one owner with all projects, may hold.
import { PublicError } from '../errors.js';
import { KeyedCount } from './keyed-count.js';

/** A project leaves room for three others with as many. */
const SHARE_OF_PROJECT = 1 / 4;
/** Where one company has the service for itself, it owns all projects. */
const SHARE_OF_OWNER = 1 / 2;

interface Holder {
  readonly projectId: string;
  /** Who created its organization: the same for all that one person has. */
  readonly ownerId: string;
}

export class OpenLimit {
  readonly #what: string;
  readonly #openMax: number;
  readonly #projectMax: number;
  readonly #ownerMax: number;
  readonly #open = new KeyedCount();
  #total = 0;

  /** `what` is the plural noun of the error messages. */
  constructor(what: string, openMax: number) {
    this.#what = what;
    this.#openMax = openMax;
    this.#projectMax = Math.max(1, Math.floor(openMax * SHARE_OF_PROJECT));
    this.#ownerMax = Math.max(1, Math.floor(openMax * SHARE_OF_OWNER));
  }

  /** Returns the function to call once, at the end. Throws rate_limited above a limit. */
  open({ projectId, ownerId }: Holder): () => void {
    const [own, ofOwner] = [this.#open.of(projectId), this.#open.of(ownerId)];
    if (own >= this.#projectMax) throw this.#refusal(own, `of this project are open; its limit is ${this.#projectMax}`);
    if (ofOwner >= this.#ownerMax) {
      throw this.#refusal(ofOwner, `of the owner of this project are open; their limit is ${this.#ownerMax}`);
    }
    if (this.#total >= this.#openMax) throw this.#refusal(this.#total, `are open; the limit is ${this.#openMax}`);
    this.#count([projectId, ownerId], 1);
    return () => this.#count([projectId, ownerId], -1);
  }

  #count(holders: readonly string[], change: number): void {
    for (const holder of holders) this.#open.add(holder, change);
    this.#total += change;
  }

  #refusal(count: number, limit: string): PublicError {
    return new PublicError('rate_limited', `${count} ${this.#what} ${limit} in this process; try again in a minute`);
  }
}
