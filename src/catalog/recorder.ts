// Records the names of blocks in the catalogs. New names are announced before the events are
// stored, so no answer counts an event whose names are unknown. All names are recorded, with their
// counts, after the events are stored and before their jobs end: a job that runs again records them
// again, and a rebuild that began meanwhile misses none. Names of a project are held in memory, so
// a block without new ones costs one small statement. When PostgreSQL is not available, ingestion
// goes on, and the projects are rebuilt as soon as it is, also those without further blocks.
import { LRUCache } from 'lru-cache';
import { BOUNDS } from '../platform/flow/bounds.js';
import { NoAnswer, withTimeout } from '../platform/flow/with-timeout.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { KnownNames } from './known-names.js';
import type { CatalogName } from './names.js';
import { beginGeneration, type FoundNames, portionsOf, readGenerations, readNames, saveNames } from './store.js';

/** PostgreSQL that takes longer for a read or a portion of names is not available. */
const ANSWER_TIMEOUT_MS = 2_000;
/** After this time no further portion of a block is begun. */
const BLOCK_MS = 2_000;
const MISSED_MAX = 10_000;
const PAUSE_MS = 10_000;

/** The names of one project in a block. */
export interface SeenInBlock {
  names(): Iterable<CatalogName>;
}

type SeenByProject = ReadonlyMap<string, SeenInBlock>;

function withoutCounts(seen: SeenByProject): SeenByProject {
  const uncounted = function* (names: SeenInBlock): Iterable<CatalogName> {
    for (const name of names.names()) yield { ...name, events: 0 };
  };
  return new Map([...seen].map(([projectId, names]) => [projectId, { names: () => uncounted(names) }]));
}

interface RecorderDeps {
  readonly postgres: Postgres;
  readonly log: Logger;
  /** Milliseconds between attempts while PostgreSQL does not answer. */
  readonly pauseMs?: number;
}

export class CatalogRecorder {
  readonly #postgres: Postgres;
  readonly #log: Logger;
  readonly #known = new LRUCache<string, KnownNames>({
    maxSize: BOUNDS.catalogNamesHeld,
    sizeCalculation: ({ size }) => size + 1,
  });
  /** Projects with names that could not be stored. */
  readonly #missed = new Set<string>();
  /** Blocks are recorded one after another. */
  #last: Promise<void> = Promise.resolve();
  /** Blocks whose new names are being stored. */
  #announcing = 0;
  /** Blocks do not wait again for a database that does not answer. */
  #pausedUntil = 0;
  readonly #pauseMs: number;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ postgres, log, pauseMs = PAUSE_MS }: RecorderDeps) {
    this.#postgres = postgres;
    this.#log = log;
    this.#pauseMs = pauseMs;
  }

  hasManyValues(projectId: string, field: string): boolean {
    return this.#known.peek(projectId)?.isMany(field) ?? false;
  }

  /**
   * Before the events of a block are stored: stores its new names, without their counts. Never
   * rejects. Resolves when these names and those of earlier blocks are stored, or could not be.
   */
  async announce(seen: SeenByProject): Promise<void> {
    if (!this.#hasNew(seen)) {
      if (this.#announcing > 0) await this.#last;
      return;
    }
    this.#announcing += 1;
    await this.#store(withoutCounts(seen));
    this.#announcing -= 1;
  }

  #hasNew(seen: SeenByProject): boolean {
    for (const [projectId, names] of seen) {
      const known = this.#known.peek(projectId);
      if (known === undefined || known.hasNew(names.names())) return true;
    }
    return false;
  }

  /**
   * After the events of a block are stored. Never rejects. Resolves when the names are stored, or
   * could not be.
   */
  async record(seen: SeenByProject): Promise<void> {
    await this.#store(seen);
  }

  /** After ClickHouse has refused events: a rebuild finds the names that stored events have. */
  retract(projectIds: Iterable<string>): void {
    this.#miss(projectIds);
  }

  async #store(seen: SeenByProject): Promise<void> {
    if (this.#isPaused()) return this.#miss(seen.keys());
    this.#last = this.#last.then(() => this.#storeInTurn(seen));
    await this.#last;
  }

  async #storeInTurn(seen: SeenByProject): Promise<void> {
    // An earlier block has found out meanwhile.
    if (this.#isPaused()) return this.#miss(seen.keys());
    const until = performance.now() + BLOCK_MS;
    const projectIds = [...seen.keys()];
    const reading = this.#rebuildMissed().then(() => this.#readUnknown(projectIds));
    if (!(await this.#try(projectIds, reading))) return;
    const late: string[] = [];
    for (const portion of portionsOf(this.#changesOf(seen))) {
      const ids = portion.map(({ projectId }) => projectId);
      if (this.#isPaused() || performance.now() > until) late.push(...ids);
      else await this.#try(ids, saveNames(this.#postgres, portion));
    }
    if (late.length === 0) return;
    this.#log.warn('new names could not be stored in time; their projects will be rebuilt');
    this.#miss(late);
  }

  #isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /** Whether PostgreSQL has done it in time. Never rejects. */
  async #try(projectIds: readonly string[], answer: Promise<unknown>): Promise<boolean> {
    try {
      await withTimeout(ANSWER_TIMEOUT_MS, answer);
      return true;
    } catch (err) {
      this.#log.warn({ err }, 'names of the catalog could not be stored; their projects will be rebuilt');
      if (err instanceof NoAnswer) this.#pausedUntil = performance.now() + this.#pauseMs;
      this.#miss(projectIds);
      return false;
    }
  }

  #miss(projectIds: Iterable<string>): void {
    for (const projectId of projectIds) {
      this.#known.delete(projectId);
      this.#missAgain(projectId);
    }
    this.#retryLater();
  }

  #missAgain(projectId: string): void {
    if (this.#missed.size < MISSED_MAX) this.#missed.add(projectId);
  }

  /** No block may follow the last one that was missed. */
  #retryLater(): void {
    if (this.#isClosed || this.#missed.size === 0) return;
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      void this.#tryRebuildMissed();
    }, this.#pauseMs).unref();
  }

  /** Never rejects. */
  async #tryRebuildMissed(): Promise<void> {
    this.#last = this.#last.then(() =>
      withTimeout(ANSWER_TIMEOUT_MS, this.#rebuildMissed()).catch((err: unknown) => {
        this.#log.warn({ err }, 'projects with missing names could not be marked; they will be later');
      }),
    );
    await this.#last;
    this.#retryLater();
  }

  /** Tries a last time to have the missed projects rebuilt. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    if (this.#missed.size > 0) await this.#tryRebuildMissed();
  }

  #changesOf(seen: SeenByProject): FoundNames[] {
    const found: FoundNames[] = [];
    for (const [projectId, names] of seen) {
      const known = this.#known.get(projectId) ?? new KnownNames(0, []);
      const change = known.add(names.names());
      if (change.names.length > 0) found.push({ projectId, generation: known.generation, ...change });
      // Its size has changed, which the cache sees only of an entry that is new.
      this.#known.delete(projectId);
      this.#known.set(projectId, known);
    }
    return found;
  }

  async #rebuildMissed(): Promise<void> {
    const missed = [...this.#missed];
    if (missed.length === 0) return;
    // A project that is missed meanwhile is rebuilt once more.
    this.#missed.clear();
    try {
      await beginGeneration(this.#postgres, missed);
    } catch (error) {
      for (const projectId of missed) this.#missAgain(projectId);
      this.#retryLater();
      throw error;
    }
  }

  /** Reads names that are not held, or are of an earlier generation. */
  async #readUnknown(projectIds: readonly string[]): Promise<void> {
    const generations = await readGenerations(this.#postgres, projectIds);
    const generationOf = (projectId: string): number => generations.get(projectId) ?? 0;
    const unknown = projectIds.filter((id) => this.#known.get(id)?.generation !== generationOf(id));
    if (unknown.length === 0) return;
    const stored = await readNames(this.#postgres, unknown);
    for (const projectId of unknown) {
      this.#known.set(projectId, new KnownNames(generationOf(projectId), stored.get(projectId) ?? []));
    }
  }
}
