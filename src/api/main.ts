// Entry of the web process: public routes and ingestion. It never writes to ClickHouse. Queries are forwarded to QUERY_URL, or
// answered in this process when it is not set.
import type { RequestHandler, Router } from 'express';
import { Registry } from 'prom-client';
import { type CredentialStore, createCredentialStore } from '../access/credentials.js';
import type { GuardDeps } from '../access/guarded-router.js';
import { createProjectPasses } from '../access/project-pass.js';
import { createRateLimits, type RateLimits } from '../access/rate-limits.js';
import { toInvitationMail } from '../accounts/invitation-mail.js';
import { createAccountsRouter } from '../accounts/routes.js';
import { createTxtLookup } from '../accounts/txt-records.js';
import { createBrowserScriptRouter } from '../browser-script/routes.js';
import { createDashboardsRouter } from '../dashboards/routes.js';
import { createIdentifyMetrics } from '../identity/metrics.js';
import {
  createIdentifyQueue,
  enqueueIdentify,
  COMMIT_BYTES_MAX as IDENTIFY_COMMIT_BYTES_MAX,
  PROMPT_BYTES_MAX as IDENTIFY_PROMPT_BYTES_MAX,
  readBacklogs as readIdentifyBacklogs,
  sharesOfCalls,
} from '../identity/queue.js';
import type { IdentityDeps } from '../identity/routes.js';
import { type BacklogLimits, createAdmission } from '../ingest/admission.js';
import { createLagGauge } from '../ingest/canary.js';
import { createGeographyLookup, parseGeographyHeaders } from '../ingest/enrich/geography.js';
import { toEventLimits } from '../ingest/limits.js';
import { createIngestMetrics } from '../ingest/metrics.js';
import { readBacklogs, sharesOf } from '../ingest/payloads.js';
import { createProjectRates, type ProjectRates } from '../ingest/project-rates.js';
import {
  BULK_QUEUE,
  createIngestQueue,
  enqueueIngest,
  COMMIT_BYTES_MAX as INGEST_COMMIT_BYTES_MAX,
  PROMPT_BYTES_MAX as INGEST_PROMPT_BYTES_MAX,
} from '../ingest/queue.js';
import { createRefusalCounter, type RefusalCounter } from '../ingest/refusal.js';
import { RejectedEvents } from '../ingest/rejected-events.js';
import type { IngestDeps } from '../ingest/routes.js';
import { createLlmsRouter } from '../llms/routes.js';
import { createMailQueue, enqueueMail } from '../mail/queue.js';
import { loadAssets } from '../pages/assets.js';
import { createPagesRouter, showProblems } from '../pages/routes.js';
import { createClickHouse } from '../platform/clickhouse/client.js';
import { type Config, readConfig } from '../platform/config.js';
import { ByteSemaphore } from '../platform/flow/byte-semaphore.js';
import { GroupCommit } from '../platform/flow/group-commit.js';
import { Turns } from '../platform/flow/turns.js';
import { createOperationsRouter } from '../platform/http/operations.js';
import type { BodyLimits } from '../platform/http/read-body.js';
import { createRequestMetrics } from '../platform/http/request-metrics.js';
import { listen, REQUEST_GRACE_MS } from '../platform/http/server.js';
import { createLifecycle } from '../platform/lifecycle.js';
import { createLogger } from '../platform/log.js';
import { createPostgres } from '../platform/postgres/client.js';
import { collectProcessMetrics } from '../platform/process-metrics.js';
import { publicUrlOf } from '../platform/public-url.js';
import { createFailFastRedis, type Redis } from '../platform/redis/client.js';
import { ThreadPool } from '../platform/threads/thread-pool.js';
import { createExports } from '../privacy/export-routes.js';
import { createIdHash } from '../privacy/id-hash.js';
import { createErasureQueue } from '../privacy/queue.js';
import { createPrivacyRouter } from '../privacy/routes.js';
import { clickHouseConnections, createQueryDeps } from '../query-api/deps.js';
import { FORMAT_MEMORY_MEBIBYTES } from '../query-api/format-task.js';
import { createQueryHandlers } from '../query-api/routes.js';
import { toIdentityProvider } from '../sign-in/provider.js';
import { CALLBACK_PATH, createSignInRouter } from '../sign-in/routes.js';
import { createApp } from './app.js';
import { forwardQueries } from './forward-queries.js';
import { createOpenApiRouter } from './openapi/routes.js';
import { createProjectQueries } from './project-queries.js';

const config = readConfig();
const log = createLogger({ process: 'web', level: config.LOG_LEVEL });
const lifecycle = createLifecycle(log);

const postgres = createPostgres(config);
lifecycle.onClose('postgres', () => postgres.destroy());
const redis = createFailFastRedis(config, log);
lifecycle.onClose('redis', async () => redis.disconnect());
const metrics = new Registry();
if (config.METRICS_ENABLED) collectProcessMetrics(metrics);
createLagGauge(metrics, redis);

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
const identityProvider = toIdentityProvider(config, new URL(CALLBACK_PATH, publicUrl).href);
const guard: GuardDeps = { postgres, credentials, sessions: { rateLimit: rateLimits.session, publicUrl } };

const queries: readonly RequestHandler[] =
  config.QUERY_URL === undefined ? answerQueriesHere(config) : [forwardQueries(config.QUERY_URL)];
const exports = createExports({
  ...{ credentials, postgres, redis, log },
  hashId: createIdHash(config.SECRET_KEY_BASE),
  openMax: config.EXPORTS_OPEN_MAX,
  readerTimeoutMs: config.EXPORT_READER_TIMEOUT_MS,
  limit: rateLimits.export,
});
lifecycle.onClose('exports', () => exports.close());

const assets = loadAssets();

const body: BodyLimits = {
  bytesMax: config.MAX_REQUEST_BYTES,
  budget: new ByteSemaphore(config.REQUEST_BYTES_IN_FLIGHT_MAX),
};
const edge: EdgeStores = {
  ...{ credentials, rateLimits, redis, metrics, body },
  rates: createProjectRates(redis, {
    eventsPerSecond: config.PROJECT_EVENTS_PER_SECOND,
    bytesPerSecond: config.PROJECT_BYTES_PER_SECOND,
  }),
  refused: createRefusalCounter(metrics),
};
const app = createApp({
  featuresOff: config.FEATURES_OFF,
  ingest: createIngest(config, edge),
  identity: createIdentity(config, edge),
  queries,
  routers: [
    createBrowserScriptRouter(),
    createAccounts(config),
    createProjectQueries({ ...guard, queries, passes: createProjectPasses(config.SECRET_KEY_BASE) }),
    createSignInRouter({
      provider: identityProvider,
      publicUrl,
      secretKeyBase: config.SECRET_KEY_BASE,
      rateLimit: rateLimits.signIn,
      quotas: config,
      postgres,
      log,
    }),
    createPagesRouter({
      ...guard,
      secretKeyBase: config.SECRET_KEY_BASE,
      signInLabel: identityProvider?.label,
      assets,
    }),
    assets.router,
    createDashboardsRouter({ ...guard, rateLimit: rateLimits.query, threads, quotas: config }),
    exports.router,
    createLlmsRouter(guard),
    createPrivacy(config),
    createOpenApiRouter(guard),
  ],
  operations: createOperationsRouter({
    metrics,
    isMetricsEnabled: config.METRICS_ENABLED,
    stores: { redis: () => redis.ping(), postgres: async () => postgres.raw('SELECT 1') },
  }),
  showProblems: showProblems(assets),
  requestMetrics: createRequestMetrics(metrics),
  trustProxy: config.TRUST_PROXY,
  log,
});
const server = await listen(app, { host: config.HOST, port: config.PORT });
lifecycle.onClose('http', () => server.close(REQUEST_GRACE_MS));
log.info({ port: server.port }, 'ready');

interface EdgeStores {
  readonly credentials: CredentialStore;
  readonly rateLimits: RateLimits;
  readonly redis: Redis;
  readonly metrics: Registry;
  readonly body: BodyLimits;
  readonly rates: ProjectRates;
  readonly refused: RefusalCounter;
}

function toBacklogLimits(settings: Config, promptBytesMax: number): BacklogLimits {
  return {
    jobsMax: settings.INGEST_BACKLOG_JOBS_MAX,
    memoryBytesMax: settings.REDIS_MEMORY_HIGH_WATER_BYTES,
    promptBytesMax,
  };
}

function createIdentity(settings: Config, stores: EdgeStores): IdentityDeps {
  const { redis } = stores;
  const queue = createIdentifyQueue(redis);
  const source = { queues: [queue], redis, readBacklogs: () => readIdentifyBacklogs(queue, redis) };
  const admission = createAdmission(source, toBacklogLimits(settings, IDENTIFY_PROMPT_BYTES_MAX));
  return {
    credentials: stores.credentials,
    rateLimit: stores.rateLimits.identify,
    admission,
    rates: stores.rates,
    groupCommit: new GroupCommit(
      (commit) => {
        const { key, bytes } = commit;
        const job = { bytes, ...(key !== '' && { projectId: key }), shares: sharesOfCalls(commit) };
        const { bytes: backlogBytes } = admission.backlogOf(key);
        return admission.addJob(job, () => enqueueIdentify(queue, redis, { ...commit, backlogBytes }));
      },
      {
        weightMax: settings.INGEST_COMMIT_EVENTS,
        bytesMax: IDENTIFY_COMMIT_BYTES_MAX,
        delayMs: settings.INGEST_COMMIT_DELAY_MS,
      },
    ),
    limits: toEventLimits(settings),
    body: stores.body,
    threads,
    metrics: createIdentifyMetrics(stores.metrics),
    refused: stores.refused,
  };
}

function createIngest(settings: Config, stores: EdgeStores): IngestDeps {
  const { redis } = stores;
  const [prompt, bulk] = [createIngestQueue(redis), createIngestQueue(redis, BULK_QUEUE)];
  const ingestMetrics = createIngestMetrics(stores.metrics);
  const geographyDatabases = settings.GEOIP_DATABASE?.split(',') ?? [];
  const rejectedEvents = new RejectedEvents(stores.redis, log);
  lifecycle.onClose('rejected events', () => rejectedEvents.close());
  const source = { queues: [prompt, bulk], redis, readBacklogs: () => readBacklogs(redis) };
  const admission = createAdmission(source, toBacklogLimits(settings, INGEST_PROMPT_BYTES_MAX));
  return {
    credentials: stores.credentials,
    rateLimit: stores.rateLimits.track,
    admission,
    rates: stores.rates,
    turns: new Turns(),
    groupCommit: new GroupCommit(
      async (commit) => {
        const { bytes, key } = commit;
        const job = { bytes, shares: sharesOf(commit.items), ...(key !== '' && { projectId: key }) };
        await admission.addJob(job, () => enqueueIngest(key === '' ? prompt : bulk, redis, commit));
        ingestMetrics.commitEvents.observe(commit.weight);
      },
      {
        weightMax: settings.INGEST_COMMIT_EVENTS,
        bytesMax: INGEST_COMMIT_BYTES_MAX,
        delayMs: settings.INGEST_COMMIT_DELAY_MS,
      },
    ),
    redis,
    findGeography: createGeographyLookup({
      databases: geographyDatabases,
      headerNames: parseGeographyHeaders(settings.GEOIP_HEADERS),
      readsInBackground: true,
    }),
    geographyDatabases,
    threads,
    hasProxyHeaders: settings.GEOIP_HEADERS !== undefined,
    limits: { ...toEventLimits(settings), batchSizeMax: settings.MAX_BATCH_SIZE },
    firstTimes: {
      totalMax: settings.INGEST_FIRST_TIMES_MAX,
      perProjectMax: settings.INGEST_FIRST_TIMES_PER_PROJECT_MAX,
    },
    body: stores.body,
    rejectedEvents,
    metrics: ingestMetrics,
    refused: stores.refused,
  };
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
    isCluster: settings.CLICKHOUSE_CLUSTER !== undefined,
    findTxtRecords: createTxtLookup(settings.DNS_SERVERS?.split(',')),
    mailInvitation:
      mailQueue && ((invitation) => enqueueMail(mailQueue, toInvitationMail(invitation), settings.SECRET_KEY_BASE)),
  });
}

function createPrivacy(settings: Config): Router {
  return createPrivacyRouter({
    ...{ ...guard, redis, log },
    erasureQueue: createErasureQueue(redis),
    hashId: createIdHash(settings.SECRET_KEY_BASE),
    isCluster: settings.CLICKHOUSE_CLUSTER !== undefined,
    answerTimeoutMs: settings.PRIVACY_ANSWER_TIMEOUT_MS,
    purgeByMs: settings.PRIVACY_PURGE_BY_MS,
    limits: rateLimits,
  });
}

function answerQueriesHere(settings: Config): readonly RequestHandler[] {
  const clickhouse = createClickHouse(settings, {
    maxConnections: clickHouseConnections(settings),
    requestTimeoutMs: settings.QUERY_TIMEOUT_MS + 10_000,
  });
  lifecycle.onClose('clickhouse', () => clickhouse.close());
  return createQueryHandlers(
    createQueryDeps(settings, { clickhouse, credentials, rateLimit: rateLimits.query, redis, threads, metrics, log }),
  );
}
