// `npm run doctor` on real stores: no advice for healthy ones, and one line of advice for each
// problem. Other commands without a store, which name it.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'bullmq';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createIngestQueue } from '../../src/ingest/queue.js';
import type { Config } from '../../src/platform/config.js';
import { newUuidV7 } from '../../src/platform/ids.js';
import { withAdvisoryLock } from '../../src/platform/postgres/advisory-lock.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { longestWait } from '../../src/privacy/store.js';
import { eventually } from '../support/eventually.js';
import { startMailServer } from '../support/mail-server.js';
import { RedisServers, toAdminUrl } from '../support/redis-servers.js';
import { type Ended, runScript } from '../support/run-script.js';
import { createTestDatabases, startProcesses, type TestDatabases } from '../support/stack.js';

/** A file system of its own on Linux. */
const MEMORY_DISK = '/dev/shm';

let databases: TestDatabases;
const servers = new RedisServers();

beforeAll(async () => {
  databases = await createTestDatabases();
});

afterAll(async () => {
  servers.stop();
  await databases?.close();
});

const run = (command: readonly string[], env: Record<string, string>): Promise<Ended> =>
  runScript(command, { ...databases.env, ...env });

const doctor = (env: Record<string, string> = {}): Promise<Ended> => run(['dist/cli/doctor.js'], env);

test('reports nothing for healthy stores', async () => {
  const { status, output } = await doctor();
  // The disk of the machine that runs the tests may be full, its Node.js without updates, and no
  // worker runs.
  const complaints = output.split('\n').filter((line) => /^[!✗]/.test(line) && !/Disk|Node\.js|Workers/.test(line));
  expect({ status, complaints }).toEqual({ status: 0, complaints: [] });
});

test('names the database of PostgreSQL, as npm run migrate does: an address need not name it', async () => {
  const name = new URL(databases.config.DATABASE_URL).pathname.slice(1);
  expect((await doctor()).output).toMatch(new RegExp(`✓ PostgreSQL: PostgreSQL [\\d.]+, database ${name}, UTF8\n`));
  const { output } = await run(['dist/src/platform/migrate.js'], { LOG_LEVEL: 'info' });
  expect(JSON.parse(output)).toMatchObject({ msg: 'migrated', database: name });
});

test.skipIf(!existsSync(MEMORY_DISK))('looks at the disk of the data folder', async () => {
  const { output } = await doctor({ DATA_DIR: MEMORY_DISK });
  const { bavail, blocks } = await statfs(MEMORY_DISK);
  const found = Number(/Disk of this machine: (\d+) % free/.exec(output)?.[1]);
  // Other tests may use it at the same time.
  expect(Math.abs(found - (bavail / blocks) * 100)).toBeLessThan(5);
});

test('warns when maxmemory of Redis is not above the high-water mark', async () => {
  const redis = createRedis({ REDIS_URL: inject('engines').redisAdmin });
  // More than this machine has, because other tests use this Redis.
  const [most, mark] = [2 ** 40, String(2 ** 40)];
  await redis.config('SET', 'maxmemory', most);
  await redis.config('SET', 'maxmemory-policy', 'volatile-ttl');
  try {
    const { output } = await doctor({ REDIS_MEMORY_HIGH_WATER_BYTES: mark });
    // BullMQ prints it for each queue.
    expect(output).not.toContain('Eviction policy');
    expect(output).toMatch(/! Room in Redis: maxmemory 1048576 MiB, high-water mark 1048576 MiB\n +→ set maxmemory/);
  } finally {
    await redis.config('SET', 'maxmemory', 0);
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    redis.disconnect();
  }
});

test('names a Redis that cannot write to its disk', async () => {
  // A snapshot cannot replace the folder of the append-only file.
  const url = await servers.start('--dbfilename', 'appendonlydir');
  const redis = createRedis({ REDIS_URL: toAdminUrl(url) });
  // Only a Redis with snapshots refuses writes after a failed one.
  await redis.config('SET', 'save', '3600 1');
  await redis.bgsave();
  await eventually(async () => expect(await redis.info('persistence')).toContain('rdb_last_bgsave_status:err'));
  redis.disconnect();
  const { status, output } = await doctor({ REDIS_URL: url });
  expect(output).toMatch(/✗ Disk of Redis: its last snapshot has failed\n +→ make room/);
  const waits = 'one that is started waits for Redis: MISCONF';
  expect(output).toMatch(
    new RegExp(`! Workers: none takes jobs of .*; ${waits} .*\\n +→ first do what is advised for`),
  );
  expect(status).toBe(1);
});

test('names the process that has the lock of late erasures, which a metric measures', async () => {
  const postgres = createPostgres(databases.config);
  const [id, other] = [newUuidV7(), newUuidV7()];
  const fiveMinutesAgo = new Date(Date.now() - 300_000);
  try {
    await postgres('erasure_requests').insert({
      ...{ id, project_id: other, organization_id: other, user_id: 'ada', user_hash: 'hash', status: 'requested' },
      ...{ erased_through_ms: fiveMinutesAgo.getTime(), erased_through_seq: 1, requested_by: '{}', counts: '{}' },
      ...{ requested_at: fiveMinutesAgo, purge_by: new Date(Date.now() + 3_600_000) },
    });
    const late = '! Erasures and deletions: 1 erasures and 0 deleted projects are late';
    const { signal } = new AbortController();
    const { output } = await withAdvisoryLock(postgres, { of: 'erasure', signal }, () => doctor());
    expect(output).toMatch(new RegExp(`${late}; the worker at [\\d.]+:\\d+ has had the lock of erasures for \\d+ s\n`));
    expect((await doctor()).output).toContain(`${late}\n`);
    expect(await longestWait(postgres)).toBeGreaterThanOrEqual(300);
    await postgres('erasure_requests').where({ id }).del();
    expect(await longestWait(postgres)).toBe(0);
  } finally {
    await postgres('erasure_requests').where({ id }).del();
    await postgres.destroy();
  }
});

test('names a misspelt setting with the one that is meant', async () => {
  const { status, output } = await doctor({ QUERY_TIMOUT_MS: '5000' });
  expect(output).toMatch(/! Settings: QUERY_TIMOUT_MS is no setting and is ignored; nearest is QUERY_TIMEOUT_MS\n +→ /);
  expect(status).toBe(0);
});

test('logs in at the mail server, and says what it answers', async () => {
  const smtp = await startMailServer();
  try {
    const env = { SMTP_URL: smtp.url, MAIL_FROM: 'team@example.com' };
    expect((await doctor(env)).output).toContain('✓ Mail server: accepts the login\n');
    smtp.isPasswordKnown = false;
    const { status, output } = await doctor(env);
    expect(output).toMatch(/✗ Mail server: Invalid login: 535 authentication failed\n +→ see that it runs/);
    expect(status).toBe(1);
    expect(smtp.mails).toEqual([]);
  } finally {
    smtp.close();
  }
});

test('asks the addresses of the identity provider', async () => {
  const STATUS: Readonly<Record<string, number>> = { '/authorize': 400, '/token': 405, '/userinfo': 401 };
  const server = createServer((req, res) => void res.writeHead(STATUS[String(req.url)] ?? 404).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = {
    IDP_AUTHORIZE_URL: `${url}/authorize`,
    IDP_TOKEN_URL: `${url}/token`,
    IDP_USERINFO_URL: `${url}/userinfo`,
    IDP_CLIENT_ID: 'id',
    IDP_CLIENT_SECRET: 'secret',
  };
  try {
    expect((await doctor(env)).output).toContain(`✓ Identity provider: answers at ${url}/authorize, ${url}/token, `);
    const wrong = { IDP_AUTHORIZE_URL: `${url}/login`, IDP_TOKEN_URL: 'http://127.0.0.1:1/token' };
    const { status, output } = await doctor({ ...env, ...wrong });
    const refused = 'token at http://127.0.0.1:1/token cannot be reached: ';
    expect(output).toContain(`✗ Identity provider: authorize at ${url}/login answers 404; ${refused}`);
    expect(status).toBe(1);
  } finally {
    server.close();
  }
});

test('asks processes whether they are ready, and names those that are not', { timeout: 180_000 }, async () => {
  // Of another installation, in another database of the same Redis.
  const connection = createRedis({ REDIS_URL: inject('engines').redisAdmin });
  const other = new Worker('ingest', async () => {}, { connection });
  await other.waitUntilReady();
  const none = await doctor({ SERVICE_URL: 'http://127.0.0.1:1' });
  await other.close();
  connection.disconnect();
  expect(none.output).toMatch(
    /✗ Processes: web at http:\/\/127\.0\.0\.1:1 cannot be reached: .*\n +→ see ops\/runbooks/,
  );
  expect(none.output).toMatch(/! Workers: none takes jobs of ingest, .*\n +→ start a worker process/);
  expect(none.status).toBe(1);
  const processes = await startProcesses(databases.env);
  try {
    const { status, output } = await doctor({ SERVICE_URL: processes.url });
    expect(output).toContain('✓ Processes: web ready\n');
    const half = await doctor({ QUERY_URL: processes.url });
    expect(half.output).toContain('✓ Processes: query ready; web is not asked, because SERVICE_URL is not set\n');
    expect(output).toContain('✓ Workers: connected\n');
    expect(status).toBe(0);
  } finally {
    await processes.stop();
  }
});

test('warns about a queue without a worker', async () => {
  const redis = createRedis(databases.config);
  const queue = createIngestQueue(redis);
  const job = await queue.add(
    'events',
    { version: 1, claim: 'none', events: 0 },
    { timestamp: Date.now() - 3_600_000 },
  );
  expect((await doctor()).output).toMatch(/! Queues: the oldest job waits for 36\d\d s\n +→ see ops\/runbooks/);
  await job.remove();
  await queue.close();
  redis.disconnect();
});

test('names a PostgreSQL without the tables of the service, and one that refuses writes', async () => {
  const schema = new URL(databases.config.DATABASE_URL);
  schema.searchParams.set('options', '-c search_path=pg_catalog');
  const reading = new URL(databases.config.DATABASE_URL);
  reading.searchParams.set('options', '-c default_transaction_read_only=on');
  const empty = await doctor({ DATABASE_URL: schema.href });
  expect(empty.output).toMatch(/✗ PostgreSQL: .*, without the tables of the service\n +→ .* npm run migrate has been/);
  expect(empty.output).toContain('✗ Erasures and deletions: relation "erasure_requests" does not exist\n');
  const { status, output } = await doctor({ DATABASE_URL: reading.href });
  const problem = 'default_transaction_read_only is on: it refuses writes';
  expect(output).toMatch(new RegExp(`✗ PostgreSQL: .*, ${problem}\n`));
  const waits = `one that is started waits for PostgreSQL: DATABASE_URL: ${problem}`;
  expect(output).toMatch(new RegExp(`! Workers: .*; ${waits}\n +→ first do what is advised for PostgreSQL\n`));
  expect(status).toBe(1);
});

test('says of what needs a store that the store comes first', async () => {
  const { output } = await doctor({ REDIS_URL: 'redis://127.0.0.1:1', DATABASE_URL: 'postgres://a@127.0.0.1:1/a' });
  for (const name of ['Redis keeps what it holds', 'Disk of Redis', 'Dead letters']) {
    expect(output).toMatch(new RegExp(`✗ ${name}: .*\\n +→ first do what is advised for Redis\\n`));
  }
  expect(output).toMatch(/✗ Moves between shards: .*\n +→ first do what is advised for PostgreSQL\n/);
});

test.each([
  ['DATABASE_URL', 'postgres://nobody@127.0.0.1:1/none', /✗ PostgreSQL: .*ECONNREFUSED.*\n +→ see that it runs/],
  ['CLICKHOUSE_URL', 'http://127.0.0.1:1', /✗ ClickHouse: .*ECONNREFUSED.*\n +→ see that it runs/],
  ['REDIS_URL', 'redis://127.0.0.1:1', /✗ Redis: .*ECONNREFUSED.*\n +→ see that it runs/],
])(
  'reports an unreachable %s and exits with 1',
  async (setting, url, complaint) => {
    const { status, output } = await doctor({ [setting]: url });
    expect(output).toMatch(complaint);
    expect(status).toBe(1);
  },
  180_000,
);

const NOTHING_LISTENS = 'cannot be reached at 127.0.0.1:1: nothing listens there\n';
const PROJECT = '0197f000-0000-7000-8000-000000000001';

test.each([
  ['dist/src/platform/migrate.js', 'DATABASE_URL', 'postgres://a:b@127.0.0.1:1/c', 'PostgreSQL (DATABASE_URL)'],
  ['dist/src/platform/migrate.js', 'CLICKHOUSE_URL', 'http://127.0.0.1:1', 'ClickHouse (CLICKHOUSE_URL)'],
  ['dist/cli/demo.js --delete', 'DATABASE_URL', 'postgres://a:b@127.0.0.1:1/c', 'PostgreSQL (DATABASE_URL)'],
  ['dist/cli/shards.js list', 'DATABASE_URL', 'postgres://a:b@127.0.0.1:1/c', 'PostgreSQL (DATABASE_URL)'],
  ['dist/cli/invite.js a@example.com', 'DATABASE_URL', 'postgres://a:b@127.0.0.1:1/c', 'PostgreSQL (DATABASE_URL)'],
  [
    `dist/cli/keys.js --project ${PROJECT}`,
    'DATABASE_URL',
    'postgres://a:b@127.0.0.1:1/c',
    'PostgreSQL (DATABASE_URL)',
  ],
])('%s without %s names the store in one line', async (command, setting, url, name) => {
  const ended = await run(command.split(' '), { SERVICE_URL: 'http://127.0.0.1:1', [setting]: url });
  expect(ended).toEqual({ status: 1, output: `${name} ${NOTHING_LISTENS}` });
});

const atHostOf = (url: string, other: string): string =>
  Object.assign(new URL(url), { host: new URL(other).host }).href;

test.each<[string, (config: Config) => Record<string, string>]>([
  ['PostgreSQL (DATABASE_URL) speaks no TLS: set DATABASE_TLS=url', () => ({ DATABASE_TLS: 'verify' })],
  [
    'PostgreSQL (DATABASE_URL) does not answer: Connection terminated unexpectedly',
    ({ DATABASE_URL, CLICKHOUSE_URL }) => ({ DATABASE_URL: atHostOf(DATABASE_URL, CLICKHOUSE_URL) }),
  ],
  [
    'PostgreSQL (DATABASE_URL) refuses: cannot execute',
    ({ DATABASE_URL }) => ({ DATABASE_URL: `${DATABASE_URL}?options=-c%20default_transaction_read_only%3Don` }),
  ],
  [
    'ClickHouse (CLICKHOUSE_URL) cannot be used: socket hang up',
    ({ DATABASE_URL, CLICKHOUSE_URL }) => ({ CLICKHOUSE_URL: atHostOf(CLICKHOUSE_URL, DATABASE_URL) }),
  ],
  [
    'ClickHouse speaks no TLS, which https:// in its address asks for (CLICKHOUSE_URL',
    ({ CLICKHOUSE_URL }) => ({ CLICKHOUSE_URL: CLICKHOUSE_URL.replace('http:', 'https:') }),
  ],
])('npm run migrate says in one line: %s', async (said, settings) => {
  const { status, output } = await run(['dist/src/platform/migrate.js'], settings(databases.config));
  expect(output).toMatch(/^[^\n]+\n$/);
  expect(output).toContain(said);
  expect(status).toBe(1);
});

test('a command without Redis says that it does not answer', async () => {
  const ended = await run(['dist/cli/jobs.js', 'list'], { REDIS_URL: 'redis://127.0.0.1:1' });
  expect(ended).toEqual({ status: 1, output: 'Redis (REDIS_URL) does not answer\n' });
});

test('npm run migrate names every missing setting in one line', async () => {
  const ended = await run(['dist/src/platform/migrate.js'], { DATABASE_URL: '', SECRET_KEY_BASE: '' });
  expect(ended.output).toMatch(/^the configuration has 2 problem\(s\): DATABASE_URL: .*; SECRET_KEY_BASE: .*\n$/);
  expect(ended.status).toBe(1);
});
