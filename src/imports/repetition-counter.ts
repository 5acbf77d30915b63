// Numbers identical log lines. Two equal lines in one second are two page views, and every run of
// an import must number them equally.

/** Two generations of this many distinct lines take about 60 MB at most. */
const GENERATION_LINES_MAX = 250_000;

/**
 * Numbers the occurrences of each line of a file from 0: files may overlap. Memory is bounded by
 * two generations: a full generation becomes the previous one, and the generation before it is
 * dropped. Numbers are exact when two identical lines are less than one generation of distinct
 * lines apart. Further apart they count as the same request, which they are in joined logs that
 * overlap. What is dropped depends on the lines alone, so every run over a file gives the same
 * numbers.
 */
export class RepetitionCounter {
  #current = new Map<number, number>();
  #previous = new Map<number, number>();
  #file: object | undefined;
  readonly #generationLinesMax: number;

  constructor(generationLinesMax: number = GENERATION_LINES_MAX) {
    this.#generationLinesMax = generationLinesMax;
  }

  /** Number of earlier lines of the file with this digest. Files are read one after the other. */
  next(digest: Buffer, file: object): number {
    if (file !== this.#file) {
      this.#current = new Map();
      this.#previous = new Map();
      this.#file = file;
    }
    // 48 bits fit a number. A collision only gives a line a higher number: the ids still differ.
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
