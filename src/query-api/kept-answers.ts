// Answers of the engine kept in memory, for when the same question is asked again. One is used only
// while the tables have the versions that were read before it was computed (table-versions.ts), so
// it is never older than the data, and nothing that writes needs to know of it.
//
// A range that ends now is another range each time: its answer is the same while no event is
// between the old and the new ends (next-events.ts).
//
// Bytes are bounded. When they are exceeded, the project with most loses its least recently used.
import { createHash } from 'node:crypto';
import type { Counter } from 'prom-client';
import { BOUNDS } from '../platform/flow/bounds.js';
import { orAborted } from '../platform/flow/or-aborted.js';
import type { ProjectId } from '../platform/ids.js';
import type { CompiledQuery } from '../query/compile.js';
import type { PrintedStatement, Reads } from '../query/print/print.js';
import { EARLIEST_MS } from '../query/time/range.js';
import type { Counted } from './answer.js';
import { AnswerNotWanted } from './engine-failures.js';
import { type NextEvents, readNextEvents } from './next-events.js';
import { type TableVersions, type VersionReader, versionOf } from './table-versions.js';

/** What tells one question from another. */
export interface KeptQuestion {
  /** The engine's. */
  readonly engine: VersionedEngine;
  readonly projectId: ProjectId;
  readonly compiled: CompiledQuery;
  readonly offset: number;
  /** Read since the request arrived, while it was compiled. */
  readonly versions?: Promise<TableVersions | undefined> | undefined;
}

/** Counts the rows of a question, for a client that leaves when the signal is aborted. */
export interface CountedRun {
  readonly run: () => Promise<Counted>;
  readonly signal: AbortSignal;
}

export interface VersionedEngine {
  readonly clickhouse: Parameters<typeof readNextEvents>[0];
  readonly versions: VersionReader;
}

/** An answer that holds, or what is needed to keep the one that is computed next. */
export type Found =
  | { readonly kind: 'answer'; readonly counted: Counted }
  | { readonly kind: 'none'; readonly asked: Asked; readonly version: string }
  | { readonly kind: 'unknown' };

interface Asked {
  readonly projectId: ProjectId;
  /** Hash of the statements, without the bounds of scans. */
  readonly key: string;
  readonly bounds: readonly number[];
}

interface Kept extends Asked {
  readonly version: string;
  readonly counted: Counted;
  readonly untilMs: number;
  readonly bytes: number;
  /** Next events after the data that the answer was computed from, once they were needed. */
  next?: NextEvents | undefined;
}

const OVERHEAD_BYTES = 1024;

export class KeptAnswers {
  readonly #bytesMax: number;
  readonly #used: Counter<'result'>;
  readonly #now: () => number;
  /** By key within their project, the least recently used first. */
  readonly #byProject = new Map<ProjectId, Map<string, Kept>>();
  readonly #bytesByProject = new Map<ProjectId, number>();
  readonly #running = new Map<string, Promise<Counted | undefined>>();
  readonly #engines = new WeakMap<VersionedEngine, number>();
  #engineCount = 0;
  #bytes = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(bytesMax: number, { used, now = Date.now }: { used: Counter<'result'>; now?: () => number }) {
    this.#bytesMax = bytesMax;
    this.#used = used;
    this.#now = now;
    this.#timer = setInterval(() => this.#forgetOld(), BOUNDS.keptAnswerMs / 10);
    this.#timer.unref();
  }

  get bytes(): number {
    return this.#bytes;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#byProject.clear();
    this.#bytesByProject.clear();
    this.#bytes = 0;
  }

  /** Never rejects: without versions the query is run. */
  async find(question: KeptQuestion): Promise<Found> {
    const { engine, compiled } = question;
    const reads = readsOf(compiled);
    const asked = this.#toAsked(question, reads);
    const kept = this.#byProject.get(asked.projectId)?.get(asked.key);
    const moved = kept === undefined ? [] : movedBounds(kept, asked);
    const isUnknown = kept !== undefined && moved.length > 0 && kept.next === undefined && !isDense(kept, reads, moved);
    const next = isUnknown
      ? await readNextEvents(engine.clickhouse, asked.projectId, kept.bounds).catch(() => undefined)
      : kept?.next;
    // Read after the next events, so that these are of the data that the answer was computed from.
    const versions = await ((isUnknown ? undefined : question.versions) ?? engine.versions.read());
    if (versions === undefined) return { kind: 'unknown' };
    const version = versionOf(versions, reads);
    const isCurrent = kept !== undefined && kept.version === version && kept.untilMs > this.#now();
    if (isCurrent) kept.next = next;
    if (!isCurrent || !moved.every(({ index, from, to }) => to > from && to <= (next?.[index] ?? from))) {
      this.#used.inc({ result: kept === undefined ? 'miss' : 'changed' });
      return { kind: 'none', asked, version };
    }
    this.#used.inc({ result: 'hit' });
    this.#touch(kept);
    return { kind: 'answer', counted: copyOf(kept.counted) };
  }

  /**
   * Runs the question and keeps its answer. Equal questions that are asked meanwhile share the run,
   * when the data they would read is the same.
   */
  async run({ asked, version }: Extract<Found, { kind: 'none' }>, { run, signal }: CountedRun): Promise<Counted> {
    const identity = JSON.stringify([asked.projectId, asked.key, asked.bounds, version]);
    let others = this.#running.get(identity);
    while (others !== undefined) {
      const outcome = await outcomeOf(others, signal);
      if (outcome !== undefined && outcome !== 'cancelled') {
        this.#used.inc({ result: 'shared' });
        return copyOf(outcome);
      }
      // After a cancelled run, the first of those who waited runs it for the others.
      const next = this.#running.get(identity);
      others = outcome === 'cancelled' && next !== others ? next : undefined;
    }
    const running = run();
    const keepable = running.then((counted) =>
      counted.page.byteLength <= BOUNDS.keptAnswerBytes ? copyOf(counted) : undefined,
    );
    this.#running.set(identity, keepable);
    // The run that is awaited below rejects as well.
    keepable.catch(() => undefined);
    try {
      const counted = await running;
      const copy = await keepable;
      if (copy !== undefined) this.#keep(asked, version, copy);
      return counted;
    } finally {
      if (this.#running.get(identity) === keepable) this.#running.delete(identity);
    }
  }

  #toAsked({ engine, projectId, compiled, offset }: KeptQuestion, reads: Reads): Asked {
    const { rowsKept, rowsMax } = compiled;
    const statements = statementsOf(compiled).map(({ sql, params, reads: { bounds } }) => [
      sql,
      Object.entries(params).map(([name, value]) => (name in bounds ? name : [name, value])),
    ]);
    const parts = [this.#numberOf(engine), statements, offset, rowsKept, rowsMax ?? null];
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64');
    return { projectId, key, bounds: Object.values(reads.bounds) };
  }

  #numberOf(engine: VersionedEngine): number {
    const known = this.#engines.get(engine);
    if (known !== undefined) return known;
    this.#engines.set(engine, ++this.#engineCount);
    return this.#engineCount;
  }

  #keep(asked: Asked, version: string, counted: Counted): void {
    const { projectId, key } = asked;
    const bytes = counted.page.byteLength + 2 * (key.length + version.length) + OVERHEAD_BYTES;
    this.#remove(projectId, key);
    if (bytes > this.#bytesMax) return;
    const kept: Kept = { ...asked, version, counted, untilMs: this.#now() + BOUNDS.keptAnswerMs, bytes };
    const ofProject = this.#byProject.get(projectId) ?? new Map<string, Kept>();
    this.#byProject.set(projectId, ofProject.set(key, kept));
    this.#add(projectId, bytes);
    while (this.#bytes > this.#bytesMax) this.#removeOldestOfLargest();
  }

  /** Moves it to the end, unless another has replaced it. */
  #touch(kept: Kept): void {
    const ofProject = this.#byProject.get(kept.projectId);
    if (ofProject?.get(kept.key) !== kept) return;
    ofProject.delete(kept.key);
    ofProject.set(kept.key, kept);
  }

  #remove(projectId: ProjectId, key: string): void {
    const ofProject = this.#byProject.get(projectId);
    const kept = ofProject?.get(key);
    if (ofProject === undefined || kept === undefined) return;
    ofProject.delete(key);
    if (ofProject.size === 0) this.#byProject.delete(projectId);
    this.#add(projectId, -kept.bytes);
  }

  #add(projectId: ProjectId, bytes: number): void {
    this.#bytes += bytes;
    const ofProject = (this.#bytesByProject.get(projectId) ?? 0) + bytes;
    if (ofProject > 0) this.#bytesByProject.set(projectId, ofProject);
    else this.#bytesByProject.delete(projectId);
  }

  #removeOldestOfLargest(): void {
    const [[projectId] = []] = [...this.#bytesByProject].sort(([, one], [, two]) => two - one);
    const [oldest] = (projectId && this.#byProject.get(projectId)?.keys()) ?? [];
    if (projectId !== undefined && oldest !== undefined) this.#remove(projectId, oldest);
  }

  #forgetOld(): void {
    const nowMs = this.#now();
    for (const ofProject of [...this.#byProject.values()]) {
      for (const { projectId, key, untilMs } of [...ofProject.values()]) {
        if (untilMs <= nowMs) this.#remove(projectId, key);
      }
    }
  }
}

/**
 * What another run gave: `cancelled` when its client has left, undefined when it failed or may not
 * be kept, and for a client that has left meanwhile, whose own run ends at once.
 */
const outcomeOf = (
  others: Promise<Counted | undefined>,
  signal: AbortSignal,
): Promise<Counted | 'cancelled' | undefined> =>
  orAborted(others, signal).catch((error: unknown) =>
    error instanceof AnswerNotWanted && !signal.aborted ? 'cancelled' : undefined,
  );

const statementsOf = ({ statement, countStatement, withoutUnit, eventBefore }: CompiledQuery): PrintedStatement[] =>
  [statement, countStatement, withoutUnit?.statement, eventBefore].filter((of) => of !== undefined);

/** What all statements read. */
function readsOf(compiled: CompiledQuery): Reads {
  const all = statementsOf(compiled).map(({ reads }) => reads);
  const bounds = all.flatMap(({ bounds: of }, statement) =>
    Object.entries(of).map(([name, ms]) => [`${statement} ${name}`, ms] as const),
  );
  return {
    tables: [...new Set(all.flatMap(({ tables }) => tables))],
    ranges: all.flatMap(({ ranges }) => ranges),
    bounds: Object.fromEntries(bounds),
  };
}

interface Moved {
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/** Ends of the range that are others now. */
const movedBounds = (kept: Kept, asked: Asked): readonly Moved[] =>
  asked.bounds.flatMap((to, index) => {
    const from = kept.bounds[index] ?? Number.POSITIVE_INFINITY;
    return from === to ? [] : [{ index, from, to }];
  });

/** Events that are expected between the ends: with more, reading the next ones is not worth it. */
const EXPECTED_MAX = 2;

function isDense({ counted }: Kept, { ranges }: Reads, moved: readonly Moved[]): boolean {
  const movedMs = moved.reduce((sum, { from, to }) => sum + Math.abs(to - from), 0);
  // A range from the earliest time on says nothing of how close its events are.
  const lengths = ranges.map(({ fromMs, toMs }) => (fromMs > EARLIEST_MS ? toMs - fromMs : 0));
  const lengthMs = lengths.reduce((sum, length) => sum + length, 0);
  return lengthMs > 0 && (counted.rowsScanned * movedMs) / lengthMs > EXPECTED_MAX;
}

/** Separate buffers: those of an answer may be moved to a thread. */
const copyOf = (counted: Counted): Counted => ({
  ...counted,
  page: { ...counted.page, pieces: counted.page.pieces.map((piece) => piece.slice()) },
});
