// Query-id lock: serializes inserts that share a query id, across processes. ClickHouse runs a
// query id once at a time and rejects the second with code 216, so the lock is held exactly as long
// as the insert runs, even if its sender was killed.
//
// A sender may be stopped at any moment and go on much later, when others have stored its rows, or
// have deleted them (an erasure, a move). Where it was stopped decides why nothing goes wrong:
//
// - Before its request: it asks `requireHeld` before each attempt and before the first byte, and
//   sends nothing.
// - In its request: the engine stores nothing before the body has ended, and the last chunk is sent
//   only after `requireHeld` once more: else the connection breaks, and the engine rejects the
//   unfinished body. The query begins, and holds the lock, when the engine has max_query_size of
//   the body (256 KiB) or all of it. From then on inserts of others are rejected until it ends, and
//   deletions wait for it too (waitForQuery). It looks keys up when it has the rows, under the
//   lock, so rows that were stored before are dropped, also those that others have stored since
//   this block was built.
// - After its request: the rows are stored or rejected, whether or not the answer is read.
//
// What remains: a small body of which the last chunk passed the check in time, but reaches the
// engine after the lease has ended (the network, or a stop within the microseconds before the
// kernel has the bytes). Nothing counts twice then either, but deleted rows could come back.
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouseClient } from './client.js';
import { requireWritten } from './failed-writes.js';
import { isQueryIdRunning, nameAnswer } from './failures.js';

const BUSY_DELAY_MS = 20;

export interface NativeInsert {
  readonly table: string;
  /** Rows in Native format. */
  readonly bytes: Buffer;
  readonly queryId: string;
  readonly settings?: ClickHouseSettings;
  /** Aborts waiting for the lock. */
  readonly signal?: AbortSignal;
  /** Throws when the rows must not be stored by this sender any more; the insert then rejects. */
  readonly requireHeld?: () => void;
}

/** Waits for earlier inserts with the same query id; resolves when the rows are stored. */
export async function insertWithQueryIdLock(clickhouse: ClickHouseClient, insert: NativeInsert): Promise<void> {
  for (;;) {
    const body = new GuardedBody(insert);
    try {
      const { stream, response_headers } = await clickhouse.exec({
        query: `INSERT INTO ${insert.table} FORMAT Native`,
        values: body.stream,
        query_id: insert.queryId,
        ...(insert.signal && { abort_signal: insert.signal }),
        clickhouse_settings: { wait_end_of_query: 1, ...insert.settings },
      });
      // The response is empty, but must be read to free the connection.
      await finished(stream.resume());
      await requireWritten(clickhouse, response_headers);
      return;
    } catch (error) {
      if (!isQueryIdRunning(error)) throw body.refusal ?? nameAnswer(error);
      await delay(BUSY_DELAY_MS * (0.5 + Math.random()), undefined, { signal: insert.signal });
    }
  }
}

/** Ends only while the sender may insert. */
class GuardedBody {
  readonly stream: Readable;
  /** Why the body was not sent. */
  refusal: unknown;

  constructor({ bytes, requireHeld }: NativeInsert) {
    // With a mark of one byte, the rest is asked for when the request has taken these bytes.
    this.stream = Readable.from(this.#send(bytes, requireHeld), { objectMode: false, highWaterMark: 1 });
  }

  async *#send(bytes: Buffer, requireHeld = () => {}): AsyncGenerator<Buffer> {
    try {
      requireHeld();
      yield bytes;
      // Small bodies are written at the end of the turn.
      await nextTurn();
      requireHeld();
    } catch (error) {
      this.refusal = error;
      throw error;
    }
  }
}
