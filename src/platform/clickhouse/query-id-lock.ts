// Query-id lock: serializes inserts that share a query id, across processes. ClickHouse runs a
// query id once at a time and rejects the second with code 216, so the lock is held exactly as long
// as the insert runs, even if its sender was killed.
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouseClient } from './client.js';
import { isQueryIdRunning } from './failures.js';

const BUSY_DELAY_MS = 20;

export interface NativeInsert {
  readonly table: string;
  /** Rows in Native format. */
  readonly bytes: Buffer;
  readonly queryId: string;
  readonly settings?: ClickHouseSettings;
  /** Aborts waiting for the lock. */
  readonly signal?: AbortSignal;
}

/** Waits for earlier inserts with the same query id; resolves when the rows are stored. */
export async function insertWithQueryIdLock(clickhouse: ClickHouseClient, insert: NativeInsert): Promise<void> {
  for (;;) {
    try {
      const { stream } = await clickhouse.exec({
        query: `INSERT INTO ${insert.table} FORMAT Native`,
        values: Readable.from([insert.bytes], { objectMode: false }),
        query_id: insert.queryId,
        ...(insert.signal && { abort_signal: insert.signal }),
        clickhouse_settings: { async_insert: 0, wait_end_of_query: 1, ...insert.settings },
      });
      // The response is empty, but must be read to free the connection.
      await finished(stream.resume());
      return;
    } catch (error) {
      if (!isQueryIdRunning(error)) throw error;
      await delay(BUSY_DELAY_MS * (0.5 + Math.random()), undefined, { signal: insert.signal });
    }
  }
}
