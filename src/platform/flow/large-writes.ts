// Concurrency limit of the large inserts of a process, of all shards together. An insert costs the
// same for few rows as for some thousand, so while one shard writes, the batches of the others
// grow: three servers on the cores of one would otherwise get three times as many inserts. A write
// that takes longer than usual loses its place, so a server that hangs holds up no other for longer
// than a slow one.
export interface LargeWritesOptions {
  readonly max: number;
  /** A place is free again after this time at the latest. */
  readonly holdMs: number;
}

const REMEMBERED = 8;
const TIMES_USUAL = 2;
/** Limit of the first write; later ones are compared with those that have ended. */
const FIRST_HOLD_MS = 250;
/** A busy machine pauses a process for as long. */
const HOLD_MIN_MS = 50;

export class LargeWrites {
  readonly #options: LargeWritesOptions;
  readonly #waiting: (() => void)[] = [];
  /** How long the last writes took. */
  readonly #tookMs: number[] = [];
  #running = 0;

  constructor(options: LargeWritesOptions) {
    this.#options = options;
  }

  /** First in, first out. Resolves with what gives the place back, which may be called again. */
  async enter(): Promise<() => void> {
    if (this.#running < this.#options.max) this.#running += 1;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    const startedAt = performance.now();
    let hasPlace = true;
    let hasEnded = false;
    const giveBack = (): void => {
      if (!hasPlace) return;
      hasPlace = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    };
    const timer = setTimeout(giveBack, this.#placeMs());
    timer.unref();
    return () => {
      clearTimeout(timer);
      giveBack();
      if (hasEnded) return;
      hasEnded = true;
      this.#remember(performance.now() - startedAt);
    };
  }

  #placeMs(): number {
    if (this.#tookMs.length === 0) return FIRST_HOLD_MS;
    const usualMs = Math.max(...this.#tookMs);
    return Math.min(this.#options.holdMs, Math.max(HOLD_MIN_MS, TIMES_USUAL * usualMs));
  }

  /** One that hung says nothing about those that answer. */
  #remember(tookMs: number): void {
    if (tookMs > this.#options.holdMs) return;
    this.#tookMs.push(tookMs);
    if (this.#tookMs.length > REMEMBERED) this.#tookMs.shift();
  }
}
