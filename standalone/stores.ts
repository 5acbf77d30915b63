// Chooses between embedded and external stores: DATABASE_URL, REDIS_URL and CLICKHOUSE_URL replace
// the embedded ones.
import { connect } from 'node:net';
import { hasSeveralHosts, SEVERAL_HOSTS_ADVICE } from '../src/platform/config.js';
import { messageOf } from '../src/platform/errors.js';
import { embeddedClickHouse } from './clickhouse-server.js';
import type { DataDirectory, Secrets } from './data-directory.js';
import type { Environment, StoreUrls } from './environment.js';
import { findFreePort } from './free-port.js';
import { type EmbeddedPostgresOptions, embeddedPostgres, postgresUrls } from './postgres-server.js';
import { StartProblem } from './problem.js';
import { embeddedRedis } from './redis-server.js';
import type { ProcessSpec } from './supervised-process.js';

export interface Stores {
  readonly urls: StoreUrls;
  /** A new cluster of PostgreSQL is created meanwhile. */
  readonly specs: readonly (ProcessSpec | Promise<ProcessSpec>)[];
  /** URL of the superuser of the embedded PostgreSQL; no process of the service gets it. */
  readonly superuserUrl: string | undefined;
}

interface Store {
  readonly url: string;
  readonly superuserUrl?: string;
  readonly spec?: ProcessSpec | Promise<ProcessSpec>;
}

const REACH_TIMEOUT_MS = 5000;
/** Where the client of ClickHouse connects when its URL names no port. */
const WEB_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/**
 * Prepares embedded stores (the first start initializes PostgreSQL); the supervisor starts them.
 */
export async function chooseStores(options: {
  caller: Environment;
  directory: DataDirectory;
  secrets: Secrets;
}): Promise<Stores> {
  const { caller, directory, secrets } = options;
  const own = async (
    variable: string,
    name: string,
    scheme: string,
    defaultPort: number,
  ): Promise<Store | undefined> => {
    const url = caller[variable];
    if (!url) return undefined;
    if (variable === 'CLICKHOUSE_URL' && hasSeveralHosts(url)) {
      throw new StartProblem(`${variable} ${SEVERAL_HOSTS_ADVICE}.`);
    }
    await requireReachable({ url, name: `${name} (${variable})`, scheme, defaultPort });
    return { url };
  };
  const postgres =
    (await own('DATABASE_URL', 'PostgreSQL', 'postgres', 5432)) ??
    startablePostgres({
      directory: directory.postgres,
      port: await findFreePort(),
      superuserPassword: secrets.postgresPassword,
      password: secrets.postgresServicePassword,
    });
  const redis =
    (await own('REDIS_URL', 'Redis', 'redis', 6379)) ??
    embeddedRedis({ directory: directory.redis, port: await findFreePort(), password: secrets.redisPassword });
  const clickhouse =
    (await own('CLICKHOUSE_URL', 'ClickHouse', 'http', 8123)) ??
    embeddedClickHouse({
      directory: directory.clickhouse,
      port: await findFreePort(),
      password: secrets.clickhousePassword,
      backupPassword: secrets.clickhouseBackupPassword,
      database: caller.CLICKHOUSE_DATABASE || 'analytics',
    });
  return {
    urls: { postgres: postgres.url, redis: redis.url, clickhouse: clickhouse.url },
    specs: [postgres, redis, clickhouse].flatMap(({ spec }) => spec ?? []),
    superuserUrl: postgres.superuserUrl,
  };
}

function startablePostgres(options: EmbeddedPostgresOptions): Store {
  const spec = embeddedPostgres(options).then((postgres) => postgres.spec);
  // Its failure is that of the start, which may not await it yet.
  spec.catch(() => {});
  return { ...postgresUrls(options), spec };
}

async function requireReachable(options: {
  url: string;
  name: string;
  scheme: string;
  defaultPort: number;
}): Promise<void> {
  const { url, name, scheme, defaultPort } = options;
  // `localhost:6379` is a URL too, of the scheme `localhost`.
  if (!/^[a-z]+:\/\//.test(url) || !URL.canParse(url)) {
    const shown = url.replace(/(:\/\/[^:@/]*:).*@/, '$1…@');
    throw new StartProblem(`${name} is not an address like ${scheme}://localhost:${defaultPort}: ${shown}.`);
  }
  const parsed = new URL(url);
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  const port = Number(parsed.port) || (WEB_PORTS[parsed.protocol] ?? defaultPort);
  try {
    await reach(host, port);
  } catch (error) {
    throw new StartProblem(`${name} cannot be reached at ${host}:${port}: ${messageOf(error)}.`, { cause: error });
  }
}

function reach(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    socket.setTimeout(REACH_TIMEOUT_MS, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}
