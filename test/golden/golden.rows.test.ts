// Golden queries on the real engine, over the history of dataset.ts. UPDATE_GOLDEN=1 rewrites the
// rows.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toProjectId } from '../../src/platform/ids.js';
import type { Answer } from '../../src/query-api/shape.js';
import { type QueryService, startQueryService } from '../support/query-service.js';
import { EVENT_ROWS, MAPPING_ROWS, NOW_MS, PROFILE_ROWS, PROJECT } from './dataset.js';
import { readDocumentedQueries } from './documentation.js';
import { type GoldenFile, isUpdating, readGoldenFiles, writeSections } from './golden-file.js';

let service: QueryService;

beforeAll(async () => {
  service = await startQueryService();
  const { clickhouse } = service;
  await clickhouse.insert({ table: 'events', values: [...EVENT_ROWS], format: 'JSONEachRow' });
  await clickhouse.insert({ table: 'device_map', values: [...MAPPING_ROWS], format: 'JSONEachRow' });
  await clickhouse.insert({ table: 'profiles', values: [...PROFILE_ROWS], format: 'JSONEachRow' });
});

afterAll(() => service?.close());

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
    const rows = showAnswer(await service.ask(file.context.projectId, file.query, file.context));
    if (isUpdating) writeSections(file, { rows });
    else expect(rows).toBe(file.sections.get('rows'));
  });
});

describe('documented examples', () => {
  test.each(readDocumentedQueries())('%s', async (q) => {
    const at = { nowMs: NOW_MS, timezone: 'UTC', limit: 100, offset: 0 };
    const answered = await service.ask(toProjectId(PROJECT), q, at);
    expect(answered.warnings).toEqual([]);
  });
});
