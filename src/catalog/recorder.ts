// Records the names of blocks in the catalogs. New names are announced before the events are
// stored, so no answer counts an event whose names are unknown. All names are recorded, with their
// counts, after the events are stored and before their jobs end: a job that runs again records them
// again, and a rebuild that began meanwhile misses none. Names of a project are held in memory, so
// a block without new ones costs one small statement. When PostgreSQL is not available, ingestion
// goes on, and Redis keeps the projects, which are rebuilt as soon as it is (missed-projects.ts).
import { LRUCache } from 'lru-cache';
import { BOUNDS } from '../platform/flow/bounds.js';
import { NoAnswer, withTimeout } from '../platform/flow/with-timeout.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { createRepeatedWarning } from '../platform/repeated-warning.js';
import { KnownNames } from './known-names.js';
import { keepMissed } from './missed-projects.js';
import type { CatalogName } from './names.js';
import { type FoundNames, portionsOf, readGenerations, readNames, saveNames } from './store.js';

/** A store that takes longer for a read or a portion of names is not available. */
const ANSWER_TIMEOUT_MS = 2_000;
/** After this time no further portion of a block is begun. */
const BLOCK_MS = 2_000;
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
  readonly redis: Redis;
  readonly log: Logger;
}

export class CatalogRecorder {
  readonly #postgres: Postgres;
  readonly #redis: Redis;
  readonly #log: Logger;
  readonly #warnOfStore: (error: unknown) => void;
  readonly #known = new LRUCache<string, KnownNames>({
    maxSize: BOUNDS.catalogNamesHeld,
    sizeCalculation: ({ size }) => size + 1,
  });
  /** Blocks are recorded one after another. */
  #last: Promise<void> = Promise.resolve();
  /** Blocks whose new names are being stored. */
  #announcing = 0;
  /** Blocks do not wait again for a database that does not answer. */
  #pausedUntil = 0;

  constructor({ postgres, redis, log }: RecorderDeps) {
    this.#postgres = postgres;
    this.#redis = redis;
    this.#log = log;
    this.#warnOfStore = createRepeatedWarning({
      log,
      message: 'names of the catalog could not be stored; their projects will be rebuilt',
    });
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
    // Names that are missed and not kept are recorded after the events are stored.
    await this.#store(withoutCounts(seen)).catch(() => {});
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
   * After the events of a block are stored. Resolves when the names are stored, or could not be and
   * the projects are kept. Rejects when Redis does not keep them: the block is to be stored again.
   */
  async record(seen: SeenByProject): Promise<void> {
    await this.#store(seen);
  }

  /** After ClickHouse has refused events: a rebuild finds the names that stored events have. */
  async retract(projectIds: Iterable<string>): Promise<void> {
    await this.#miss(projectIds).catch((err: unknown) => {
      this.#log.warn({ err }, 'names of refused events stay in the catalog until its next rebuild');
    });
  }

  /**
   * After the last block: stores the counts that have not doubled, which would be lost at every
   * stop. Never rejects. Takes a few seconds at most.
   */
  async close(): Promise<void> {
    await this.#last;
    const found = [...this.#known].map(([projectId, known]) => ({
      ...{ projectId, generation: known.generation },
      ...{ names: known.takeCounted(), dropped: [] },
    }));
    const until = performance.now() + BLOCK_MS;
    try {
      for (const portion of portionsOf(found.filter(({ names }) => names.length > 0))) {
        if (this.#isPaused() || performance.now() > until) return;
        await withTimeout(ANSWER_TIMEOUT_MS, saveNames(this.#postgres, portion));
      }
    } catch (err) {
      this.#log.warn({ err }, 'the last counts of the catalog could not be stored');
    }
  }

  async #store(seen: SeenByProject): Promise<void> {
    if (this.#isPaused()) return this.#miss(seen.keys());
    const storing = this.#last.then(() => this.#storeInTurn(seen));
    this.#last = storing.catch(() => {});
    await storing;
  }

  async #storeInTurn(seen: SeenByProject): Promise<void> {
    // An earlier block has found out meanwhile.
    if (this.#isPaused()) return this.#miss(seen.keys());
    const until = performance.now() + BLOCK_MS;
    const projectIds = [...seen.keys()];
    if (!(await this.#try(projectIds, this.#readUnknown(projectIds)))) return;
    const late: string[] = [];
    for (const portion of portionsOf(this.#changesOf(seen))) {
      const ids = portion.map(({ projectId }) => projectId);
      if (this.#isPaused() || performance.now() > until) late.push(...ids);
      else await this.#try(ids, saveNames(this.#postgres, portion));
    }
    if (late.length === 0) return;
    this.#log.warn('new names could not be stored in time; their projects will be rebuilt');
    await this.#miss(late);
  }

  #isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  /** Whether PostgreSQL has done it in time; otherwise the projects are kept. */
  async #try(projectIds: readonly string[], answer: Promise<unknown>): Promise<boolean> {
    try {
      await withTimeout(ANSWER_TIMEOUT_MS, answer);
      return true;
    } catch (err) {
      this.#warnOfStore(err);
      if (err instanceof NoAnswer) this.#pausedUntil = performance.now() + PAUSE_MS;
      await this.#miss(projectIds);
      return false;
    }
  }

  async #miss(projectIds: Iterable<string>): Promise<void> {
    const ids = [...projectIds];
    for (const id of ids) this.#known.delete(id);
    await withTimeout(ANSWER_TIMEOUT_MS, keepMissed(this.#redis, ids));
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
