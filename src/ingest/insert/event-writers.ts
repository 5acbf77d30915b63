// Batch writers of events, one for each shard and partition: rows of many jobs share inserts.
import { availableParallelism } from 'node:os';
import type { CatalogRecorder } from '../../catalog/recorder.js';
import { isBadData } from '../../platform/clickhouse/failures.js';
import type { Shard, Shards } from '../../platform/clickhouse/shards.js';
import type { Config } from '../../platform/config.js';
import { BatchWriter } from '../../platform/flow/batch-writer.js';
import { BOUNDS } from '../../platform/flow/bounds.js';
import { LargeWrites } from '../../platform/flow/large-writes.js';
import type { Logger } from '../../platform/log.js';
import { isLeaseLost } from '../../platform/redis/lease-lost.js';
import type { Lease } from '../../platform/redis/leased-worker.js';
import type { InsertMetrics } from '../metrics.js';
import { insertEvents, partitionOf } from './ingest-partition.js';
import { EventBlock } from './row.js';

/** Large inserts of a worker at once, by partition. A hung server delays others by 2 s at most. */
const LARGE_WRITES = { max: Math.max(1, Math.floor(availableParallelism() / 2)), holdMs: 2_000 };

/** Rows with the leases of their jobs. */
export class HeldBlock extends EventBlock {
  readonly leases = new Set<Lease>();

  /** Throws LeaseLost when any job may belong to another worker. */
  requireHeld(): void {
    for (const lease of this.leases) lease.require();
  }
}

export type EventWriter = BatchWriter<HeldBlock>;

export type WriterSettings = Pick<
  Config,
  | 'CLICKHOUSE_DATABASE'
  | 'INGEST_PARTITIONS'
  | 'INGEST_FLUSH_ROWS'
  | 'INGEST_FLUSH_DELAY_MIN_MS'
  | 'INGEST_FLUSH_DELAY_MAX_MS'
>;

interface WriterDeps {
  readonly settings: WriterSettings;
  readonly shards: Shards;
  /** Told of names before their events are stored, and afterwards. */
  readonly catalogs: CatalogRecorder;
  readonly metrics: InsertMetrics;
  readonly log: Logger;
}

export class EventWriters {
  readonly #deps: WriterDeps;
  readonly #writers = new Map<string, EventWriter>();
  /** By partition: INGEST_PARTITIONS says how many inserts of a server may run at once. */
  readonly #largeWrites = new Map<number, LargeWrites>();

  constructor(deps: WriterDeps) {
    this.#deps = deps;
  }

  of(shard: Shard, projectId: string): EventWriter {
    const partition = partitionOf(projectId, this.#deps.settings.INGEST_PARTITIONS);
    const key = `${shard.id}:${partition}`;
    const writer = this.#writers.get(key) ?? this.#create(shard, partition);
    this.#writers.set(key, writer);
    return writer;
  }

  /** Writes what is waiting. */
  async close(): Promise<void> {
    await Promise.all([...this.#writers.values()].map((writer) => writer.close()));
  }

  #create(shard: Shard, partition: number): EventWriter {
    const { settings, catalogs, log } = this.#deps;
    const largeWrites = this.#largeWrites.get(partition) ?? new LargeWrites(LARGE_WRITES);
    this.#largeWrites.set(partition, largeWrites);
    return new BatchWriter<HeldBlock>({
      createBlock: () => new HeldBlock((projectId, field) => catalogs.hasManyValues(projectId, field)),
      write: (block, signal) => this.#write(block, { shard, partition, signal }),
      // The rows of the jobs that are still held are then stored without the others.
      isRefused: (error) => isBadData(error) || isLeaseLost(error),
      rowsMax: settings.INGEST_FLUSH_ROWS,
      delayMs: { min: settings.INGEST_FLUSH_DELAY_MIN_MS, max: settings.INGEST_FLUSH_DELAY_MAX_MS },
      capacityRows: settings.INGEST_FLUSH_ROWS * BOUNDS.ingestBatches,
      largeWrites,
      log,
    });
  }

  async #write(
    block: HeldBlock,
    { shard, partition, signal }: { shard: Shard; partition: number; signal: AbortSignal },
  ): Promise<void> {
    const { settings, shards, catalogs, metrics } = this.#deps;
    const insert = { partition, block: block.encode(), database: settings.CLICKHOUSE_DATABASE, signal };
    const names = block.names.projects;
    // An insert that failed is tried again here, when the shard may have another address.
    const { clickhouse, writer } = shards.current(shard);
    // Names of jobs that another worker has taken over may have been erased meanwhile.
    block.requireHeld();
    await catalogs.announce(names);
    try {
      await metrics.insert(block.rows, () =>
        insertEvents(clickhouse, { ...insert, requireHeld: () => block.requireHeld(), ...(writer && { writer }) }),
      );
    } catch (error) {
      if (isLeaseLost(error)) await catalogs.retract(names.keys());
      throw error;
    }
    await catalogs.record(names);
  }
}
