// Builds the dependencies of query answering from the configuration, for the query process, or for
// web when it answers queries itself.
import type { Registry } from 'prom-client';
import type { CredentialStore } from '../access/credentials.js';
import { createProjectPasses } from '../access/project-pass.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import type { CatalogReader } from '../catalog/reader.js';
import type { DefinitionsReader } from '../definitions/reader.js';
import type { Shards } from '../platform/clickhouse/shards.js';
import type { Config } from '../platform/config.js';
import type { Logger } from '../platform/log.js';
import type { Redis } from '../platform/redis/client.js';
import { createRepeatedWarning } from '../platform/repeated-warning.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import { countQuery } from '../usage/counters.js';
import { Engines } from './engines.js';
import { KeptAnswers } from './kept-answers.js';
import { createKeptMetrics, createQueryMetrics } from './metrics.js';
import type { AdmitToPeople } from './people-access.js';
import type { ProjectOwners } from './project-owners.js';
import { createPropertyGuesses } from './property-guesses.js';
import type { QueryDeps } from './routes.js';

/**
 * Connections of the ClickHouse client: for each place a query and the command that stops one, and
 * a few for other requests.
 */
export const clickHouseConnections = (config: Pick<Config, 'QUERY_CONCURRENCY'>): number =>
  2 * config.QUERY_CONCURRENCY + 4;

export function createQueryDeps(
  config: Pick<
    Config,
    | 'QUERY_TIMEOUT_MS'
    | 'QUERY_WAIT_MS'
    | 'QUERY_CONCURRENCY'
    | 'QUERY_CONCURRENCY_PER_PROJECT'
    | 'QUERY_QUEUE_PER_PROJECT_MAX'
    | 'QUERY_MEMORY_BYTES'
    | 'ANSWER_CACHE_BYTES'
    | 'SECRET_KEY_BASE'
    | 'MAX_REQUEST_BYTES'
  >,
  parts: {
    shards: Shards;
    catalogs: Pick<CatalogReader, 'read' | 'readNow' | 'held'>;
    definitions: Pick<DefinitionsReader, 'read'>;
    ownerOf: ProjectOwners;
    credentials: CredentialStore;
    rateLimit: LayeredRateLimit;
    redis: Redis;
    admitToPeople: AdmitToPeople;
    threads: ThreadPool;
    metrics: Registry;
    log: Logger;
  },
): QueryDeps {
  const engines = new Engines(parts.shards, {
    concurrency: config.QUERY_CONCURRENCY,
    perProjectMax: config.QUERY_CONCURRENCY_PER_PROJECT,
    queueMax: config.QUERY_QUEUE_PER_PROJECT_MAX,
    memoryBytes: config.QUERY_MEMORY_BYTES,
    log: parts.log,
  });
  const metrics = createQueryMetrics(parts.metrics, engines);
  const kept = createKeptAnswers(config.ANSWER_CACHE_BYTES, parts.metrics);
  const warnOfCounts = createRepeatedWarning({ log: parts.log, message: 'a query was not counted' });
  return {
    ...parts,
    kept,
    engineOf: (projectId) => engines.engineOf(projectId),
    lastEngineOf: (projectId) => engines.lastEngineOf(projectId),
    bodyBytesMax: config.MAX_REQUEST_BYTES,
    guesses: createPropertyGuesses((projectId) => parts.catalogs.held(projectId)),
    metrics,
    limits: {
      timeoutMs: config.QUERY_TIMEOUT_MS,
      waitMs: config.QUERY_WAIT_MS,
      memoryBytes: config.QUERY_MEMORY_BYTES,
    },
    now: Date.now,
    passes: createProjectPasses(config.SECRET_KEY_BASE),
    noteQuery: (projectId) => {
      countQuery(parts.redis, projectId, Date.now()).catch((err: unknown) => warnOfCounts(err));
    },
    warnOfCatalog: createRepeatedWarning({ log: parts.log, message: 'the catalog of a project could not be read' }),
  };
}

/** Undefined for 0 bytes. */
function createKeptAnswers(bytesMax: number, registry: Registry): KeptAnswers | undefined {
  if (bytesMax === 0) return undefined;
  const kept: KeptAnswers = new KeptAnswers(
    bytesMax,
    createKeptMetrics(registry, () => kept.bytes),
  );
  return kept;
}
