// Checks of `npm run doctor`. A check resolves with its finding or throws; doctor.ts turns an
// exception into a failure with the check's advice.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { MAIL_QUEUE } from '../mail/queue.js';
import { findMissingRights } from '../platform/clickhouse/account.js';
import { rowsOf } from '../platform/clickhouse/client.js';
import { readDisks } from '../platform/clickhouse/disks.js';
import { inOneLine } from '../platform/clickhouse/failures.js';
import { readRewrites } from '../platform/clickhouse/rewrites.js';
import type { Shard, Shards } from '../platform/clickhouse/shards.js';
import { describeHosts, findSilentHosts } from '../platform/clickhouse/silent-hosts.js';
import { dataDirectory, readIgnoredSettings } from '../platform/config.js';
import { withTimeout } from '../platform/flow/with-timeout.js';
import { describeNodeVersion, findSupportEnd } from '../platform/node-version.js';
import { findLockHolder } from '../platform/postgres/advisory-lock.js';
import { askToWrite, POSTGRES_PROBLEM } from '../platform/postgres/ask.js';
import type { Postgres } from '../platform/postgres/client.js';
import { readEncoding } from '../platform/postgres/encoding.js';
import { answerOfPostgres } from '../platform/postgres/failures.js';
import { isPooledByTransaction, POOLER_ADVICE } from '../platform/postgres/pooler.js';
import type { Redis } from '../platform/redis/client.js';
import { findFailedWrite, findRefusal, KEEPING_ADVICE, readKeeping } from '../platform/redis/keeping.js';
import { readOldestWaitMs } from '../platform/redis/oldest-waiting.js';
import { findTlsMismatch } from '../platform/redis/tls-mismatch.js';
import { findMissingDatabase, findUnusable, SERVER_ADVICE } from '../platform/redis/usable.js';
import { readSkews } from './clocks.js';
import { listDeadLetters, withQueue } from './dead-letter-jobs.js';
import { findUnready } from './find-unready.js';
import { queuesOf } from './queues.js';

export interface Stores {
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly shards: Shards;
  /** High-water mark: above it the service answers 429. */
  readonly redisHighWaterBytes: number;
  /** URLs of processes by their names; undefined for one that is not known. */
  readonly processes: Readonly<Record<string, string | undefined>>;
}

export interface Finding {
  /** `attention`: works now, but will fail soon or is misconfigured. */
  readonly state: 'ok' | 'attention' | 'failed';
  readonly found: string;
  /** Instead of that of the check. */
  readonly advice?: string;
}

export interface Check {
  readonly name: string;
  /** Advice for findings other than ok. */
  readonly advice: string;
  /** Advice when the store could not be asked; without it, the same. */
  readonly unasked?: string;
  readonly run: (stores: Stores, shard: Shard) => Promise<Finding>;
  /** Runs once for each shard. */
  readonly isOfShard?: true;
}

const POSTGRES_MIN = 130_000;
const REDIS_MIN = [6, 2] as const;
// Headroom for the data that workers read and write while they catch up.
const REDIS_ROOM_MIN = 1.25;
const DISK_FREE_SHARE_MIN = 0.1;
const PARTS_PER_PARTITION_MAX = 100;
const CLOCK_SKEW_MAX_MS = 1000;
const WAITING_MAX_MS = 120_000;
/** Then the reason is searched for, within the time of a check. */
const SILENT_MS = 2000;
const firstOf = (store: string): string => `first do what is advised for ${store}`;

const ok = (found: string): Finding => ({ state: 'ok', found });
const judge = (isRight: boolean, found: string): Finding => ({ state: isRight ? 'ok' : 'attention', found });

export const reasonOf = (error: unknown): string => inOneLine(answerOfPostgres(error) ?? error);

const toMebibytes = (bytes: number): number => Math.round(bytes / (1024 * 1024));

export const CHECKS: readonly Check[] = [
  {
    name: 'Node.js',
    advice: 'install a version that was tried and is supported: see docs/operating.md',
    run: async () => {
      const { node } = process.versions;
      const end = findSupportEnd(node, new Date());
      if (end !== undefined) return judge(false, `${node}, without security updates since ${end}`);
      return judge(describeNodeVersion(node) === undefined, node);
    },
  },
  {
    name: 'Settings',
    advice: 'correct or remove it: .env.example has every setting',
    run: async () => {
      const ignored = readIgnoredSettings();
      return judge(ignored.length === 0, ignored.length === 0 ? 'none is ignored' : ignored.join('; '));
    },
  },
  {
    name: 'PostgreSQL',
    advice:
      'see that it runs, that DATABASE_URL is right (DATABASE_TLS for its certificate), that it is version 13 or newer, that its database has the encoding UTF8, and that npm run migrate has been run',
    run: async ({ postgres }) => {
      const { rows } = await postgres.raw<{ rows: [Server] }>(SERVER);
      const { number, text, database, problem } = rows[0];
      const encoding = await readEncoding(postgres);
      const found = `${text.split(' ').slice(0, 2).join(' ')}, database ${database}, ${encoding}`;
      if (problem !== null) return { state: 'failed', found: `${found}, ${problem}` };
      return judge(number >= POSTGRES_MIN && encoding === 'UTF8', found);
    },
  },
  {
    name: 'Connections to PostgreSQL',
    advice: POOLER_ADVICE,
    unasked: firstOf('PostgreSQL'),
    run: async ({ postgres }) =>
      (await isPooledByTransaction(postgres))
        ? {
            state: 'failed',
            found: 'a pooler gives each transaction another one: locks do not hold, and workers refuse to start',
          }
        : ok('each is its own'),
  },
  {
    name: 'Redis',
    advice: `see that it runs, that REDIS_URL is right (REDIS_TLS for its certificate), and that it is version 6.2 or newer; ${SERVER_ADVICE}`,
    run: async ({ redis }) => {
      const asked = unlessRefused(redis, redis.info());
      const isAnswered = asked.then(
        () => true,
        () => false,
      );
      if (!(await Promise.race([isAnswered, delay(SILENT_MS, false)]))) {
        const mismatch = await findTlsMismatch(redis);
        if (mismatch !== undefined) return { state: 'failed', found: mismatch };
      }
      const info = await asked;
      const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? '0';
      const unusable = findUnusable(info) ?? (await findMissingDatabase(redis));
      if (unusable !== undefined) return { state: 'failed', found: `${version}, ${unusable}` };
      const [major = 0, minor = 0] = version.split('.').map(Number);
      return judge(major > REDIS_MIN[0] || (major === REDIS_MIN[0] && minor >= REDIS_MIN[1]), version);
    },
  },
  {
    name: 'Redis keeps what it holds',
    advice: KEEPING_ADVICE,
    unasked: firstOf('Redis'),
    run: async ({ redis }) => {
      const { isKept, found } = await readKeeping(redis);
      return judge(isKept, found);
    },
  },
  {
    name: 'Disk of Redis',
    advice: 'make room on its disk: requests get 503 while Redis cannot write',
    unasked: firstOf('Redis'),
    run: async ({ redis }) => {
      const failed = findFailedWrite(await redis.info('persistence'));
      return failed === undefined ? ok('writes to it') : { state: 'failed', found: failed };
    },
  },
  {
    name: 'Room in Redis',
    advice:
      'set maxmemory a quarter above REDIS_MEMORY_HIGH_WATER_BYTES: in a Redis that is full no worker can catch up',
    unasked: firstOf('Redis'),
    run: async ({ redis, redisHighWaterBytes }) => {
      const most = Number(/^maxmemory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? 0);
      if (most === 0) return ok('no maxmemory');
      const found = `maxmemory ${toMebibytes(most)} MiB, high-water mark ${toMebibytes(redisHighWaterBytes)} MiB`;
      return judge(most >= redisHighWaterBytes * REDIS_ROOM_MIN, found);
    },
  },
  {
    name: 'ClickHouse',
    isOfShard: true,
    advice:
      'see that it runs, that its address is right (CLICKHOUSE_URL, or npm run shards -- list), and that npm run migrate has been run',
    run: async (_, shard) => {
      const [row] = await rowsOf<{ version: string }>(
        shard.clickhouse,
        'SELECT version() AS version FROM (SELECT 1) WHERE (SELECT count() FROM events WHERE time > now() + 1e8) = 0',
      );
      const silent = await findSilentHosts([shard]);
      if (silent.length === 0) return ok(row?.version ?? '');
      return { state: 'failed', found: `${describeHosts(silent)}: no answer, or behind the other hosts` };
    },
  },
  {
    name: 'Account of ClickHouse',
    isOfShard: true,
    advice: 'give it what it needs: docs/operating.md, "Stores of your own", has the statements',
    unasked: firstOf('ClickHouse'),
    run: async (_, { hosts }) => {
      const missing = await Promise.all(hosts.map(({ clickhouse }) => findMissingRights(clickhouse)));
      const found = [...new Set(missing.flat())];
      return found.length === 0 ? ok('has its rights') : { state: 'failed', found: found.join(', ') };
    },
  },
  {
    name: 'Parts of the events table',
    isOfShard: true,
    advice: 'see ops/runbooks/ingest-lagging.md: merges do not keep up with inserts',
    unasked: firstOf('ClickHouse'),
    run: async (_, { clickhouse }) => {
      const [row] = await rowsOf<{ most: string }>(
        clickhouse,
        `SELECT max(parts) AS most FROM (
          SELECT count() AS parts FROM system.parts
          WHERE active AND database = currentDatabase() AND table = 'events' GROUP BY partition)`,
      );
      return judge(
        Number(row?.most ?? 0) <= PARTS_PER_PARTITION_MAX,
        `${row?.most ?? 0} active in the fullest partition`,
      );
    },
  },
  {
    name: 'Rewriting in the background',
    isOfShard: true,
    advice: firstOf('ClickHouse'),
    run: async (_, { clickhouse }) => {
      const { parts, bytes } = await readRewrites(clickhouse);
      return ok(parts === 0 ? 'none' : `${parts} parts are left, ${toMebibytes(bytes)} MiB`);
    },
  },
  {
    name: 'Disk of ClickHouse',
    isOfShard: true,
    advice: 'make room: ClickHouse stops writing when its disk is full, and events then wait in Redis',
    unasked: firstOf('ClickHouse'),
    run: async (_, { clickhouse }) => {
      const disks = await readDisks(clickhouse);
      const least = Math.min(1, ...disks.map(({ freeBytes, totalBytes }) => freeBytes / totalBytes));
      return judge(least >= DISK_FREE_SHARE_MIN, `${Math.round(least * 100)} % free`);
    },
  },
  {
    name: 'Disk of this machine',
    advice: 'make room',
    run: async () => {
      const data = dataDirectory();
      const { bavail, blocks } = await statfs(existsSync(data) ? data : '.');
      return judge(bavail / blocks >= DISK_FREE_SHARE_MIN, `${Math.round((bavail / blocks) * 100)} % free`);
    },
  },
  {
    name: 'Processes',
    advice: 'see ops/runbooks/process-down.md: does it run, and is its log without errors?',
    run: async ({ processes }) => {
      const known = Object.entries(processes).flatMap(([name, url]) => (url === undefined ? [] : [{ name, url }]));
      if (known.length === 0) return ok('not asked: neither SERVICE_URL nor QUERY_URL is set');
      const problems = await Promise.all(known.map(({ name, url }) => findUnready(name, url)));
      const unready = problems.filter((problem) => problem !== undefined);
      if (unready.length > 0) return { state: 'failed', found: unready.join('; ') };
      const missing = processes.web === undefined ? '; web is not asked, because SERVICE_URL is not set' : '';
      return ok(`${known.map(({ name }) => name).join(' and ')} ready${missing}`);
    },
  },
  {
    name: 'Workers',
    advice: 'start a worker process; with WORKER_JOBS, one for each of its jobs',
    unasked: firstOf('Redis'),
    run: async ({ postgres, redis, shards }) => {
      // Without a mail server no worker takes mails.
      const names = queuesOf(shards).filter((name) => name !== MAIL_QUEUE);
      // Of this database only: others of the server may be those of other installations.
      const database = String(redis.options.db ?? 0);
      const workers = await Promise.all(names.map((name) => withQueue(redis, name, (queue) => queue.getWorkers())));
      const idle = names.filter((_, index) => !workers[index]?.some(({ db = database }) => db === database));
      if (idle.length === 0) return ok('connected');
      const found = `none takes jobs of ${idle.join(', ')}`;
      const waits = (store: string, why: string) =>
        ({
          state: 'attention',
          found: `${found}; one that is started waits for ${store}: ${why}`,
          advice: firstOf(store),
        }) as const;
      const unusable = await withTimeout(SILENT_MS, askToWrite(postgres)).then(() => undefined, reasonOf);
      if (unusable !== undefined) return waits('PostgreSQL', unusable);
      const refusal = await findRefusal(redis);
      return refusal === undefined ? judge(false, found) : waits('Redis', refusal);
    },
  },
  {
    name: 'Queues',
    advice: 'see ops/runbooks/ingest-lagging.md: is a worker running, and fast enough?',
    unasked: firstOf('Redis'),
    run: async ({ redis, shards }) => {
      const waits = await Promise.all(
        queuesOf(shards).map((name) => withQueue(redis, name, (queue) => readOldestWaitMs(redis, queue))),
      );
      const waiting = waits.filter((ms) => ms !== undefined);
      const longest = Math.max(0, ...waiting);
      return judge(
        longest <= WAITING_MAX_MS,
        waiting.length === 0 ? 'nothing waits' : `the oldest job waits for ${Math.round(longest / 1000)} s`,
      );
    },
  },
  {
    name: 'Dead letters',
    advice: 'npm run jobs -- list',
    unasked: firstOf('Redis'),
    run: async ({ redis, shards }) => {
      const deadLetters = (
        await Promise.all(queuesOf(shards).map((name) => withQueue(redis, name, listDeadLetters)))
      ).flat();
      return judge(
        deadLetters.length === 0,
        deadLetters.length === 0 ? 'none' : `${deadLetters.length} wait for an operator`,
      );
    },
  },
  {
    name: 'Moves between shards',
    advice:
      'their events wait in Redis; a worker cancels a move without a command within half a minute: is one running?',
    unasked: firstOf('PostgreSQL'),
    run: async ({ postgres }) => {
      const moving: string[] = await postgres('project_placements').where({ state: 'moving' }).pluck('project_id');
      return judge(moving.length === 0, moving.length === 0 ? 'none' : `begun and not ended: ${moving.join(', ')}`);
    },
  },
  {
    name: 'Erasures and deletions',
    advice:
      'a database that does not answer keeps them open, and so does a suspended worker that has their lock: ' +
      'start the one, continue or end the other, and they end without another request',
    unasked: firstOf('PostgreSQL'),
    run: async ({ postgres, shards }) => {
      const { rows } = await postgres.raw(LATE_ERASURES);
      const { erasures, projects } = rows[0];
      if (erasures + projects === 0) return ok('none is late');
      const silent = await findSilentHosts(shards.known);
      const waiting = silent.length === 0 ? '' : `; ${describeHosts(silent)} may be waited for`;
      const holders = await Promise.all([
        erasures > 0 && describeHolder(postgres, 'erasure'),
        projects > 0 && describeHolder(postgres, 'projects'),
      ]);
      const late = `${erasures} erasures and ${projects} deleted projects are late`;
      return judge(false, [late + waiting, ...holders.filter(Boolean)].join('; '));
    },
  },
  {
    name: 'Clocks',
    advice: 'run a time service (chrony, systemd-timesyncd) on every machine: acceptance times come from these clocks',
    run: async (stores) => {
      const { skews, asked } = await readSkews(stores);
      if (skews.length === 0) return { state: 'failed', found: 'no store answers' };
      const silent = asked - skews.length;
      const worst = Math.max(...skews);
      const more = silent === 0 ? '' : `; not asked: ${silent} of ${asked} stores, which do not answer`;
      return judge(worst <= CLOCK_SKEW_MAX_MS, `within ${Math.round(worst)} ms of this machine${more}`);
    },
  },
];

interface Server {
  readonly number: number;
  readonly text: string;
  readonly database: string;
  readonly problem: string | null;
}

const SERVER = `SELECT current_setting('server_version_num')::int AS number, version() AS text,
  current_database() AS database,
  ${POSTGRES_PROBLEM} AS problem`;

// An erasure takes seconds; a project is deleted after its keys have expired, about 20 minutes.
const LATE_ERASURES = `SELECT
    (SELECT count(*)::int FROM erasure_requests
     WHERE (status = 'requested' AND requested_at < now() - interval '1 minute')
        OR (status <> 'purged' AND purge_by < now())) AS erasures,
    (SELECT count(*)::int FROM projects
     WHERE data_deleted_at IS NULL AND deleted_at < now() - interval '25 minutes') AS projects`;

async function describeHolder(postgres: Postgres, of: 'erasure' | 'projects'): Promise<string> {
  const holder = await findLockHolder(postgres, of);
  if (holder === undefined) return '';
  const what = of === 'erasure' ? 'erasures' : 'deletions';
  return `the worker at ${holder.address} has had the lock of ${what} for ${holder.heldForSeconds} s`;
}

/** Rejects with the next error of the connection: the client itself only tries again. */
async function unlessRefused<T>(redis: Redis, answer: Promise<T>): Promise<T> {
  const heard = new AbortController();
  try {
    const refused = once(redis, 'error', { signal: heard.signal }).then(([error]) => {
      throw error;
    });
    refused.catch(() => {});
    return (await Promise.race([answer, refused])) as T;
  } finally {
    heard.abort();
  }
}
