// Counts distinct texts in constant memory: exactly up to a limit, above it by HyperLogLog.
import { sha256 } from '../platform/sha256.js';

/** Exact up to here: about 30 MB. */
const EXACT_MAX = 200_000;
const INDEX_BITS = 14;
const REGISTERS = 1 << INDEX_BITS;

export interface DistinctCount {
  readonly count: number;
  /** False above the limit; the standard error is then 0.8 %. */
  readonly isExact: boolean;
}

export class DistinctCounter {
  #exact: Set<string> | undefined = new Set();
  readonly #registers = new Uint8Array(REGISTERS);
  readonly #exactMax: number;
  #last = '';

  constructor(exactMax = EXACT_MAX) {
    this.#exactMax = exactMax;
  }

  add(text: string): void {
    // Records of one person often follow each other.
    if (text === this.#last) return;
    this.#last = text;
    if (this.#exact === undefined) {
      this.#addToRegisters(text);
      return;
    }
    this.#exact.add(text);
    if (this.#exact.size <= this.#exactMax) return;
    for (const known of this.#exact) this.#addToRegisters(known);
    this.#exact = undefined;
  }

  get value(): DistinctCount {
    if (this.#exact !== undefined) return { count: this.#exact.size, isExact: true };
    const sum = this.#registers.reduce((total, rank) => total + 2 ** -rank, 0);
    return { count: Math.round((0.7213 / (1 + 1.079 / REGISTERS)) * (REGISTERS ** 2 / sum)), isExact: false };
  }

  #addToRegisters(text: string): void {
    const digest = sha256(text);
    const register = digest.readUInt16BE(0) & (REGISTERS - 1);
    // Leading zeros of the next 32 bits, plus one.
    const rank = Math.clz32(digest.readUInt32BE(2)) + 1;
    if (rank > (this.#registers[register] ?? 0)) this.#registers[register] = rank;
  }
}
