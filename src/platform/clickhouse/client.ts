// ClickHouse client of every process.
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  createClient,
  type ClickHouseSettings as StatementSettings,
} from '@clickhouse/client';
import type { Config } from '../config.js';
import { PINNED_SETTINGS } from './pinned-settings.js';

export type { ClickHouseClient, StatementSettings };

export type ClickHouseSettings = Pick<Config, 'CLICKHOUSE_URL' | 'CLICKHOUSE_DATABASE'>;

export interface ClickHouseOptions {
  readonly maxConnections?: number;
  readonly requestTimeoutMs?: number;
  /** Sent with every statement. */
  readonly settings?: StatementSettings;
}

/** Settings of every read that may take long: the engine then ends it when its client is gone. */
export const READ_ONLY = { readonly: '2' } as const;

export function createClickHouse(config: ClickHouseSettings, options: ClickHouseOptions = {}): ClickHouseClient {
  const settings = {
    ...PINNED_SETTINGS,
    cancel_http_readonly_queries_on_client_close: 1,
    ...options.settings,
  } as const;
  const client = createClient({
    url: config.CLICKHOUSE_URL,
    database: config.CLICKHOUSE_DATABASE,
    application: 'event-analytics-service',
    max_open_connections: options.maxConnections ?? 10,
    request_timeout: options.requestTimeoutMs ?? 60_000,
    keep_alive: { enabled: true },
    clickhouse_settings: settings,
    // Silence the client's own log: its format differs, and callers get every failure.
    log: { level: ClickHouseLogLevel.OFF },
  });
  targets.set(client, { ...config, settings });
  return client;
}

/** Where a client sends its statements, and the settings that it sends with each. */
export interface ClickHouseTarget extends ClickHouseSettings {
  readonly settings: StatementSettings;
}

const targets = new WeakMap<ClickHouseClient, ClickHouseTarget>();

/** Undefined for a client that was not created here. */
export const targetOf = (client: ClickHouseClient): ClickHouseTarget | undefined => targets.get(client);

const ASKED_FOR_MS = 3000;

/**
 * Readiness: a query on the tables, because a server that answers pings may lack its schema, and a
 * replica may lack rows of one of them.
 */
export const askClickHouse = (clickhouse: ClickHouseClient): Promise<unknown> =>
  clickhouse.command({
    query: `SELECT ${['events', 'device_map', 'profiles'].map((table) => `(SELECT count() FROM ${table} WHERE false)`)}`,
    // Without a timeout, a server that never replies would hold one more connection per check.
    abort_signal: AbortSignal.timeout(ASKED_FOR_MS),
  });

/** With a client of this server, which is closed afterwards. */
export async function withClient<T>(
  url: string,
  database: string,
  work: (clickhouse: ClickHouseClient) => Promise<T>,
): Promise<T> {
  const clickhouse = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: database });
  try {
    return await work(clickhouse);
  } finally {
    await clickhouse.close();
  }
}

/** The rows of a query, all in memory. */
export async function rowsOf<T>(
  clickhouse: ClickHouseClient,
  query: string,
  params: Readonly<Record<string, unknown>> = {},
  settings: StatementSettings = {},
): Promise<T[]> {
  const result = await clickhouse.query({
    query,
    query_params: params,
    clickhouse_settings: settings,
    format: 'JSONEachRow',
  });
  return result.json<T>();
}
