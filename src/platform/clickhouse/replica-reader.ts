// Which replica of a shard answers queries: the first, and while it does not answer or lacks rows
// that others have acknowledged, the next one that has them all. When none has, the next one that
// answers, whose answers may lack the newest events. Only queries use it: what must see every row
// (the lookup of duplicates, erasure and its verification, exports, moves) asks the first replica
// or fails.
import { askClickHouse, type ClickHouseClient } from './client.js';

export interface Replica {
  /** Fails while the replica lacks rows that others have acknowledged. */
  readonly complete: ClickHouseClient;
  /** Does not wait for those. */
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
    const [first, ...others] = this.#replicas;
    if (first === undefined || (await this.#answers(first.complete))) this.#current = undefined;
    else {
      this.#current =
        (await this.#find(others, ({ complete }) => complete)) ??
        (await this.#find(this.#replicas, ({ lagging }) => lagging));
    }
  }

  async #find(
    replicas: readonly Replica[],
    askedOf: (replica: Replica) => ClickHouseClient,
  ): Promise<ClickHouseClient | undefined> {
    for (const replica of replicas) if (await this.#answers(askedOf(replica))) return replica.lagging;
    return undefined;
  }

  #answers(clickhouse: ClickHouseClient): Promise<boolean> {
    return this.#ask(clickhouse).then(
      () => true,
      () => false,
    );
  }
}
