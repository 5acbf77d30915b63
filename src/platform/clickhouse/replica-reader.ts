// Which replica of a shard answers queries: the first, and while it does not answer, the next one
// that does, whose answers may lack the newest events. Only queries use it: what must see every row
// (the lookup of duplicates, erasure and its verification, exports, moves) asks the first replica
// or fails.
import { askClickHouse, type ClickHouseClient } from './client.js';

export interface Replica {
  /** Does not wait for what other replicas have acknowledged. */
  readonly lagging: ClickHouseClient;
}

export class ReplicaReader {
  readonly #replicas: readonly Replica[];
  readonly #ask: (clickhouse: ClickHouseClient) => Promise<unknown>;
  #current: ClickHouseClient | undefined;

  constructor(replicas: readonly Replica[], ask = askClickHouse) {
    this.#replicas = replicas;
    this.#ask = ask;
  }

  /** Undefined for the first replica. */
  get current(): ClickHouseClient | undefined {
    return this.#current;
  }

  /** Never rejects. When no replica answers, queries go to the first and fail. */
  async choose(): Promise<void> {
    for (const [index, { lagging }] of this.#replicas.entries()) {
      if (
        await this.#ask(lagging).then(
          () => true,
          () => false,
        )
      ) {
        this.#current = index === 0 ? undefined : lagging;
        return;
      }
    }
    this.#current = undefined;
  }
}
