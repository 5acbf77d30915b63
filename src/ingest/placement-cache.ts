// Where the projects of ingest jobs live, for the workers that store them. A worker reads the
// version with every job, at no extra cost, and forgets what it knows when the version has changed.
// A move publishes a version and then waits for the jobs that began before, so that no later job
// stores at the old place (the same protocol as that of tombstones).
import { LRUCache } from 'lru-cache';
import { FIRST_PLACEMENT, type Placement, type Shards } from '../platform/clickhouse/shards.js';
import { newUuidV7 } from '../platform/ids.js';
import type { Redis } from '../platform/redis/client.js';
import { shardOfCanary } from './canary.js';

/** Redis key; missing until the first change. */
export const PLACEMENT_VERSION = 'placements:version';

const HELD_MAX = 100_000;

/** Jobs that start afterwards look up every placement again. Resolves with the version. */
export async function publishPlacements(redis: Redis): Promise<string> {
  const version = newUuidV7();
  await redis.set(PLACEMENT_VERSION, version);
  return version;
}

/**
 * Throws when Redis has an earlier version, by which jobs may have begun: one that restarts, or
 * whose replica takes over, can lose its last writes. Versions are in the order of their times.
 */
export async function requirePublished(redis: Redis, version: string): Promise<void> {
  const known = await redis.get(PLACEMENT_VERSION);
  if (known === null || known < version) throw new Error('redis has lost the version of the placements; begin again');
}

export class PlacementCache {
  readonly #shards: Pick<Shards, 'known' | 'read' | 'areSeveral' | 'placementsOf'>;
  #version: string | null | undefined;
  #adopting: { readonly version: string | null; readonly done: Promise<void> } | undefined;
  #held = new LRUCache<string, Placement>({ max: HELD_MAX });

  constructor(shards: Pick<Shards, 'known' | 'read' | 'areSeveral' | 'placementsOf'>) {
    this.#shards = shards;
  }

  /**
   * `version` is the value of PLACEMENT_VERSION after the job started. Rejects when PostgreSQL is
   * unavailable and has to be asked.
   */
  async of(projectIds: ReadonlySet<string>, version: string | null): Promise<(projectId: string) => Placement> {
    if (version !== this.#version) await this.#adopt(version);
    if (!(await this.#shards.areSeveral())) return () => FIRST_PLACEMENT;
    const held = this.#held;
    const found = new Map<string, Placement>();
    const missing: string[] = [];
    for (const id of projectIds) {
      const ofCanary = shardOfCanary(id);
      const known = ofCanary === undefined ? held.get(id) : this.#placementOfCanary(ofCanary);
      if (known === undefined) missing.push(id);
      else found.set(id, known);
    }
    for (const [id, placement] of missing.length === 0 ? [] : await this.#shards.placementsOf(missing)) {
      found.set(id, placement);
      if (!placement.isMoving) held.set(id, placement);
    }
    return (id) => found.get(id) ?? FIRST_PLACEMENT;
  }

  /** On the first shard when its own was removed, because its job would never end otherwise. */
  #placementOfCanary(shard: number): Placement {
    return this.#shards.known.some(({ id }) => id === shard) ? { ...FIRST_PLACEMENT, shard } : FIRST_PLACEMENT;
  }

  /** The jobs of a worker that starts share one read. */
  #adopt(version: string | null): Promise<void> {
    if (this.#adopting?.version === version) return this.#adopting.done;
    const done = this.#readRegistry(version).finally(() => {
      if (this.#adopting?.done === done) this.#adopting = undefined;
    });
    this.#adopting = { version, done };
    return done;
  }

  async #readRegistry(version: string | null): Promise<void> {
    await this.#shards.read();
    // A new cache: lookups of earlier jobs, which may end later, fill the old one.
    this.#held = new LRUCache({ max: HELD_MAX });
    this.#version = version;
  }
}
