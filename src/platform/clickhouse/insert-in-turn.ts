// Inserts of one id run one after the other, from whatever process: the engine runs a query id once at a time and refuses the
// second (code 216). So the turn ends exactly when the engine's work does, also when whoever sent it is dead.
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouseClient } from './client.js';
import { isQueryIdRunning } from './failures.js';

const BUSY_DELAY_MS = 20;

export interface NativeInsert {
  readonly table: string;
  /** In the format Native. */
  readonly bytes: Buffer;
  readonly queryId: string;
  readonly settings?: ClickHouseSettings;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

/** Resolves once the engine has stored the rows, after every insert of the same id that ran before. */
export async function insertInTurn(clickhouse: ClickHouseClient, insert: NativeInsert): Promise<void> {
  for (;;) {
    try {
      const { stream } = await clickhouse.exec({
        query: `INSERT INTO ${insert.table} FORMAT Native`,
        values: Readable.from([insert.bytes], { objectMode: false }),
        query_id: insert.queryId,
        ...(insert.signal && { abort_signal: insert.signal }),
        clickhouse_settings: { async_insert: 0, wait_end_of_query: 1, ...insert.settings },
      });
      // The answer is empty, but the connection is only free again when it has been read.
      await finished(stream.resume());
      return;
    } catch (error) {
      if (!isQueryIdRunning(error)) throw error;
      await delay(BUSY_DELAY_MS * (0.5 + Math.random()), undefined, { signal: insert.signal });
    }
  }
}
