// External sort that folds equal keys: combines any number of values by key in bounded memory. Full
// runs are sorted and written to files, which are merged at the end.
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readLines } from './input/line-reader.js';

export interface Folding<T> {
  /** Combines an earlier added value with a later added one. */
  readonly combine: (earlier: T, later: T) => T;
  /** Approximate size of a value, bytes. */
  readonly sizeOf: (value: T) => number;
}

const RUN_BYTES_MAX = 32 * 1024 * 1024;
const ENTRY_BYTES = 100;
const RUN_LINE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * States: adding, until `entries` is iterated; then only `entries` and `close` may follow. Values
 * must be JSON.
 */
export class FoldingSorter<T> {
  readonly #folding: Folding<T>;
  readonly #runBytesMax: number;
  #run = new Map<string, T>();
  #runBytes = 0;
  #folder: string | undefined;
  readonly #files: string[] = [];

  constructor(folding: Folding<T>, runBytesMax: number = RUN_BYTES_MAX) {
    this.#folding = folding;
    this.#runBytesMax = runBytesMax;
  }

  /** Resolves at once, except when the run is full and is written. */
  async add(key: string, value: T): Promise<void> {
    const earlier = this.#run.get(key);
    const combined = earlier === undefined ? value : this.#folding.combine(earlier, value);
    this.#run.set(key, combined);
    const { sizeOf } = this.#folding;
    this.#runBytes += earlier === undefined ? ENTRY_BYTES + key.length : -sizeOf(earlier);
    this.#runBytes += sizeOf(combined);
    if (this.#runBytes > this.#runBytesMax) await this.#spill();
  }

  /** The values by key while all of them are in memory; undefined once a run was written. */
  get inMemory(): ReadonlyMap<string, T> | undefined {
    return this.#files.length === 0 ? this.#run : undefined;
  }

  /** Each key once, in the order of their UTF-16 units, with the combination of all its values. */
  async *entries(): AsyncGenerator<readonly [key: string, value: T], void, undefined> {
    if (this.#files.length > 0 && this.#run.size > 0) await this.#spill();
    if (this.#files.length === 0) yield* sorted(this.#run);
    else yield* this.#merge();
  }

  async close(): Promise<void> {
    this.#run.clear();
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  async #spill(): Promise<void> {
    this.#folder ??= await mkdtemp(join(tmpdir(), 'service-import-'));
    const file = join(this.#folder, `${this.#files.length}.ndjson`);
    const run = this.#run;
    await pipeline(
      Readable.from(
        (function* () {
          for (const entry of sorted(run)) yield `${JSON.stringify(entry)}\n`;
        })(),
      ),
      createWriteStream(file, { mode: 0o600 }),
    );
    this.#files.push(file);
    this.#run = new Map();
    this.#runBytes = 0;
  }

  async *#merge(): AsyncGenerator<readonly [key: string, value: T], void, undefined> {
    const runs = this.#files.map((file) => readRun<T>(file));
    const heads = await Promise.all(runs.map(async (run) => (await run.next()).value ?? undefined));
    for (;;) {
      const [key] = heads.flatMap((head) => (head === undefined ? [] : [head[0]])).sort();
      if (key === undefined) return;
      let value: T | undefined;
      for (const [index, head] of heads.entries()) {
        if (head?.[0] !== key) continue;
        // Runs are in the order in which they were added.
        value = value === undefined ? head[1] : this.#folding.combine(value, head[1]);
        heads[index] = (await runs[index]?.next())?.value ?? undefined;
      }
      yield [key, value as T];
    }
  }
}

const sorted = <T>(run: ReadonlyMap<string, T>): (readonly [string, T])[] =>
  [...run].sort(([a], [b]) => (a < b ? -1 : 1));

async function* readRun<T>(file: string): AsyncGenerator<readonly [string, T], void, undefined> {
  for await (const { text } of readLines(createReadStream(file), { lineBytesMax: RUN_LINE_BYTES_MAX })) {
    yield JSON.parse(text) as [string, T];
  }
}
