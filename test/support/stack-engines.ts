// Engines of a test run: real PostgreSQL, Redis and ClickHouse on free ports, in a temporary
// folder.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { embeddedClickHouse } from '../../standalone/clickhouse-server.js';
import { findFreePort } from '../../standalone/free-port.js';
import { endLeftovers, InstanceLock, tryReadLock } from '../../standalone/instance-lock.js';
import { ensureServiceRole, SERVICE_ROLE } from '../../standalone/postgres-accounts.js';
import { embeddedPostgres } from '../../standalone/postgres-server.js';
import { isRunning } from '../../standalone/process-identity.js';
import { embeddedRedis } from '../../standalone/redis-server.js';
import { type ProcessObserver, SupervisedProcess } from '../../standalone/supervised-process.js';
import { toAdminUrl } from './redis-servers.js';

/**
 * Settings that change what statements mean, as a server of an operator may have them: the
 * service sends its own.
 */
const OTHER_PROFILE = {
  compatibility: '22.8',
  ...{ aggregate_functions_null_for_empty: 1, any_join_distinct_right_table_keys: 1, apply_deleted_mask: 0 },
  ...{ async_insert: 1, cast_keep_nullable: 1, enable_analyzer: 0, final: 1, insert_null_as_default: 0 },
  ...{ join_use_nulls: 1, prefer_column_name_to_alias: 1, transform_null_in: 1, union_default_mode: 'DISTINCT' },
  ...{ date_time_input_format: 'basic', date_time_output_format: 'unix_timestamp', use_query_cache: 1 },
  ...{ output_format_json_quote_64bit_integers: 1, output_format_json_quote_denormals: 1 },
  ...{ output_format_json_quote_64bit_floats: 1, output_format_json_map_as_array_of_tuples: 1 },
  ...{ empty_result_for_aggregation_by_empty_set: 1, output_format_json_array_of_rows: 1, rewrite_in_to_join: 1 },
  ...{ input_format_native_decode_types_in_binary_format: 1, output_format_native_encode_types_in_binary_format: 1 },
  ...{ enable_lightweight_delete: 0, force_index_by_date: 1, limit: 1, offset: 1 },
  ...{ enable_global_with_statement: 0, enable_named_columns_in_function_tuple: 1, force_aggregation_in_order: 1 },
  date_time_64_output_format_cut_trailing_zeros_align_to_groups_of_thousands: 1,
  session_timezone: 'America/New_York',
};

/** Settings of PostgreSQL that an operator's role may have. The service sets its own. */
const OTHER_ROLE_SETTINGS = {
  ...{ DateStyle: 'SQL, DMY', IntervalStyle: 'iso_8601', TimeZone: 'Asia/Kathmandu', bytea_output: 'escape' },
  ...{ extra_float_digits: '-5', default_transaction_isolation: 'serializable', transform_null_equals: 'on' },
  ...{ statement_timeout: '3s', lock_timeout: '3s', idle_session_timeout: '3s' },
};

export interface EngineUrls {
  /** With the service's own accounts. */
  readonly postgres: string;
  readonly redis: string;
  readonly clickhouse: string;
  /** With superuser accounts, for changes that the service must not be able to make. */
  readonly postgresSuperuser: string;
  readonly redisAdmin: string;
  /** Where they keep their files. */
  readonly directory: string;
}

export interface Engines {
  readonly urls: EngineUrls;
  /** By name: a test may kill one and see it restart. */
  readonly processes: ReadonlyMap<string, SupervisedProcess>;
  stop(): Promise<void>;
}

export const FOLDER_PREFIX = 'event-analytics-test-';

export async function startEngines(): Promise<Engines> {
  await removeLeftovers();
  const directory = mkdtempSync(join(tmpdir(), FOLDER_PREFIX));
  const lock = await InstanceLock.take(directory);
  const observer: ProcessObserver = {
    line: (name, line) => {
      if (/PANIC|"level":[56]0/.test(line)) process.stderr.write(`${name} | ${line}\n`);
    },
    started: (spec, pid) => lock.addChild(spec, pid),
    ended: (_name, pid) => lock.removeChild(pid),
    restarting: (name, reason) => process.stderr.write(`${name} is started again: ${reason}\n`),
  };
  const password = 'test';
  const postgres = await embeddedPostgres({
    directory: join(directory, 'postgres'),
    port: await findFreePort(),
    superuserPassword: 'superuser',
    password,
    connectionsMax: 400,
  });
  const redis = embeddedRedis({
    directory: join(directory, 'redis'),
    port: await findFreePort(),
    password,
    adminPassword: 'admin',
  });
  const clickhouse = embeddedClickHouse({
    directory: join(directory, 'clickhouse'),
    port: await findFreePort(),
    password,
    // Each test file has a database of its own.
    database: 'test_*',
    profile: OTHER_PROFILE,
  });
  const processes = [postgres, redis, clickhouse].map(({ spec }) => new SupervisedProcess(spec, observer));
  const stop = async () => {
    await Promise.all(processes.map((running) => running.stop()));
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await Promise.all(processes.map((starting) => starting.start()));
    await createServiceRole(postgres.superuserUrl, password);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    urls: {
      postgres: postgres.url,
      redis: redis.url,
      clickhouse: clickhouse.url,
      postgresSuperuser: postgres.superuserUrl,
      redisAdmin: toAdminUrl(redis.url),
      directory,
    },
    processes: new Map(processes.map((running) => [running.spec.name, running])),
    stop,
  };
}

async function createServiceRole(superuserUrl: string, password: string): Promise<void> {
  const url = new URL(superuserUrl);
  url.pathname = '/postgres';
  const superuser = createPostgres({ DATABASE_URL: url.href });
  await ensureServiceRole(superuser, password);
  for (const [setting, value] of Object.entries(OTHER_ROLE_SETTINGS)) {
    await superuser.raw(superuser.raw('ALTER ROLE ?? SET ?? = ?', [SERVICE_ROLE, setting, value]).toQuery());
  }
  await superuser.destroy();
}

/** Removes folders of killed runs. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(FOLDER_PREFIX))) {
    const directory = join(tmpdir(), name);
    const lock = tryReadLock(directory);
    if (lock === undefined || isRunning(lock.holder)) continue;
    await endLeftovers(lock.children);
    rmSync(directory, { recursive: true, force: true });
  }
}
