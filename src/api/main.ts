// Entry of the web process: public routes and ingestion. It never writes to ClickHouse. Queries are
// forwarded to QUERY_URL, or answered in this process when it is not set.
import type { Router } from 'express';
import { Registry } from 'prom-client';
import { guardAgents } from '../access/agent-origins.js';
import { createCredentialStore } from '../access/credentials.js';
import { requireFeatures } from '../access/features.js';
import type { GuardDeps } from '../access/guarded-router.js';
import { createProjectPasses } from '../access/project-pass.js';
import { createRateLimits } from '../access/rate-limits.js';
import { toInvitationMail } from '../accounts/invitation-mail.js';
import { createAccountsRouter } from '../accounts/routes.js';
import { createTxtLookup } from '../accounts/txt-records.js';
import { createAlertsRouter } from '../alerts/routes.js';
import { createAlertQueries } from '../alerts/run-query.js';
import { createUnsubscribeLinks } from '../alerts/unsubscribe.js';
import { createWebhookSecrets } from '../alerts/webhook-secret.js';
import { createBrowserScriptRouter } from '../browser-script/routes.js';
import { CatalogReader } from '../catalog/reader.js';
import { createCatalogRouter } from '../catalog/routes.js';
import { createDashboardsRouter } from '../dashboards/routes.js';
import { DefinitionsReader } from '../definitions/reader.js';
import { createDefinitionsRouter } from '../definitions/routes.js';
import { createDemoQueue } from '../demo/queue.js';
import { createDemoRouter } from '../demo/routes.js';
import { createIdentityDeps } from '../identity/deps.js';
import { createUploads } from '../imports/upload/routes.js';
import { createLagGauge } from '../ingest/canary.js';
import { createIngestDeps, type IngestionParts } from '../ingest/deps.js';
import { DroppedEvents } from '../ingest/drop/counts.js';
import { RejectedEvents } from '../ingest/rejected/events.js';
import { readSamples, saveRejected } from '../ingest/rejected/store.js';
import { createKeepingRouter } from '../keeping/routes.js';
import { createEventReader } from '../live/read-events.js';
import { createLive } from '../live/routes.js';
import { createLlmsRouter } from '../llms/routes.js';
import { createMailQueue, enqueueMail } from '../mail/queue.js';
import { createOAuthRouter } from '../oauth/routes.js';
import { DeadLetters } from '../operate/dead-letters.js';
import { createDeliverySource } from '../operate/delivery.js';
import { CHECK_TIMEOUT_MS } from '../operate/examine.js';
import { createOperators } from '../operate/operators.js';
import { createDeliveryRouter } from '../operate/routes.js';
import { loadAssets } from '../pages/assets.js';
import { loadConsole } from '../pages/console-assets.js';
import { createPagesRouter, showProblems } from '../pages/routes.js';
import { Shards } from '../platform/clickhouse/shards.js';
import { type Config, dataDirectory, readConfigOrExit } from '../platform/config.js';
import { exitForProblem, orExit } from '../platform/config-problem.js';
import { createDiskGauges } from '../platform/disk-metrics.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import { ByteSemaphore } from '../platform/flow/byte-semaphore.js';
import { ProjectRates } from '../platform/flow/project-rates.js';
import { createRefusalCounter } from '../platform/flow/refusal.js';
import { letHeapGrowBy } from '../platform/heap-growth.js';
import { createOperationsRouter } from '../platform/http/operations.js';
import type { BodyLimits } from '../platform/http/read-body.js';
import { createRequestMetrics } from '../platform/http/request-metrics.js';
import { listen, REQUEST_GRACE_MS } from '../platform/http/server.js';
import { createLifecycle } from '../platform/lifecycle.js';
import { createLogger } from '../platform/log.js';
import { askPostgres } from '../platform/postgres/ask.js';
import { createPostgres } from '../platform/postgres/client.js';
import { collectProcessMetrics } from '../platform/process-metrics.js';
import { publicUrlOf } from '../platform/public-url.js';
import { createFailFastRedis, firstReady } from '../platform/redis/client.js';
import { warnUnlessKept } from '../platform/redis/keeping.js';
import { requireUsableRedis } from '../platform/redis/usable.js';
import { createRepeatedWarning } from '../platform/repeated-warning.js';
import { returnMemoryAtRest } from '../platform/rest-memory.js';
import { passStartGate } from '../platform/start-gate.js';
import { ThreadPool } from '../platform/threads/thread-pool.js';
import { createExports } from '../privacy/export-routes.js';
import { createIdHash } from '../privacy/id-hash.js';
import { createErasureQueue } from '../privacy/queue.js';
import { createPrivacyRouter } from '../privacy/routes.js';
import type { QueryAnswering } from '../query-api/answer-here.js';
import { FORMAT_MEMORY_MEBIBYTES } from '../query-api/format-task.js';
import { createReportsRouter } from '../reports/routes.js';
import { toIdentityProvider } from '../sign-in/provider.js';
import { CALLBACK_PATH, createSignInRouter } from '../sign-in/routes.js';
import { createApp } from './app.js';
import { forwardQueries } from './forward-queries.js';
import { createOpenApiRouter } from './openapi/routes.js';
import { createProjectQueries } from './project-queries.js';
import { keepWorkerRunning } from './worker-process.js';

await passStartGate();
const config = readConfigOrExit();
const log = createLogger({ process: 'web', level: config.LOG_LEVEL });
const lifecycle = createLifecycle(log);
returnMemoryAtRest();
// Bodies of a megabyte had the heap collected every second request.
letHeapGrowBy(200);

const postgres = createPostgres(config, { answerMs: BOUNDS.postgresAnswerMs });
lifecycle.onClose('postgres', () => postgres.destroy());
const redis = createFailFastRedis(config, log);
lifecycle.onClose('redis', async () => redis.disconnect());
redis.once('ready', () => requireUsableRedis(redis, config.SECRET_KEY_BASE).catch(exitForProblem));
warnUnlessKept(redis, log);
const metrics = new Registry();
if (config.METRICS_ENABLED) collectProcessMetrics(metrics);
// Web never writes to ClickHouse: these connections are those of checks.
const shards = new Shards(config, { postgres, log, maxConnections: 2, requestTimeoutMs: CHECK_TIMEOUT_MS });
lifecycle.onClose('clickhouse of checks', () => shards.close());
createLagGauge(metrics, redis, shards);
createDiskGauges(metrics, shards, dataDirectory());

const credentials = createCredentialStore(postgres, {
  cacheMs: config.CREDENTIAL_CACHE_MS,
  eventsPerMonthMax: config.EVENTS_PER_MONTH_MAX,
  log,
});

const rateLimits = createRateLimits(config, redis);

const threads = new ThreadPool({
  threadsMax: config.TASK_THREADS,
  ...(config.QUERY_URL === undefined && { memoryMebibytes: FORMAT_MEMORY_MEBIBYTES }),
  metrics,
});
lifecycle.onClose('threads', () => threads.close());

const publicUrl = publicUrlOf(config);
const identityProvider = orExit(() => toIdentityProvider(config, new URL(CALLBACK_PATH, publicUrl).href));
const guard: GuardDeps = { postgres, credentials, sessions: { rateLimit: rateLimits.session, publicUrl } };

const catalogs = new CatalogReader(postgres);
const definitions = new DefinitionsReader(postgres, log);
const { queries, agents } =
  config.QUERY_URL === undefined
    ? await answerQueries()
    : { queries: [forwardQueries(config.QUERY_URL)], agents: [forwardQueries(config.QUERY_URL, '/mcp')] };
const ownAddresses = [publicUrl, ...(config.SERVICE_URL === undefined ? [] : [new URL(config.SERVICE_URL)])];
const exports = createExports({
  ...{ ...guard, redis, log },
  hashId: createIdHash(config.SECRET_KEY_BASE),
  openMax: config.EXPORTS_OPEN_MAX,
  readerTimeoutMs: config.EXPORT_READER_TIMEOUT_MS,
  limit: rateLimits.export,
});
lifecycle.onClose('exports', () => exports.close());

const passes = createProjectPasses(config.SECRET_KEY_BASE);
const queryUrl = () => config.QUERY_URL ?? loopbackUrl(config.HOST, server.port);
const queryTimeoutMs = config.QUERY_WAIT_MS + config.QUERY_TIMEOUT_MS;
const alertQueries = createAlertQueries({ queryUrl, passes, queryTimeoutMs, log });
const uploads = createUploads({
  ...{ ...guard, redis, secretKeyBase: config.SECRET_KEY_BASE },
  url: () => loopbackUrl(config.HOST, server.port),
  bytesMax: config.IMPORT_UPLOAD_BYTES_MAX,
  openMax: config.IMPORTS_OPEN_MAX,
});
const live = createLive({
  ...guard,
  source: {
    readEvents: createEventReader({ passes, queryUrl }),
    readRejected: (projectId) => readSamples(redis, projectId),
    warn: createRepeatedWarning({ log, message: 'a live view could not be read' }),
  },
  openMax: config.LIVE_VIEWS_OPEN_MAX,
});

const assets = loadAssets();
const consoleAssets = loadConsole();

const body: BodyLimits = {
  bytesMax: config.MAX_REQUEST_BYTES,
  budget: new ByteSemaphore(config.REQUEST_BYTES_IN_FLIGHT_MAX),
};
const ingestion: IngestionParts = {
  ...{ credentials, rateLimits, redis, registry: metrics, body, threads, shards },
  rates: new ProjectRates(redis, {
    eventsPerSecond: config.PROJECT_EVENTS_PER_SECOND,
    bytesPerSecond: config.PROJECT_BYTES_PER_SECOND,
  }),
  refused: createRefusalCounter(metrics),
};
const rejectedEvents = new RejectedEvents((rejected) => saveRejected(redis, rejected, Date.now()), log);
lifecycle.onClose('rejected events', () => rejectedEvents.close());
const droppedEvents = new DroppedEvents(redis, log);
lifecycle.onClose('dropped events', () => droppedEvents.close());
const app = createApp({
  featuresOff: orExit(() => requireFeatures(config.FEATURES_OFF)),
  ingest: orExit(() => createIngestDeps(config, { ...ingestion, rejectedEvents, droppedEvents })),
  identity: createIdentityDeps(config, { ...ingestion, rejectedEvents }),
  queries,
  agents: [guardAgents(ownAddresses), ...agents],
  routers: [
    createBrowserScriptRouter(),
    createAccounts(config),
    createDemoRouter({
      ...guard,
      queue: createDemoQueue(redis),
      limit: rateLimits.demo,
      url: () => config.SERVICE_URL ?? config.PUBLIC_URL ?? loopbackUrl(config.HOST, server.port),
    }),
    createDelivery(config),
    createCatalogRouter({ ...guard, catalogs, definitions, rateLimit: rateLimits.query }),
    createProjectQueries({ ...guard, queries, passes }),
    live.router,
    uploads.router,
    createSignInRouter({
      provider: identityProvider,
      publicUrl,
      secretKeyBase: config.SECRET_KEY_BASE,
      rateLimit: rateLimits.signIn,
      quotas: config,
      postgres,
      log,
    }),
    createOAuthRouter({
      ...{ ...guard, redis, assets },
      secretKeyBase: config.SECRET_KEY_BASE,
      rateLimit: rateLimits.signIn,
      quotas: config,
    }),
    createPagesRouter({
      ...guard,
      signInLabel: identityProvider?.label,
      assets,
      console: consoleAssets,
      queryWithinMs: queryTimeoutMs,
      hasMail: config.SMTP_URL !== undefined,
      unsubscribeLinks: createUnsubscribeLinks(config.SECRET_KEY_BASE, publicUrl),
    }),
    assets.router,
    consoleAssets.router,
    createDashboardsRouter({
      ...{ ...guard, threads, definitions, catalogs, settings: config },
      rateLimit: rateLimits.query,
    }),
    createDefinitionsRouter({
      ...{ ...guard, redis, threads, catalogs, settings: config },
      ...{ rateLimit: rateLimits.query, runQuery: alertQueries },
    }),
    createKeepingRouter({ ...guard, rateLimit: rateLimits.query, runQuery: alertQueries }),
    createAlertsRouter({
      ...{ ...guard, threads, publicUrl, definitions, catalogs },
      rateLimit: rateLimits.query,
      runQuery: alertQueries,
      secrets: createWebhookSecrets(postgres, config.SECRET_KEY_BASE),
    }),
    createReportsRouter({ ...guard, publicUrl, rateLimit: rateLimits.query, runQuery: alertQueries }),
    exports.router,
    createLlmsRouter(guard),
    createPrivacy(config),
    createOpenApiRouter(guard),
  ],
  operations: createOperationsRouter({
    metrics,
    isMetricsEnabled: config.METRICS_ENABLED,
    stores: { redis: () => redis.ping(), postgres: () => askPostgres(postgres) },
  }),
  showProblems: showProblems(assets),
  requestMetrics: createRequestMetrics(metrics),
  trustProxy: config.TRUST_PROXY,
  log,
});
if (config.WEB_WORKER) keepWorkerRunning(lifecycle, log);
await firstReady(redis);
const server = await listen(app, { host: config.HOST, port: config.PORT, log }).catch(exitForProblem);
lifecycle.onClose('http', () => server.close(REQUEST_GRACE_MS));
lifecycle.onClose('live views', () => live.close());
lifecycle.onClose('imports', () => uploads.close());
log.info({ port: server.port }, 'ready');

/** Loaded only when needed: with QUERY_URL this process starts in a tenth less CPU time. */
async function answerQueries(): Promise<Pick<QueryAnswering, 'queries' | 'agents'>> {
  const { answerQueriesHere } = await import('../query-api/answer-here.js');
  return answerQueriesHere(config, lifecycle, {
    ...{ postgres, redis, credentials, catalogs, definitions, threads, metrics, log },
    rateLimit: rateLimits.query,
  });
}

/** Where this process answers its own queries. */
function loopbackUrl(host: string, port: number): string {
  if (host === '::' || host === '::1') return `http://[::1]:${port}`;
  return `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
}

function createAccounts(settings: Config): Router {
  const mailQueue = settings.SMTP_URL === undefined ? undefined : createMailQueue(redis);
  return createAccountsRouter({
    ...{ ...guard, redis },
    secretKeyBase: settings.SECRET_KEY_BASE,
    publicUrl,
    invitationLimit: rateLimits.invitation,
    invitationMailLimit: rateLimits.invitationMail,
    quotas: settings,
    findTxtRecords: createTxtLookup(settings.DNS_SERVERS),
    mailInvitation:
      mailQueue && ((invitation) => enqueueMail(mailQueue, toInvitationMail(invitation), settings.SECRET_KEY_BASE)),
  });
}

function createDelivery(settings: Config): Router {
  const deadLetters = new DeadLetters(redis, shards);
  const redisHighWaterBytes = settings.REDIS_MEMORY_HIGH_WATER_BYTES;
  // This process answers the question itself.
  const processes = { query: settings.QUERY_URL };
  const source = createDeliverySource({ postgres, redis, shards, redisHighWaterBytes, processes }, deadLetters);
  lifecycle.onClose('delivery', () => source.close());
  const isOperator = createOperators(postgres, settings.OPERATOR_EMAILS);
  return createDeliveryRouter({ ...guard, source, deadLetters, isOperator });
}

function createPrivacy(settings: Config): Router {
  return createPrivacyRouter({
    ...{ ...guard, redis, log, shards },
    erasureQueue: createErasureQueue(redis),
    hashId: createIdHash(settings.SECRET_KEY_BASE),
    answerTimeoutMs: settings.PRIVACY_ANSWER_TIMEOUT_MS,
    purgeByMs: settings.PRIVACY_PURGE_BY_MS,
    limits: rateLimits,
  });
}
