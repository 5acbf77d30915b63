// Ingest partition: the unit of serialized inserts. The lookup that drops duplicates is exact only
// when one insert at a time runs per project, in whichever process. Every insert of a partition has
// the same query id, and ClickHouse rejects a second running query of one id (code 216), so the
// lock ends exactly when the query does: when a worker is killed between lookup and insert, the
// next one waits for that insert, then finds its rows.

import type { ClickHouseClient } from '../../platform/clickhouse/client.js';
import { insertWithQueryIdLock } from '../../platform/clickhouse/query-id-lock.js';
import type { Held, ShardWriter } from '../../platform/clickhouse/shard-writer.js';
import { sha256 } from '../../platform/sha256.js';

/**
 * The partition of a project. All processes must have the same number of partitions
 * (INGEST_PARTITIONS); otherwise two of them may insert for one project at once.
 */
export function partitionOf(projectId: string, partitions: number): number {
  return partitions === 1 ? 0 : sha256(projectId).readUInt32LE(0) % partitions;
}

export interface PartitionInsert {
  readonly partition: number;
  /** Rows in Native format. */
  readonly block: Buffer;
  readonly database: string;
  readonly signal?: AbortSignal;
  /** Throws when jobs of the block may belong to another worker. */
  readonly requireHeld?: () => void;
  /** Where several hosts take inserts. */
  readonly writer?: ShardWriter;
}

/**
 * Resolves once ClickHouse has stored every new row of the block. When aborted, it may still store
 * them later.
 */
export async function insertEvents(clickhouse: ClickHouseClient, insert: PartitionInsert): Promise<void> {
  const { writer, signal, requireHeld = () => {} } = insert;
  const lock = partitionQueryId(insert.partition, insert.database);
  const send = (to: ClickHouseClient, held: Pick<Held, 'queryId' | 'requireHeld'>): Promise<void> =>
    insertWithQueryIdLock(to, {
      ...{ table: 'events_landing', bytes: insert.block, settings: INSERT_SETTINGS },
      ...held,
      ...(signal && { signal }),
    });
  if (writer === undefined) return send(clickhouse, { queryId: lock, requireHeld });
  const requireBoth = (held: Held) => () => {
    requireHeld();
    held.requireHeld();
  };
  await writer.insert(lock, (held) => send(held.clickhouse, { ...held, requireHeld: requireBoth(held) }), signal);
}

/** The query id of every insert of the partition; with several hosts an epoch follows. */
export const partitionQueryId = (partition: number, database: string): string => `ingest-${database}-${partition}`;

const INSERT_SETTINGS = {
  // The view de-duplicates within the block; the default would sort and merge the block once more.
  optimize_on_insert: 0,
  // The view sees each block of an insert separately, so the rows of one request must stay in one
  // block.
  max_insert_threads: '1',
  min_insert_block_size_rows: '1000000',
  min_insert_block_size_bytes: '1000000000',
  // Events may be of any month since 2000, and many clients share a block. The default rejects more
  // than a hundred months.
  max_partitions_per_insert_block: '0',
} as const;
