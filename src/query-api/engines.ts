// Engines of the query process: of each shard its client, and the shares of the queries that run
// there. A shard that hangs holds up only the queries of its own projects.
import { LRUCache } from 'lru-cache';
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import type { Shard, Shards } from '../platform/clickhouse/shards.js';
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import { createEngineThreads } from './engine-threads.js';
import { createQueryShares, type QueryShares, type ShareLimits } from './shares.js';
import { createVersionReader, type TableVersions, type VersionReader } from './table-versions.js';

export interface Engine {
  readonly clickhouse: ClickHouseClient;
  readonly shares: QueryShares;
  readonly versions: VersionReader;
}

/** Projects whose last engine is remembered. */
const LAST_MAX = 10_000;

export interface EngineLookup {
  /** Where the project lives. Rejects with a PublicError. */
  readonly engineOf: (projectId: ProjectId) => Promise<Engine>;
  /** Where its last query ran, if that is known. */
  readonly lastEngineOf: (projectId: ProjectId) => Engine | undefined;
}

/** An engine, and the versions of its tables as of a moment after the question arrived. */
export interface FoundEngine {
  readonly engine: Engine;
  readonly versions: Promise<TableVersions | undefined>;
}

/**
 * Reads the versions while the place is looked up, where the last query ran: projects move rarely,
 * and an answer of several shards would otherwise take a round trip to PostgreSQL longer.
 */
export async function findEngine({ engineOf, lastEngineOf }: EngineLookup, projectId: ProjectId): Promise<FoundEngine> {
  const last = lastEngineOf(projectId);
  const versionsOfLast = last?.versions.read();
  const engine = await engineOf(projectId);
  const versions = engine === last && versionsOfLast !== undefined ? versionsOfLast : engine.versions.read();
  return { engine, versions };
}

export class Engines implements EngineLookup {
  readonly #shards: Shards;
  readonly #limits: Omit<ShareLimits, 'threads'>;
  readonly #log: Logger;
  readonly #open = new Map<number, Engine>();
  readonly #last = new LRUCache<ProjectId, Engine>({ max: LAST_MAX });

  constructor(shards: Shards, { log, ...limits }: Omit<ShareLimits, 'threads'> & { log: Logger }) {
    this.#shards = shards;
    this.#limits = limits;
    this.#log = log;
    this.#of(shards.first);
  }

  /**
   * Where the project lives now. Throws unavailable when that cannot be looked up, because an
   * earlier place may have lost its rows.
   */
  async engineOf(projectId: ProjectId): Promise<Engine> {
    try {
      const engine = this.#of((await this.#shards.homeOf(projectId)).at);
      this.#last.set(projectId, engine);
      return engine;
    } catch (cause) {
      throw new PublicError('unavailable', 'the shard of the project cannot be looked up right now; try again', {
        cause,
      });
    }
  }

  lastEngineOf(projectId: ProjectId): Engine | undefined {
    return this.#last.get(projectId);
  }

  #of(shard: Shard): Engine {
    const { id } = shard;
    const clickhouse = this.#shards.readerOf(shard);
    const known = this.#open.get(id);
    if (known?.clickhouse === clickhouse) return known;
    const threads = createEngineThreads({ clickhouse, log: this.#log });
    const versions = hasOneHost(shard) ? createVersionReader({ clickhouse, log: this.#log }) : UNKNOWN_VERSIONS;
    const engine = { clickhouse, shares: createQueryShares({ ...this.#limits, threads }), versions };
    this.#open.set(id, engine);
    return engine;
  }

  get running(): number {
    return this.#sum(({ running }) => running);
  }

  get waiting(): number {
    return this.#sum(({ waiting }) => waiting);
  }

  get projects(): number {
    return this.#sum(({ projects }) => projects);
  }

  #sum(read: (shares: QueryShares) => number): number {
    return [...this.#open.values()].reduce((sum, { shares }) => sum + read(shares), 0);
  }
}

/** Behind one address, the parts of one host say nothing of the host that runs the query. */
const UNKNOWN_VERSIONS: VersionReader = { read: () => Promise.resolve(undefined) };

/** Whether each of its URLs leads to one host. */
const hasOneHost = ({ hosts, writer }: Shard): boolean => hosts.length > 1 || writer === undefined;
