// Rewrites data files so that deleted rows leave the disk: ClickHouse parts, PostgreSQL tables and
// write-ahead log, Redis append-only file and snapshot. Runs for many erasures at a time, because
// one costs as much as hundreds.
import { setTimeout as delay } from 'node:timers/promises';
import { type ClickHouseClient, rowsOf } from '../platform/clickhouse/client.js';
import { type Postgres, type PostgresSettings, withPostgres } from '../platform/postgres/client.js';
import type { StepProgress } from '../platform/progress.js';
import type { Redis } from '../platform/redis/client.js';
import { CLICKHOUSE_TABLES, POSTGRES_TABLES } from './personal-data.js';

const POLL_MS = 500;

/** Polls until nothing is left. Throws on timeout, or when the process stops. */
async function pollUntilDone(what: {
  name: string;
  isLeft: () => Promise<boolean>;
  withinMs: number;
  signal: AbortSignal;
}) {
  const deadline = performance.now() + what.withinMs;
  while (await what.isLeft()) {
    if (performance.now() > deadline) throw new Error(`${what.name} took longer than ${what.withinMs} ms`);
    await delay(POLL_MS, undefined, { signal: what.signal });
  }
}

const MINUTE_MS = 60_000;

/** Called before each step that delays other mutations; a purge lets erasures run here. */
export type Yield = () => Promise<void>;

/** Resolves once no ClickHouse file contains a row that was deleted before the call. */
export async function rewriteClickHouse(clickhouse: ClickHouseClient, options: RewriteOptions): Promise<void> {
  await rewriteParts(clickhouse, options);
  await waitForOldParts(clickhouse, options);
}

export interface RewriteOptions {
  readonly signal: AbortSignal;
  readonly letOthersPass?: Yield;
  /** Shows how far the rewriting is. */
  readonly progress?: StepProgress;
}

/** A mutation that rewrites less than this takes seconds, most of them to be scheduled. */
const BATCH_BYTES = 256 * 1024 * 1024;
const BATCH_PARTITIONS = 100;

/**
 * Resolves once every part with deleted rows has been rewritten. Small partitions of a table share
 * a mutation, and a large one has its own: mutations of a part run in order, so a concurrent
 * deletion waits for one batch instead of the whole table.
 */
export async function rewriteParts(
  clickhouse: ClickHouseClient,
  { signal, letOthersPass, progress }: RewriteOptions,
): Promise<void> {
  const masked = await listMasked(clickhouse);
  const total = bytesOf(masked);
  let done = 0;
  for (const batch of batchesOf(masked)) {
    await letOthersPass?.();
    const commands = batch.map((_, index) => `APPLY DELETED MASK IN PARTITION ID {p${index}:String}`);
    // Does not wait in the statement, which may take longer than a request should.
    await clickhouse.command({
      query: `ALTER TABLE ${batch[0]?.table} ${commands.join(', ')}`,
      query_params: Object.fromEntries(batch.map(({ partition_id }, index) => [`p${index}`, partition_id])),
      clickhouse_settings: { mutations_sync: '0' },
    });
    await pollUntilDone({
      name: 'rewriting the parts',
      isLeft: async () => {
        if (progress !== undefined) {
          // Parts that were masked meanwhile are no part of this run.
          const left = bytesOf((await listMasked(clickhouse)).filter((partition) => isIn(batch, partition)));
          const rewritten = Math.max(bytesOf(batch) - left, 0);
          progress.update({ step: 'rewriting files of ClickHouse', done: done + rewritten, total, unit: 'bytes' });
        }
        return (await rowsAboutTables(clickhouse, UNFINISHED_REWRITES)).length > 0;
      },
      withinMs: 30 * MINUTE_MS,
      signal,
    });
    done += bytesOf(batch);
  }
}

const listMasked = (clickhouse: ClickHouseClient): Promise<MaskedPartition[]> =>
  rowsAboutTables<MaskedPartition>(
    clickhouse,
    `SELECT table, partition_id, toFloat64(sum(bytes_on_disk)) AS bytes FROM system.parts
     WHERE active AND has_lightweight_delete AND OURS
     GROUP BY table, partition_id ORDER BY table, partition_id`,
  );

const bytesOf = (partitions: readonly MaskedPartition[]): number =>
  partitions.reduce((sum, { bytes }) => sum + bytes, 0);

const isIn = (batch: readonly MaskedPartition[], { table, partition_id }: MaskedPartition): boolean =>
  batch.some((one) => one.table === table && one.partition_id === partition_id);

interface MaskedPartition {
  readonly table: string;
  readonly partition_id: string;
  readonly bytes: number;
}

/** In their order: batches of one table, each of one partition or within both limits. */
function batchesOf(partitions: readonly MaskedPartition[]): MaskedPartition[][] {
  const batches: MaskedPartition[][] = [];
  let bytes = 0;
  for (const partition of partitions) {
    const last = batches.at(-1);
    bytes += partition.bytes;
    const isSmall = bytes <= BATCH_BYTES && (last?.length ?? 0) < BATCH_PARTITIONS;
    if (last !== undefined && last[0]?.table === partition.table && isSmall) last.push(partition);
    else {
      batches.push([partition]);
      bytes = partition.bytes;
    }
  }
  return batches;
}

const UNFINISHED_REWRITES = `SELECT 1 FROM system.mutations
  WHERE NOT is_done AND NOT is_killed AND OURS AND command LIKE '%APPLY DELETED MASK%'`;

/**
 * Waits until the old parts of now have been removed; they stay for a while (old_parts_lifetime).
 */
async function waitForOldParts(clickhouse: ClickHouseClient, { signal, progress }: RewriteOptions): Promise<void> {
  const listOutdated = () => rowsAboutTables<{ name: string }>(clickhouse, OUTDATED_PARTS);
  const names = new Set((await listOutdated()).map(({ name }) => name));
  await pollUntilDone({
    name: 'removing the old parts',
    isLeft: async () => {
      const old = (await listOutdated()).filter(({ name }) => names.has(name));
      const done = names.size - old.length;
      progress?.update({ step: 'removing old files of ClickHouse', done, total: names.size, unit: 'parts' });
      return old.length > 0;
    },
    withinMs: 10 * MINUTE_MS,
    signal,
  });
}

const OUTDATED_PARTS = "SELECT concat(table, ' ', name) AS name FROM system.parts WHERE NOT active AND OURS";

/** `OURS` in the query stands for the condition that names the tables. */
const rowsAboutTables = <T>(clickhouse: ClickHouseClient, query: string): Promise<T[]> =>
  rowsOf(clickhouse, query.replace('OURS', 'database = currentDatabase() AND table IN {tables:Array(String)}'), {
    tables: CLICKHOUSE_TABLES.map(({ name }) => name),
  });

const LOCK_TIMEOUT_MS = 5_000;

/**
 * Copies each table and drops the old file, under an exclusive lock. Throws when a table is in use
 * for more than five seconds, because all other statements would queue behind this one.
 */
export const rewritePostgres = (config: PostgresSettings, signal: AbortSignal): Promise<void> =>
  withPostgres(config, async (postgres) => {
    await waitForTransactions(postgres, signal);
    // It holds for the following statements, because there is one connection.
    await postgres.raw(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
    for (const { name } of POSTGRES_TABLES.filter((table) => table.isRewritten)) {
      await postgres.raw(`VACUUM (FULL) ${name}`);
    }
    await renewWriteAheadLog(postgres);
  });

/**
 * Removes the write-ahead log of what was erased: after a checkpoint the server needs no segment
 * older than the current one, and with wal_recycle = off it deletes those. The checkpoint also
 * deletes the files that VACUUM FULL has replaced. A role without the rights (pg_checkpoint,
 * EXECUTE on pg_switch_wal() and pg_ls_waldir()) leaves both to the next checkpoints of the server.
 */
async function renewWriteAheadLog(postgres: Postgres): Promise<void> {
  const { rows } = await postgres.raw<{ rows: { wal_recycle: string }[] }>('SHOW wal_recycle');
  // Recycled segments keep their contents until they are overwritten, which cannot be forced from
  // here.
  if (rows[0]?.wal_recycle === 'off') await unlessForbidden(beginNewSegment(postgres));
  await unlessForbidden(postgres.raw('CHECKPOINT'));
}

// A log of 256 MB, as in the embedded server, has 16 segments.
const SEGMENTS_MAX = 64;

/**
 * Advances past every existing segment, including those recycled before recycling was switched off.
 */
async function beginNewSegment(postgres: Postgres): Promise<void> {
  const { rows } = await postgres.raw<{ rows: { last: string }[] }>(
    "SELECT max(name) AS last FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'",
  );
  for (let segments = 0; segments < SEGMENTS_MAX; segments += 1) {
    // A segment without a record is not switched.
    const current = await postgres.raw<{ rows: { name: string }[] }>(
      "SELECT pg_walfile_name(pg_logical_emit_message(false, 'erasure', 'new segment')) AS name",
    );
    if ((current.rows[0]?.name ?? '') > (rows[0]?.last ?? '')) return;
    await postgres.raw('SELECT pg_switch_wal()');
  }
}

const INSUFFICIENT_PRIVILEGE = '42501';

async function unlessForbidden(work: PromiseLike<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === INSUFFICIENT_PRIVILEGE)) throw error;
  }
}

/** VACUUM FULL also copies deleted rows that an older transaction may still see. */
async function waitForTransactions(postgres: Postgres, signal: AbortSignal): Promise<void> {
  const { rows } = await postgres.raw<{ rows: { now: string }[] }>('SELECT pg_current_xact_id()::xid::text AS now');
  await pollUntilDone({
    name: 'waiting for transactions that had begun before',
    isLeft: async () => {
      const older = await postgres.raw<{ rows: unknown[] }>(
        `SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND GREATEST(age(backend_xid), age(backend_xmin)) >= age(?::xid)`,
        [rows[0]?.now ?? '0'],
      );
      return older.rows.length > 0;
    },
    withinMs: MINUTE_MS,
    signal,
  });
}

/** Resolves once Redis has rewritten its append-only file, and its snapshot if it keeps one. */
export async function rewriteRedis(redis: Redis, signal: AbortSignal): Promise<void> {
  const persistence = await readPersistence(redis);
  if (persistence.get('aof_enabled') === '1') {
    await waitForRedis(redis, AOF_REWRITES, signal);
    await redis.bgrewriteaof();
    await waitForRedis(redis, AOF_REWRITES, signal);
    const status = (await readPersistence(redis)).get('aof_last_bgrewrite_status');
    if (status !== 'ok') throw new Error(`redis could not rewrite its append-only file: ${status}`);
  }
  if (await keepsSnapshots(redis)) {
    await waitForRedis(redis, SNAPSHOTS, signal);
    await redis.bgsave('SCHEDULE');
    await waitForRedis(redis, SNAPSHOTS, signal);
    const status = (await readPersistence(redis)).get('rdb_last_bgsave_status');
    if (status !== 'ok') throw new Error(`redis could not rewrite its snapshot: ${status}`);
  }
}

// Redis only schedules a rewrite that is requested while it writes a snapshot.
const AOF_REWRITES = ['aof_rewrite_scheduled', 'aof_rewrite_in_progress'];
const SNAPSHOTS = ['rdb_bgsave_in_progress'];

const waitForRedis = (redis: Redis, fields: readonly string[], signal: AbortSignal): Promise<void> =>
  pollUntilDone({
    name: `redis (${fields.at(-1)})`,
    isLeft: async () => {
      const persistence = await readPersistence(redis);
      return fields.some((field) => persistence.get(field) === '1');
    },
    withinMs: 10 * MINUTE_MS,
    signal,
  });

async function readPersistence(redis: Redis): Promise<Map<string, string>> {
  const lines = (await redis.info('persistence')).split('\r\n');
  return new Map(lines.map((line) => line.split(':') as [string, string]));
}

/** A server that does not report its setting counts as keeping snapshots. */
async function keepsSnapshots(redis: Redis): Promise<boolean> {
  const answer = (await redis.config('GET', 'save').catch(() => undefined)) as string[] | undefined;
  return answer === undefined || (answer[1] ?? '') !== '';
}
