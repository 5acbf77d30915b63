// The worker process: runs all jobs, or those named in WORKER_JOBS.
import { Registry } from 'prom-client';
import { queuesOf } from '../src/operate/queues.js';
import { askShards, Shards } from '../src/platform/clickhouse/shards.js';
import { readConfigOrExit } from '../src/platform/config.js';
import { exitForProblem, orExit } from '../src/platform/config-problem.js';
import { letHeapGrowBy } from '../src/platform/heap-growth.js';
import { createOperationsRouter } from '../src/platform/http/operations.js';
import { errorResponder, notFound } from '../src/platform/http/respond.js';
import { createExpressApp } from '../src/platform/http/router.js';
import { listen } from '../src/platform/http/server.js';
import { createLifecycle } from '../src/platform/lifecycle.js';
import { createLogger } from '../src/platform/log.js';
import { askToWrite, waitForPostgres } from '../src/platform/postgres/ask.js';
import { createPostgres } from '../src/platform/postgres/client.js';
import { refuseTransactionPooler } from '../src/platform/postgres/pooler.js';
import { collectProcessMetrics } from '../src/platform/process-metrics.js';
import { createRedis } from '../src/platform/redis/client.js';
import { logErrors } from '../src/platform/redis/log-errors.js';
import { createQueueMetrics } from '../src/platform/redis/queue-metrics.js';
import { warnOfTlsMismatch } from '../src/platform/redis/tls-mismatch.js';
import { waitForUsableRedis } from '../src/platform/redis/usable.js';
import { returnMemoryAtRest } from '../src/platform/rest-memory.js';
import { passStartGate } from '../src/platform/start-gate.js';
import { startAlerts } from './check-alerts.js';
import { startDomainChecks } from './check-domains.js';
import { startKeeping } from './delete-expired.js';
import { startProjectDeletion } from './delete-projects.js';
import { startErasure } from './erase-users.js';
import { startExportWorker } from './export-user.js';
import { startIngestWorker } from './ingest-events.js';
import { startDemoWorker } from './load-demo.js';
import { startCatalogRebuilds } from './rebuild-catalogs.js';
import { startUsageRollup } from './roll-up-usage.js';
import { chooseJobs, type JobStarter, type RunningJob } from './runtime.js';
import { startCanary } from './send-canary.js';
import { startMailWorker } from './send-mail.js';
import { startMoveSettling } from './settle-moves.js';
import { startIdentitySweep } from './sweep-identities.js';
import { startPayloadSweep } from './sweep-orphaned-payloads.js';
import { startProfileUpserts } from './upsert-profiles.js';

const JOBS: Readonly<Record<string, JobStarter>> = {
  // First, because it publishes the tombstones: a Redis that was restored from an older backup has
  // jobs with events of people who were erased since.
  'erase-users': startErasure,
  'ingest-events': startIngestWorker,
  'upsert-profiles': startProfileUpserts,
  'delete-projects': startProjectDeletion,
  'delete-expired': startKeeping,
  'roll-up-usage': startUsageRollup,
  'send-mail': startMailWorker,
  'export-user': startExportWorker,
  'sweep-orphaned-payloads': startPayloadSweep,
  'sweep-identities': startIdentitySweep,
  'send-canary': startCanary,
  'check-domains': startDomainChecks,
  'check-alerts': startAlerts,
  'rebuild-catalogs': startCatalogRebuilds,
  'load-demo': startDemoWorker,
  'settle-moves': startMoveSettling,
};

await passStartGate();
const config = readConfigOrExit();
const log = createLogger({ process: 'worker', level: config.LOG_LEVEL });
const lifecycle = createLifecycle(log);
returnMemoryAtRest();
letHeapGrowBy(100);
// As a child of `web` (WEB_WORKER): the channel ends when `web` was killed.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));

const postgres = createPostgres(config);
lifecycle.onClose('postgres', () => postgres.destroy());
const shards = new Shards(config, { postgres, log, requestTimeoutMs: 300_000 });
lifecycle.onClose('clickhouse', () => shards.close());
const redis = createRedis(config);
logErrors(redis, { log, message: 'redis cannot be reached' });
warnOfTlsMismatch(redis, log);
lifecycle.onClose('redis', async () => redis.disconnect());

const metrics = new Registry();
if (config.METRICS_ENABLED) collectProcessMetrics(metrics);
const queueMetrics = createQueueMetrics(metrics, redis, () => queuesOf(shards));
lifecycle.onClose('queue metrics', () => queueMetrics.close());

// Close all jobs concurrently, so that one slow job does not delay the others.
const jobs: RunningJob[] = [];
lifecycle.onClose('jobs', () => Promise.all(jobs.map((job) => job.close())));
const chosen = orExit(() => chooseJobs(JOBS, config.WORKER_JOBS));
await waitForPostgres(postgres, log);
await refuseTransactionPooler(postgres).catch(exitForProblem);
await waitForUsableRedis(redis, config.SECRET_KEY_BASE, log).catch(exitForProblem);
for (const [name, start] of chosen) {
  jobs.push(await start({ config, shards, postgres, redis, metrics, log: log.child({ job: name }) }));
}

if (config.WORKER_PORT !== undefined) {
  const app = createExpressApp();
  app.use(
    createOperationsRouter({
      metrics,
      isMetricsEnabled: config.METRICS_ENABLED,
      stores: {
        redis: () => redis.ping(),
        postgres: () => askToWrite(postgres),
        clickhouse: () => askShards(shards),
      },
    }),
  );
  app.use(notFound);
  app.use(errorResponder(log));
  const server = await listen(app, { host: config.WORKER_HOST, port: config.WORKER_PORT, log }).catch(exitForProblem);
  lifecycle.onClose('http', () => server.close(1000));
}
log.info('ready');
