// Fixture that runs a query through compiler, engine and format as the query process does, on its
// own databases and at a fixed time.

import { Registry } from 'prom-client';
import { CatalogReader } from '../../src/catalog/reader.js';
import { DefinitionsReader } from '../../src/definitions/reader.js';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import type { ProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRepeatedWarning } from '../../src/platform/repeated-warning.js';
import { ThreadPool } from '../../src/platform/threads/thread-pool.js';
import type { Definitions } from '../../src/query/definitions/definitions.js';
import { answer } from '../../src/query-api/answer.js';
import { toAnswerOf } from '../../src/query-api/format-task.js';
import type { KeptAnswers } from '../../src/query-api/kept-answers.js';
import { createQueryMetrics } from '../../src/query-api/metrics.js';
import { createPropertyGuesses, type PropertyGuesses } from '../../src/query-api/property-guesses.js';
import type { Answer } from '../../src/query-api/shape.js';
import { createQueryShares } from '../../src/query-api/shares.js';
import { createVersionReader } from '../../src/query-api/table-versions.js';
import { createTestDatabases } from './stack.js';

export interface AskedAt {
  readonly nowMs: number;
  readonly timezone: string;
  readonly limit: number;
  readonly offset: number;
  /** Instead of those of the service. */
  readonly definitions?: Definitions | undefined;
  /** Default: none are kept. */
  readonly kept?: KeptAnswers;
}

export interface QueryService {
  readonly clickhouse: ClickHouseClient;
  readonly postgres: Postgres;
  ask(projectId: ProjectId, q: string, at: AskedAt): Promise<Answer>;
  close(): Promise<void>;
}

/** `definitions` are those of every project, in place of what PostgreSQL has. */
export async function startQueryService(
  definitions?: Definitions,
  ownGuesses?: PropertyGuesses,
): Promise<QueryService> {
  const databases = await createTestDatabases();
  const clickhouse = createClickHouse(databases.config);
  const postgres = createPostgres(databases.config);
  const log = createLogger({ process: 'test', level: 'warn' });
  const shares = createQueryShares({
    concurrency: 4,
    perProjectMax: 4,
    queueMax: 100,
    memoryBytes: 2 ** 30,
    threads: async () => undefined,
  });
  const threads = new ThreadPool({ threadsMax: 2 });
  const catalogs = new CatalogReader(postgres);
  const engine = { clickhouse, shares, versions: createVersionReader({ clickhouse, log }) };
  const deps = {
    engineOf: async () => engine,
    lastEngineOf: () => engine,
    catalogs,
    definitions: definitions
      ? { read: async () => ({ version: 1, definitions }) }
      : new DefinitionsReader(postgres, log),
    guesses: ownGuesses ?? createPropertyGuesses((projectId) => catalogs.held(projectId)),
    threads,
    metrics: createQueryMetrics(new Registry(), shares),
    limits: { timeoutMs: 30_000, waitMs: 25_000, memoryBytes: 2 ** 30 },
    log,
    noteQuery: () => {},
    warnOfCatalog: createRepeatedWarning({ log, message: 'the catalog of a project could not be read' }),
    admitToPeople: async () => {},
    ownerOf: async (projectId: ProjectId) => projectId,
  };
  return {
    clickhouse,
    postgres,
    ask: (projectId, q, { nowMs, timezone, limit, offset, definitions: own, kept }) =>
      answer(
        {
          ...deps,
          ...(own && { definitions: { read: async () => ({ version: 1, definitions: own }) } }),
          now: () => nowMs,
          kept,
        },
        {
          projectId,
          caller: { kind: 'secret', id: 'test' },
          request: { q, format: 'json', timezone, limit, offset, warnings: [] },
          requestId: 'test',
          signal: new AbortController().signal,
        },
        async (answered) => toAnswerOf({ ...answered, offset }),
      ),
    close: async () => {
      await threads.close();
      await clickhouse.close();
      await postgres.destroy();
      await databases.close();
    },
  };
}
