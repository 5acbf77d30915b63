// One insert at a time per project, in whatever process: the lookup that drops duplicates is exact only then. The engine
// itself is the lock. Every insert of a partition has the same query id, and ClickHouse refuses to run two queries of one id
// (code 216), so the lock ends exactly when the engine's work does: when a worker is killed between lookup and insert, the
// next one waits for that insert, then finds its rows.

import { createHash } from 'node:crypto';
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import { insertWithQueryIdLock } from '../platform/clickhouse/query-id-lock.js';

/**
 * The partition of a project. All processes must agree on the number of partitions (INGEST_PARTITIONS): two that do not may both insert
 * for one project.
 */
export function partitionOf(projectId: string, partitions: number): number {
  return partitions === 1 ? 0 : createHash('sha256').update(projectId).digest().readUInt32LE(0) % partitions;
}

/** Resolves once the engine has stored every row of the block that was not stored yet. Aborted, it may still do so later. */
export async function insertEvents(
  clickhouse: ClickHouseClient,
  insert: { partition: number; block: Buffer; database: string; signal?: AbortSignal },
): Promise<void> {
  await insertWithQueryIdLock(clickhouse, {
    table: 'events_landing',
    bytes: insert.block,
    queryId: partitionQueryId(insert.partition, insert.database),
    settings: INSERT_SETTINGS,
    ...(insert.signal && { signal: insert.signal }),
  });
}

/** Every insert of the partition has this id. */
export const partitionQueryId = (partition: number, database: string): string => `ingest-${database}-${partition}`;

const INSERT_SETTINGS = {
  // Sorting out duplicates within the block is done by the view; the default would sort and merge the block once more.
  optimize_on_insert: 0,
  // The view sees each block of an insert by itself: rows of one request must stay one block.
  max_insert_threads: '1',
  min_insert_block_size_rows: '1000000',
  min_insert_block_size_bytes: '1000000000',
  // Events may be of any month since 2000, and many clients share a block. The engine's default refuses more than a hundred months.
  max_partitions_per_insert_block: '0',
} as const;
