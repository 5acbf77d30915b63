// Query answering as one part: the handlers of POST /query and POST /mcp over ClickHouse. The query
// process has it; web loads it only when it answers queries itself.
import type { RequestHandler } from 'express';
import type { Registry } from 'prom-client';
import type { CredentialStore } from '../access/credentials.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import type { CatalogReader } from '../catalog/reader.js';
import type { DefinitionsReader } from '../definitions/reader.js';
import { askShards, Shards } from '../platform/clickhouse/shards.js';
import type { Config } from '../platform/config.js';
import type { Lifecycle } from '../platform/lifecycle.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { publicUrlOf } from '../platform/public-url.js';
import type { Redis } from '../platform/redis/client.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import { clickHouseConnections, createQueryDeps } from './deps.js';
import { createAgentHandlers } from './mcp/routes.js';
import { createPeopleAdmission } from './people-access.js';
import { createProjectOwners } from './project-owners.js';
import { createQueryHandlers } from './routes.js';

const ENGINE_GRACE_MS = 10_000;

export interface QueryAnswering {
  /** Readiness: rejects when no shard answers. */
  readonly askEngines: () => Promise<unknown>;
  /** Handlers of POST /query. */
  readonly queries: readonly RequestHandler[];
  /** Handlers of POST /mcp. */
  readonly agents: readonly RequestHandler[];
}

export function answerQueriesHere(
  config: Config,
  lifecycle: Lifecycle,
  parts: {
    postgres: Postgres;
    redis: Redis;
    credentials: CredentialStore;
    catalogs: CatalogReader;
    definitions: DefinitionsReader;
    rateLimit: LayeredRateLimit;
    threads: ThreadPool;
    metrics: Registry;
    log: Logger;
  },
): QueryAnswering {
  const shards = new Shards(config, {
    ...{ postgres: parts.postgres, log: parts.log },
    maxConnections: clickHouseConnections(config),
    requestTimeoutMs: config.QUERY_TIMEOUT_MS + ENGINE_GRACE_MS,
  });
  lifecycle.onClose('clickhouse', () => shards.close());
  const deps = createQueryDeps(config, {
    ...{ ...parts, shards },
    admitToPeople: createPeopleAdmission(parts.postgres),
    ownerOf: createProjectOwners(parts.postgres, parts.log),
  });
  return {
    askEngines: () => askShards(shards),
    queries: createQueryHandlers(deps),
    agents: createAgentHandlers({
      ...{ ...deps, postgres: parts.postgres, settings: config, registry: parts.metrics },
      publicUrl: publicUrlOf(config),
      featuresOff: config.FEATURES_OFF,
    }),
  };
}
