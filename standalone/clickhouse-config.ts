// Configuration of the embedded ClickHouse server: settings for a shared machine, users and their
// grants.
import { createHash, randomUUID } from 'node:crypto';
import { DATABASE_RIGHTS, SYSTEM_TABLES, TABLE_ENGINES } from '../src/platform/clickhouse/account.js';
import { EMBEDDED_SERVER } from '../src/platform/clickhouse/failed-writes.js';

const MEBIBYTE = 1024 * 1024;

/** Inserts and merges begin only with more free space: ClickHouse ignores writes that fail. */
const KEPT_FREE_BYTES = 256 * MEBIBYTE;

/** The service's account in ClickHouse. */
export const SERVICE_USER = 'analytics';
/** Account of `npm run backup`, which may write copies into one folder and read nothing. */
export const BACKUP_USER = 'backup';

export const CONFIG_FILE = 'config.xml';
export const USERS_FILE = 'users.xml';

/**
 * The first statement of the engine's own session, as `default`. It uses up that account's quota.
 */
export const START_SQL = 'SYSTEM START LISTEN HTTP;\n';

export interface ServerConfigOptions {
  readonly usersFile: string;
  readonly store: string;
  readonly port: number;
  readonly memoryBytes: number;
  readonly password: string;
  readonly backupPassword?: string | undefined;
  /** The only folder that BACKUP and RESTORE may use. */
  readonly backups: string;
}

export function serverConfig(options: ServerConfigOptions): string {
  const { usersFile, store, port, memoryBytes, password, backupPassword, backups } = options;
  const handlerFor = (authorization: string) => ({
    headers: { Authorization: authorization },
    handler: { type: 'dynamic_query_handler' },
  });
  return toXml({
    users_config: usersFile,
    path: store,
    listen_host: '127.0.0.1',
    http_port: port,
    display_name: `${EMBEDDED_SERVER}${randomUUID()}`,
    // Requests without the credentials of a user below match no handler. `default`, which has no
    // password, cannot be distinguished from the engine's own session by its address, and its quota
    // does not count queries of system.one.
    http_handlers: {
      rule: handlerFor(basicAuthorization(password)),
      ...(backupPassword !== undefined && { rule_backup: handlerFor(basicAuthorization(backupPassword, BACKUP_USER)) }),
    },
    backups: { allowed_path: backups },
    storage_configuration: { disks: { default: { keep_free_space_bytes: KEPT_FREE_BYTES } } },
    // Rows are on the disk when the insert is answered: the default leaves them to the system's
    // cache, and a power failure takes those of half a minute.
    merge_tree: { fsync_after_insert: 1, fsync_part_directory: 1 },
    max_server_memory_usage: memoryBytes,
    max_concurrent_queries: 64,
    // The defaults allow caches of several gigabytes and hundreds of threads.
    mark_cache_size: 64 * MEBIBYTE,
    primary_index_cache_size: 64 * MEBIBYTE,
    index_mark_cache_size: 16 * MEBIBYTE,
    vector_similarity_index_cache_size: 0,
    text_index_tokens_cache_size: 0,
    text_index_header_cache_size: 0,
    text_index_postings_cache_size: 0,
    parquet_metadata_cache_size: 0,
    iceberg_metadata_files_cache_size: 0,
    compiled_expression_cache_size: 16 * MEBIBYTE,
    query_condition_cache_size: 16 * MEBIBYTE,
    max_thread_pool_size: 500,
    max_io_thread_pool_size: 8,
    background_pool_size: 2,
    background_schedule_pool_size: 2,
    // Work of an engine without queries: by default every 50 ms and every 2 s.
    memory_worker_period_ms: 1000,
    config_reload_interval_ms: 3_600_000,
    // An idle connection delays a clean stop by this many seconds.
    keep_alive_timeout: 3,
    shutdown_wait_unfinished: 1,
    // The stricter choice where the default keeps an older, wider meaning.
    access_control_improvements: {
      table_engines_require_grant: true,
      select_from_system_db_requires_grant: true,
      select_from_information_schema_requires_grant: true,
    },
  });
}

export const basicAuthorization = (password: string, user: string = SERVICE_USER): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

export interface UsersConfigOptions {
  readonly password: string;
  /** Without one there is no account for backups. */
  readonly backupPassword?: string | undefined;
  /** May end in `*`: the account then owns every database with that prefix. */
  readonly database: string;
  /** Whether the service's account may restore a backup, as `npm run restore` does with it. */
  readonly isRestoring: boolean;
  /** Settings of the accounts. */
  readonly profile?: Readonly<Record<string, string | number>> | undefined;
}

export function usersConfig(options: UsersConfigOptions): string {
  const { password, backupPassword, database, isRestoring, profile } = options;
  const account = (accountPassword: string, grants: readonly string[]) => ({
    password_sha256_hex: createHash('sha256').update(accountPassword).digest('hex'),
    networks: { ip: '127.0.0.1' },
    profile: 'default',
    quota: 'default',
    grants: { query: grants },
  });
  return toXml({
    profiles: { default: { async_insert: 0, ...profile } },
    quotas: {
      default: {},
      // Used up by the engine's own start script, for ten years.
      startup: { interval: { duration: 315_360_000, queries: 1 } },
    },
    users: {
      // The engine's own session logs in with it, without a password.
      default: {
        password: '',
        networks: { ip: '::1' },
        profile: 'default',
        quota: 'startup',
        grants: { query: 'GRANT SYSTEM LISTEN ON *.*' },
      },
      [SERVICE_USER]: account(password, [...serviceGrants(database), ...(isRestoring ? backupGrants(database) : [])]),
      ...(backupPassword !== undefined && { [BACKUP_USER]: account(backupPassword, backupGrants(database)) }),
    },
  });
}

/** Beside those that the service needs: of tests and benchmarks. */
const MORE_RIGHTS = ['OPTIMIZE', 'TRUNCATE', 'CREATE DATABASE', 'DROP DATABASE', 'DROP VIEW'];
/** Read by benchmarks, and to find failed writes (src/platform/clickhouse/failed-writes.ts). */
const MORE_SYSTEM_TABLES = ['one', 'numbers', 'events'];

const serviceGrants = (database: string): string[] => [
  `GRANT ${[...DATABASE_RIGHTS, ...MORE_RIGHTS].join(', ')} ON ${database}.*`,
  ...TABLE_ENGINES.map((engine) => `GRANT TABLE ENGINE ON ${engine}`),
  ...[...SYSTEM_TABLES, ...MORE_SYSTEM_TABLES].map((table) => `GRANT SELECT ON system.${table}`),
];

const backupGrants = (database: string): string[] => [
  `GRANT BACKUP ON ${database}.*`,
  'GRANT SELECT ON system.backups',
  'GRANT SELECT ON system.events',
];

type XmlValue = string | number | boolean | readonly string[] | { readonly [name: string]: XmlValue };

function toXml(settings: Readonly<Record<string, XmlValue>>): string {
  return `<clickhouse>\n${elements(settings, '  ')}</clickhouse>\n`;
}

function elements(settings: { readonly [name: string]: XmlValue }, indent: string): string {
  return Object.entries(settings)
    .flatMap(([name, value]) => (isList(value) ? value.map((one) => [name, one] as const) : [[name, value] as const]))
    .map(([name, value]) => {
      if (typeof value !== 'object') return `${indent}<${name}>${escaped(String(value))}</${name}>\n`;
      return `${indent}<${name}>\n${elements(value, `${indent}  `)}${indent}</${name}>\n`;
    })
    .join('');
}

const isList = (value: XmlValue): value is readonly string[] => Array.isArray(value);

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
