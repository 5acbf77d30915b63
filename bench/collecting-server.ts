// Baseline of ingestion: what an engineer writes in a day. It collects page views posted as JSON
// for 50 ms and inserts them into a plain table: no keys, checks, enrichment, duplicates or queue.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@clickhouse/client';

const COLLECT_MS = 50;
const TABLE = 'bench_page_views';

interface PageView {
  readonly event_type: string;
  readonly time: string;
  readonly user_id?: string;
  readonly device_id?: string;
  readonly session_id: string;
  readonly event_properties: { readonly url: string; readonly referrer: string; readonly title: string };
}

const clickhouse = createClient({
  url: process.env.BENCH_CLICKHOUSE_URL ?? '',
  database: process.env.BENCH_DATABASE ?? '',
  // On a busy machine the engine closes an idle connection while it is used again.
  keep_alive: { enabled: false },
});
await clickhouse.command({
  query: `CREATE TABLE IF NOT EXISTS ${TABLE} (
    event_type LowCardinality(String), time DateTime64(3), user_id String, device_id String, session_id String,
    url String, referrer String, title String, user_agent LowCardinality(String)
  ) ENGINE = MergeTree ORDER BY (event_type, time)`,
});

let rows: object[] = [];

async function insertForever(): Promise<never> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, COLLECT_MS));
    if (rows.length === 0) continue;
    const values = rows;
    rows = [];
    await clickhouse.insert({
      ...{ table: TABLE, values, format: 'JSONEachRow' },
      clickhouse_settings: { date_time_input_format: 'best_effort' },
    });
  }
}

const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as PageView | { events: PageView[] };
    const views = 'events' in body ? body.events : [body];
    const userAgent = req.headers['user-agent'] ?? '';
    for (const { event_type, time, user_id, device_id, session_id, event_properties } of views) {
      const { url, referrer, title } = event_properties;
      rows.push({ event_type, time, user_id, device_id, session_id, url, referrer, title, user_agent: userAgent });
    }
    res.setHeader('Content-Type', 'application/json');
    res.end(`{"accepted":${views.length}}`);
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit());
await insertForever();
