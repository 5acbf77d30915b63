// The web process: public routes, ingestion; it never writes to ClickHouse, and forwards queries to QUERY_URL.
import { collectDefaultMetrics, Registry } from 'prom-client';
import { createCredentialStore } from '../access/credentials.js';
import { createAdmission } from '../ingest/admission.js';
import { createGeographyLookup, parseGeographyHeaders } from '../ingest/enrich/geography.js';
import { GroupCommit } from '../ingest/group-commit.js';
import { toEventLimits } from '../ingest/limits.js';
import { createIngestMetrics } from '../ingest/metrics.js';
import { createIngestQueue, enqueueIngest } from '../ingest/queue.js';
import type { IngestDeps } from '../ingest/routes.js';
import { type Config, readConfig } from '../platform/config.js';
import { createOperationsRouter } from '../platform/http/operations.js';
import { listen } from '../platform/http/server.js';
import { createLifecycle } from '../platform/lifecycle.js';
import { createLogger } from '../platform/log.js';
import { createPostgres, type Postgres } from '../platform/postgres/client.js';
import { createImpatientRedis, type Redis } from '../platform/redis/client.js';
import { createApp } from './app.js';
import { forwardQueries } from './forward-queries.js';

const config = readConfig();
const log = createLogger({ process: 'web', level: config.LOG_LEVEL });
const lifecycle = createLifecycle(log);

const postgres = createPostgres(config);
lifecycle.onClose('postgres', () => postgres.destroy());
const redis = createImpatientRedis(config, log);
lifecycle.onClose('redis', async () => redis.disconnect());
const metrics = new Registry();
if (config.METRICS_ENABLED) collectDefaultMetrics({ register: metrics });

const app = createApp({
  ingest: createIngest(config, { postgres, redis, metrics }),
  queries: await createQueries(config),
  operations: createOperationsRouter({
    metrics,
    isReady: async () => {
      await redis.ping();
      await postgres.raw('SELECT 1');
    },
  }),
  trustProxy: config.TRUST_PROXY,
  log,
});
const server = await listen(app, { host: config.HOST, port: config.PORT });
lifecycle.onClose('http', () => server.close(20_000));
log.info({ port: server.port }, 'ready');

function createIngest(settings: Config, stores: { postgres: Postgres; redis: Redis; metrics: Registry }): IngestDeps {
  const queue = createIngestQueue(stores.redis);
  const ingestMetrics = createIngestMetrics(stores.metrics);
  return {
    credentials: createCredentialStore(stores.postgres, { cacheMs: settings.CREDENTIAL_CACHE_MS, log }),
    admission: createAdmission(queue, stores.redis, {
      jobsMax: settings.INGEST_BACKLOG_JOBS_MAX,
      memoryBytesMax: settings.REDIS_MEMORY_HIGH_WATER_BYTES,
    }),
    groupCommit: new GroupCommit(
      async (commit) => {
        await enqueueIngest(queue, stores.redis, commit);
        ingestMetrics.commitEvents.observe(commit.events);
      },
      { eventsMax: settings.INGEST_COMMIT_EVENTS, delayMs: settings.INGEST_COMMIT_DELAY_MS },
    ),
    redis: stores.redis,
    findGeography: createGeographyLookup({
      databases: settings.GEOIP_DATABASE?.split(',') ?? [],
      headerNames: parseGeographyHeaders(settings.GEOIP_HEADERS),
    }),
    limits: {
      ...toEventLimits(settings),
      batchSizeMax: settings.MAX_BATCH_SIZE,
      requestBytesMax: settings.MAX_REQUEST_BYTES,
    },
    metrics: ingestMetrics,
  };
}

async function createQueries(settings: Config) {
  if (settings.QUERY_URL !== undefined) return forwardQueries(settings.QUERY_URL);
  throw new Error('QUERY_URL is not set');
}
