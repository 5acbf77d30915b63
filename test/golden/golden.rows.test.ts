// The golden queries on the real engine, over the fixed history of dataset.ts. UPDATE_GOLDEN=1 rewrites the rows.
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../src/platform/clickhouse/client.js';
import { toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { type AnswerDeps, answer } from '../../src/query-api/answer.js';
import { createGate } from '../../src/query-api/gate.js';
import { createQueryMetrics } from '../../src/query-api/metrics.js';
import type { Answer } from '../../src/query-api/shape.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';
import { EVENT_ROWS, MAPPING_ROWS, NOW_MS, PROFILE_ROWS, PROJECT } from './dataset.js';
import { readDocumentedQueries } from './documentation.js';
import { type GoldenFile, isUpdating, readGoldenFiles, writeSections } from './golden-file.js';

let databases: TestDatabases;
let clickhouse: ClickHouseClient;
let deps: AnswerDeps;

beforeAll(async () => {
  databases = await createTestDatabases();
  clickhouse = createClickHouse(databases.config);
  await clickhouse.insert({ table: 'events', values: [...EVENT_ROWS], format: 'JSONEachRow' });
  await clickhouse.insert({ table: 'device_map', values: [...MAPPING_ROWS], format: 'JSONEachRow' });
  await clickhouse.insert({ table: 'profiles', values: [...PROFILE_ROWS], format: 'JSONEachRow' });
  const gate = createGate({ concurrency: 4, waitingMax: 100 });
  deps = {
    clickhouse,
    gate,
    metrics: createQueryMetrics(new Registry(), gate),
    limits: { timeoutMs: 20_000, memoryBytes: 1024 * 1024 * 1024 },
    log: createLogger({ process: 'test', level: 'warn' }),
    now: () => NOW_MS,
    noteQuery: () => {},
  };
});

afterAll(async () => {
  await clickhouse.close();
  await databases.close();
});

const showAnswer = (answered: Answer): string =>
  [
    JSON.stringify(answered.columns.map((column) => column.name)),
    ...answered.rows.map((row) => JSON.stringify(row)),
    `total ${answered.total}${answered.isTruncated ? ', truncated' : ''}`,
    ...answered.warnings.map((warning) => `warning: ${warning}`),
  ].join('\n');

const files = readGoldenFiles().filter((file) => !file.expectsError);

describe('golden rows', () => {
  test.each(files.map((file): [string, GoldenFile] => [file.name, file]))('%s', async (_, file) => {
    const { projectId, timezone, limit, offset } = file.context;
    const request = { q: file.query, format: 'json', timezone, limit, offset } as const;
    const rows = showAnswer(await answer(deps, { projectId, request, signal: new AbortController().signal }));
    if (isUpdating) writeSections(file, { rows });
    else expect(rows).toBe(file.sections.get('rows'));
  });
});

describe('documented examples', () => {
  test.each(readDocumentedQueries())('%s', async (q) => {
    const request = { q, format: 'llm', timezone: 'UTC', limit: 100, offset: 0 } as const;
    const answered = await answer(deps, {
      projectId: toProjectId(PROJECT),
      request,
      signal: new AbortController().signal,
    });
    expect(answered.warnings).toEqual([]);
  });
});
