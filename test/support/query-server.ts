// A query process in this one, with keys of the projects of the golden data and its own limits.
import { Registry } from 'prom-client';
import type { Credential, CredentialStore } from '../../src/access/credentials.js';
import type { Scope } from '../../src/access/roles.js';
import { toCatalog } from '../../src/catalog/catalog.js';
import { NOTHING } from '../../src/definitions/reader.js';
import type { Shards } from '../../src/platform/clickhouse/shards.js';
import { createOperationsRouter } from '../../src/platform/http/operations.js';
import { notFound } from '../../src/platform/http/respond.js';
import { listen, type RunningServer } from '../../src/platform/http/server.js';
import { type ProjectId, toOrganizationId, toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import type { Redis } from '../../src/platform/redis/client.js';
import type { ThreadPool } from '../../src/platform/threads/thread-pool.js';
import { createQueryApp } from '../../src/query-api/app.js';
import { createQueryDeps } from '../../src/query-api/deps.js';
import { createQueryHandlers, type QueryDeps } from '../../src/query-api/routes.js';
import { NOW_MS, OTHER_PROJECT, PROJECT } from '../golden/dataset.js';
import type { TestDatabases } from './stack.js';

const log = createLogger({ process: 'test', level: 'fatal' });

const credential = (kind: Credential['kind'], projectId: string, scopes: readonly Scope[]): Credential => ({
  kind,
  id: 'key',
  projectId: toProjectId(projectId),
  organizationId: toOrganizationId(PROJECT),
  scopes: new Set(scopes),
  ipPolicy: 'anonymize',
  timezone: 'UTC',
});

const CREDENTIALS: ReadonlyMap<string, Credential> = new Map([
  ['sk_one', credential('secret', PROJECT, ['track', 'query', 'dashboards', 'admin'])],
  ['sk_two', credential('secret', OTHER_PROJECT, ['track', 'query', 'dashboards', 'admin'])],
  ['sk_tokyo', { ...credential('secret', PROJECT, ['query']), timezone: 'Asia/Tokyo' }],
  ['pk_one', credential('public', PROJECT, ['track'])],
  ['aat_query', credential('token', PROJECT, ['query'])],
  ['aat_track', credential('token', PROJECT, ['track'])],
]);

const credentials: CredentialStore = { find: async (key) => CREDENTIALS.get(key) };

export interface QueryServerParts {
  readonly databases: TestDatabases;
  readonly shards: Shards;
  readonly redis: Redis;
  readonly threads: ThreadPool;
}

export type QueryServer = RunningServer & Pick<QueryDeps, 'engineOf'>;

export async function startQueryServer(
  { databases, shards, redis, threads }: QueryServerParts,
  limits: Partial<TestDatabases['config']>,
): Promise<QueryServer> {
  const metrics = new Registry();
  const [rateLimit, admitToPeople] = [{ take: async () => {} }, async () => {}];
  const ownerOf = async (projectId: ProjectId) => projectId;
  const catalog = toCatalog([], false);
  const catalogs = { read: async () => catalog, readNow: async () => catalog, held: () => undefined };
  const parts = { shards, credentials, redis, threads, log, catalogs, definitions: { read: async () => NOTHING } };
  const config = { ...databases.config, ...limits };
  const deps = {
    ...createQueryDeps(config, { ...parts, rateLimit, metrics, admitToPeople, ownerOf }),
    now: () => NOW_MS,
  };
  const operations = createOperationsRouter({ metrics, stores: {}, isMetricsEnabled: true });
  const app = createQueryApp({ queries: createQueryHandlers(deps), agents: [notFound], operations, log });
  return { ...(await listen(app, { host: '127.0.0.1', port: 0 })), engineOf: deps.engineOf };
}

export const metricsOf = async ({ port }: RunningServer): Promise<string> =>
  (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
