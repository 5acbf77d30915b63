// Tells identical log lines apart by counting them. A busy second can log the same line twice, and both are page views;
// the second run of an import has to give each the same number again.

/** Two generations of this many distinct lines take about 60 MB at most. */
const GENERATION_LINES_MAX = 250_000;

/**
 * Numbers the occurrences of each line from 0. Memory is bounded by forgetting: a generation that is full becomes the
 * previous one, and the one before that is dropped. So numbers are exact, in any order of lines, where two identical
 * lines are less than a generation of distinct lines apart; further apart they are taken for the same request, which is
 * what they are when rotated logs that overlap were joined. What is forgotten depends on the lines alone, so every run
 * over a file gives the same numbers.
 */
export class RepetitionCounter {
  #current = new Map<number, number>();
  #previous = new Map<number, number>();
  readonly #generationLinesMax: number;

  constructor(generationLinesMax: number = GENERATION_LINES_MAX) {
    this.#generationLinesMax = generationLinesMax;
  }

  /** How often a line of this digest was seen before. */
  next(digest: Buffer): number {
    // 48 bits fit a number. Lines that share them merely get a higher number: their ids stay different.
    const fingerprint = digest.readUIntBE(0, 6);
    const seen = this.#current.get(fingerprint) ?? this.#previous.get(fingerprint) ?? 0;
    this.#current.set(fingerprint, seen + 1);
    if (this.#current.size >= this.#generationLinesMax) {
      this.#previous = this.#current;
      this.#current = new Map();
    }
    return seen;
  }
}
