// Admission control of exports in a web process: limits how many are open at once, slow readers
// included, and how many of these one project may hold. One project leaves room for three others
// with as many.
import { PublicError } from '../errors.js';

const SHARE_OF_PROJECT = 1 / 4;

export class ExportAdmission {
  readonly #openMax: number;
  readonly #projectMax: number;
  readonly #open = new Map<string, number>();
  #total = 0;

  constructor(openMax: number) {
    this.#openMax = openMax;
    this.#projectMax = Math.max(1, Math.floor(openMax * SHARE_OF_PROJECT));
  }

  /** Returns the function to call when the export has ended. Throws rate_limited above a limit. */
  open(projectId: string): () => void {
    const own = this.#open.get(projectId) ?? 0;
    if (own >= this.#projectMax)
      throw tooMany(`exports of this project are open; its limit is ${this.#projectMax}`, own);
    if (this.#total >= this.#openMax) throw tooMany(`exports are open; the limit is ${this.#openMax}`, this.#total);
    this.#open.set(projectId, own + 1);
    this.#total += 1;
    return () => this.#close(projectId);
  }

  #close(projectId: string): void {
    this.#total -= 1;
    const left = (this.#open.get(projectId) ?? 1) - 1;
    if (left === 0) this.#open.delete(projectId);
    else this.#open.set(projectId, left);
  }
}

const tooMany = (what: string, count: number): PublicError =>
  new PublicError('rate_limited', `${count} ${what} in this process; try again in a minute`);
