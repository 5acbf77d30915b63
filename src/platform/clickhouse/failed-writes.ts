// Failed writes of the embedded ClickHouse. The server of `npm start` (chDB) ignores an error of
// write(), as on a full disk, and acknowledges an insert whose files are incomplete; at its next
// start it drops that part of the table. ClickHouse's own server reports the error. Both count it
// (WriteBufferFromFileDescriptor::nextImpl in their sources).
import type { ClickHouseClient } from './client.js';

/** What the name of the embedded server begins with; the rest is new at each start. */
export const EMBEDDED_SERVER = 'event-analytics-embedded-';

/** In the headers of every answer. */
const NAME = 'x-clickhouse-server-display-name';

/** Since the server started. */
export const FAILED_WRITES =
  "SELECT sum(value) AS failed FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'";

/** Why the server must be started again. */
export const FAILED_WRITE = 'ClickHouse could not write a file and went on; make room on its disk';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Rejects when the server may not have stored the insert that it answered with these headers. */
export async function requireWritten(clickhouse: ClickHouseClient, headers: Headers): Promise<void> {
  const name = headers[NAME];
  if (typeof name !== 'string' || !name.startsWith(EMBEDDED_SERVER)) return;
  const result = await clickhouse.query({ query: FAILED_WRITES, format: 'JSONEachRow' });
  const [row] = await result.json<{ failed: string }>();
  if (Number(row?.failed) > 0) throw new Error(FAILED_WRITE);
  if (result.response_headers[NAME] !== name) throw new Error('ClickHouse was started again after the insert');
}
