// Fixture of integration and end-to-end tests: separate databases in the engines of the run, and
// the service's real processes on them. stack-global-setup.ts starts the engines.
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { createClickHouse } from '../../src/platform/clickhouse/client.js';
import { type Config, parseConfig } from '../../src/platform/config.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { copyTemplate, createEmptyDatabase, withPath } from './stack-template.js';

export { type ProcessGroup, startProcesses, type TestProcess } from './stack-processes.js';
export { startStandalone, type TestStandalone } from './stack-standalone.js';

export type Environment = Readonly<Record<string, string>>;

export interface TestDatabases {
  /** Complete for `parseConfig` and for the processes of the Procfile. */
  readonly env: Environment;
  readonly config: Config;
  /** Drops everything and closes remaining connections. */
  close(): Promise<void>;
}

const NO_LIMIT = '1000000';
/** Redis has 64 databases here; 0 holds only the counter that assigns the others. */
const REDIS_DATABASES = 63;

/** New and migrated: a PostgreSQL database, a ClickHouse database, an empty Redis database. */
export async function createTestDatabases(overrides: Environment = {}): Promise<TestDatabases> {
  return openDatabases((name) => copyTemplate(inject('engines'), inject('template'), name), overrides);
}

/** As a deployment finds them: an empty PostgreSQL database, no ClickHouse database. */
export async function createEmptyDatabases(overrides: Environment = {}): Promise<TestDatabases> {
  return openDatabases((name) => createEmptyDatabase(inject('engines'), name), overrides);
}

async function openDatabases(create: (name: string) => Promise<void>, overrides: Environment): Promise<TestDatabases> {
  const engines = inject('engines');
  const name = `test_${randomBytes(8).toString('hex')}`;
  await create(name);
  const env: Environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'warn',
    DATABASE_URL: withPath(engines.postgres, name),
    REDIS_URL: withPath(engines.redis, String(await takeRedisDatabase(engines.redis))),
    CLICKHOUSE_URL: engines.clickhouse,
    CLICKHOUSE_DATABASE: name,
    SECRET_KEY_BASE: randomBytes(32).toString('hex'),
    // Tests exceed the rate limits of keys.
    TRACK_REQUESTS_PER_SECOND: NO_LIMIT,
    IDENTIFY_REQUESTS_PER_SECOND: NO_LIMIT,
    PROJECT_EVENTS_PER_SECOND: NO_LIMIT,
    PROJECT_BYTES_PER_SECOND: '100000000000',
    QUERY_REQUESTS_PER_SECOND: NO_LIMIT,
    SESSION_REQUESTS_PER_SECOND: NO_LIMIT,
    SIGN_IN_REQUESTS_PER_MINUTE: NO_LIMIT,
    ERASURES_PER_MINUTE: NO_LIMIT,
    EXPORTS_PER_MINUTE: NO_LIMIT,
    PRIVACY_READS_PER_MINUTE: NO_LIMIT,
    DEMOS_PER_DAY_MAX: NO_LIMIT,
    ...overrides,
  };
  const config = parseConfig(env);
  return {
    env,
    config,
    close: async () => {
      const admin = createPostgres({ DATABASE_URL: withPath(engines.postgresSuperuser, 'postgres') });
      await admin.raw(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.destroy();
      const clickhouse = createClickHouse({ CLICKHOUSE_URL: engines.clickhouse, CLICKHOUSE_DATABASE: 'default' });
      await clickhouse.command({ query: `DROP DATABASE IF EXISTS ${name} SYNC` });
      await clickhouse.close();
    },
  };
}

async function takeRedisDatabase(url: string): Promise<number> {
  const redis = createRedis({ REDIS_URL: url });
  const database = 1 + ((await redis.incr('databases-taken')) % REDIS_DATABASES);
  await redis.select(database);
  await redis.flushdb();
  await redis.quit();
  return database;
}
