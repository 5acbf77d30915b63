// Entry point of the query process, which answers POST /query and POST /mcp.
import { Registry } from 'prom-client';
import { createCredentialStore } from '../access/credentials.js';
import { createRateLimits } from '../access/rate-limits.js';
import { CatalogReader } from '../catalog/reader.js';
import { DefinitionsReader } from '../definitions/reader.js';
import { readConfigOrExit } from '../platform/config.js';
import { exitForProblem } from '../platform/config-problem.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import { createOperationsRouter } from '../platform/http/operations.js';
import { listen, REQUEST_GRACE_MS } from '../platform/http/server.js';
import { createLifecycle } from '../platform/lifecycle.js';
import { createLogger } from '../platform/log.js';
import { askPostgres } from '../platform/postgres/ask.js';
import { createPostgres } from '../platform/postgres/client.js';
import { collectProcessMetrics } from '../platform/process-metrics.js';
import { createFailFastRedis } from '../platform/redis/client.js';
import { returnMemoryAtRest } from '../platform/rest-memory.js';
import { passStartGate } from '../platform/start-gate.js';
import { ThreadPool } from '../platform/threads/thread-pool.js';
import { answerQueriesHere } from './answer-here.js';
import { createQueryApp } from './app.js';
import { FORMAT_MEMORY_MEBIBYTES } from './format-task.js';

await passStartGate();
const config = readConfigOrExit();
const log = createLogger({ process: 'query', level: config.LOG_LEVEL });
const lifecycle = createLifecycle(log);
returnMemoryAtRest();

const postgres = createPostgres(config, { answerMs: BOUNDS.postgresAnswerMs });
lifecycle.onClose('postgres', () => postgres.destroy());
const redis = createFailFastRedis(config, log);
lifecycle.onClose('redis', async () => redis.disconnect());
const metrics = new Registry();
if (config.METRICS_ENABLED) collectProcessMetrics(metrics);
const threads = new ThreadPool({
  threadsMax: config.TASK_THREADS,
  memoryMebibytes: FORMAT_MEMORY_MEBIBYTES,
  metrics,
});
lifecycle.onClose('threads', () => threads.close());
const credentials = createCredentialStore(postgres, { cacheMs: config.CREDENTIAL_CACHE_MS, log });
const rateLimit = createRateLimits(config, redis).query;

const { askEngines, queries, agents } = answerQueriesHere(config, lifecycle, {
  ...{ postgres, redis, credentials, rateLimit, threads, metrics, log },
  catalogs: new CatalogReader(postgres),
  definitions: new DefinitionsReader(postgres, log),
});
const app = createQueryApp({
  queries,
  agents,
  operations: createOperationsRouter({
    metrics,
    isMetricsEnabled: config.METRICS_ENABLED,
    stores: {
      clickhouse: askEngines,
      postgres: () => askPostgres(postgres),
    },
  }),
  log,
});
const server = await listen(app, { host: config.QUERY_HOST, port: config.QUERY_PORT, log }).catch(exitForProblem);
lifecycle.onClose('http', () => server.close(REQUEST_GRACE_MS));
log.info({ port: server.port }, 'ready');
