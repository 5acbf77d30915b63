// Deletes stored events without a hostname that are about to be inserted again with one
// (`POST /track?replace=without-host`). The insert that follows is that of any event, so each
// counts once; a job that dies in between runs again. No UPDATE, because other columns depend on
// the page.
import { type ClickHouseClient, READ_ONLY } from '../../platform/clickhouse/client.js';
import { inParameters, sizeInAddress } from '../../platform/clickhouse/parameter-fields.js';
import { groupBy } from '../../platform/group-by.js';
import type { Envelope } from '../envelope.js';
import { parsePageAddress } from './page.js';
import { type AcceptedEvent, replayEvents } from './replay-events.js';

/** Does nothing for envelopes whose request did not ask for it. */
export async function deleteHostless(clickhouse: ClickHouseClient, envelopes: readonly Envelope[]): Promise<void> {
  const events: AcceptedEvent[] = [];
  for (const envelope of envelopes) {
    if (envelope.header.host === true) replayEvents(envelope, (event) => hasHost(event) && events.push(event));
  }
  for (const some of groupBy(events, ({ projectId }) => projectId).values()) {
    let at = 0;
    for (const keys of inParameters(some.map(keyOf), sizeInAddress)) {
      await deleteSome(clickhouse, { keys, events: some.slice(at, at + keys.length) });
      at += keys.length;
    }
  }
}

const hasHost = ({ eventProperties: { url } }: AcceptedEvent): boolean =>
  typeof url === 'string' && parsePageAddress(url).hostname !== '';

const keyOf = ({ eventType, time, insertId }: AcceptedEvent): string => `${eventType}\n${time}\n${insertId}`;

async function deleteSome(
  clickhouse: ClickHouseClient,
  { keys, events }: { keys: readonly string[]; events: readonly AcceptedEvent[] },
): Promise<void> {
  const times = events.map(({ time }) => time);
  const query_params = {
    projectId: events[0]?.projectId,
    types: [...new Set(events.map(({ eventType }) => eventType))],
    firstMs: times.reduce((one, other) => Math.min(one, other)),
    lastMs: times.reduce((one, other) => Math.max(one, other)),
    keys,
  };
  const where = `project_id = {projectId:UUID} AND event_type IN {types:Array(String)} AND hostname = ''
    AND time BETWEEN fromUnixTimestamp64Milli({firstMs:Int64}) AND fromUnixTimestamp64Milli({lastMs:Int64})
    AND concat(event_type, '\\n', toString(toUnixTimestamp64Milli(time)), '\\n', insert_id) IN {keys:Array(String)}`;
  // A deletion rewrites a column of each part, even when there is nothing to delete.
  const found = await clickhouse.query({
    query: `SELECT 1 FROM events WHERE ${where} LIMIT 1`,
    query_params,
    use_multipart_params: true,
    clickhouse_settings: READ_ONLY,
    format: 'JSONEachRow',
  });
  if ((await found.json()).length === 0) return;
  // The client puts parameters of a command into the address, whatever the option says.
  await clickhouse.command({
    query: `DELETE FROM events WHERE ${where}`,
    query_params,
    clickhouse_settings: { lightweight_deletes_sync: '2' },
  });
}
