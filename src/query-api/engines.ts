// Engines of the query process: of each shard its client, and the shares of the queries that run
// there. A shard that hangs holds up only the queries of its own projects.
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import type { Shard, Shards } from '../platform/clickhouse/shards.js';
import { PublicError } from '../platform/errors.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import { createEngineThreads } from './engine-threads.js';
import { createQueryShares, type QueryShares, type ShareLimits } from './shares.js';

export interface Engine {
  readonly clickhouse: ClickHouseClient;
  readonly shares: QueryShares;
}

export class Engines {
  readonly #shards: Shards;
  readonly #limits: Omit<ShareLimits, 'threads'>;
  readonly #log: Logger;
  readonly #open = new Map<number, Engine>();

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
  async of(projectId: ProjectId): Promise<Engine> {
    try {
      return this.#of((await this.#shards.homeOf(projectId)).at);
    } catch (cause) {
      throw new PublicError('unavailable', 'the shard of the project cannot be looked up right now; try again', {
        cause,
      });
    }
  }

  #of({ id, clickhouse }: Shard): Engine {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const threads = createEngineThreads({ clickhouse, log: this.#log });
    const engine = { clickhouse, shares: createQueryShares({ ...this.#limits, threads }) };
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
