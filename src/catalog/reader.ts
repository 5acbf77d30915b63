// Reads catalogs for queries and the API. A catalog that was read is kept until its version
// changes, which one small statement checks every few seconds.
import { LRUCache } from 'lru-cache';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { type Catalog, toCatalog } from './catalog.js';
import { findCatalog, listNames, type StoredCatalog } from './store.js';

// With the delay of an insert, `read` gives a new name within ten seconds.
const CHECKED_FOR_MS = 3_000;

interface Held {
  readonly stored: StoredCatalog;
  readonly catalog: Catalog;
  readonly size: number;
  checkedAt: number;
}

export class CatalogReader {
  readonly #postgres: Postgres;
  readonly #held = new LRUCache<string, Held>({
    maxSize: BOUNDS.catalogNamesHeld,
    sizeCalculation: ({ size }) => size + 1,
  });
  readonly #reading = new Map<string, Promise<Catalog>>();

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  /** A catalog that was checked a moment ago is given as it is. */
  async read(projectId: ProjectId): Promise<Catalog> {
    const held = this.#held.get(projectId);
    if (held && performance.now() - held.checkedAt < CHECKED_FOR_MS) return held.catalog;
    return this.#reading.get(projectId) ?? this.#begin(projectId);
  }

  /**
   * Checks whether the catalog has changed; the same object is given when it has not. Has every
   * name that was stored before the call: concurrent calls for a project share a read that begins
   * after them.
   */
  async readNow(projectId: ProjectId): Promise<Catalog> {
    await this.#reading.get(projectId)?.catch(() => undefined);
    // One that is found now has begun after the call.
    return this.#reading.get(projectId) ?? this.#begin(projectId);
  }

  #begin(projectId: ProjectId): Promise<Catalog> {
    const reading = this.#read(projectId, this.#held.get(projectId)).finally(() => this.#reading.delete(projectId));
    this.#reading.set(projectId, reading);
    return reading;
  }

  /** The catalog that was read last, if it is in memory; it may be older than that of `read`. */
  held(projectId: ProjectId): Catalog | undefined {
    return this.#held.peek(projectId)?.catalog;
  }

  async #read(projectId: ProjectId, held: Held | undefined): Promise<Catalog> {
    const checkedAt = performance.now();
    const stored = (await findCatalog(this.#postgres, projectId)) ?? NOTHING;
    if (held && stored.version === held.stored.version && stored.isComplete === held.stored.isComplete) {
      held.checkedAt = checkedAt;
      return held.catalog;
    }
    const names = stored === NOTHING ? [] : await listNames(this.#postgres, projectId);
    const catalog = toCatalog(names, stored.isComplete);
    this.#held.set(projectId, { stored, catalog, size: names.length, checkedAt });
    return catalog;
  }
}

const NOTHING: StoredCatalog = { version: -1, isComplete: false };
