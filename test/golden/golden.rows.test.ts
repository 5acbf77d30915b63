// Golden queries on the real engine, over the history of dataset.ts beside other projects: their
// rows, and the tables and columns that the engine reads. UPDATE_GOLDEN=1 rewrites both.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toProjectId } from '../../src/platform/ids.js';
import { compile } from '../../src/query/compile.js';
import { toScript } from '../../src/query/print/script.js';
import type { Answer } from '../../src/query-api/shape.js';
import { type QueryService, startQueryService } from '../support/query-service.js';
import { NOW_MS, PROJECT, storeHistory } from './dataset.js';
import { readDocumentedQueries } from './documentation.js';
import { explainReads } from './explain-reads.js';
import { type GoldenFile, isUpdating, readGoldenFiles, writeSections } from './golden-file.js';
import { storeNeighbours } from './neighbours.js';

let service: QueryService;

beforeAll(async () => {
  service = await startQueryService();
  await storeHistory(service.clickhouse);
  await storeNeighbours(service.clickhouse);
});

afterAll(() => service?.close());

const showAnswer = (answered: Answer): string =>
  [
    JSON.stringify(answered.columns.map((column) => column.name)),
    ...answered.rows.map((row) => JSON.stringify(row)),
    `total ${answered.total}${answered.isTruncated ? ', truncated' : ''}`,
    ...(answered.metadata?.unit
      ? [`unit ${answered.metadata.unit}, without it ${answered.metadata.without_unit}`]
      : []),
    ...answered.warnings.map((warning) => `warning: ${warning}`),
  ].join('\n');

const inAnyOrder = (reads: string): string[] => reads.split('\n').sort();

const files = readGoldenFiles().filter((file) => !file.expectsError);

describe('golden rows', () => {
  test.each(files.map((file): [string, GoldenFile] => [file.name, file]))('%s', async (_, file) => {
    const rows = showAnswer(await service.ask(file.context.projectId, file.query, file.context));
    const reads = await explainReads(service.clickhouse, compile(file.query, file.context).statement);
    if (isUpdating) return writeSections(file, { reads, rows });
    expect(rows).toBe(file.sections.get('rows'));
    // Their order depends on the sizes of tables. A new golden has none before its first update.
    expect(inAnyOrder(reads)).toEqual(inAnyOrder(file.sections.get('reads') ?? reads));
  });
});

describe('one scan of events in the plan of the engine', () => {
  const steps = 'funnel page_view[_path = "/"] -> (signup[plan = "pro"], trial) -> purchase[price > 10]';
  test.each([
    `${steps} | last 30d`,
    `${steps} -> purchase[price > 100] -> logout | last 30d | exclude refund[price > 1] | by day, _country`,
    `${steps} | last 30d | where _browser = "Chrome" | times`,
    `${steps} | last 30d | order any`,
    `${steps} | last 30d | order strict`,
    'formula count(signup[plan = "pro"]) / unique(page_view) as rate, sum(purchase, price) as revenue | last 30d',
    'formula count(signup) / unique(page_view) as rate, sum(purchase, price) as revenue by _country | last 30d',
    'formula unique(*) / unique(* last 28d) as stickiness, count((signup, trial)) as signups by day, _country | last 30d',
    'page_view | last 30d | unique by day, _country | compare previous',
  ])('%s', async (q) => {
    const at = { projectId: toProjectId(PROJECT), nowMs: NOW_MS, timezone: 'UTC', limit: 100, offset: 0 };
    const reads = (await explainReads(service.clickhouse, compile(q, at).statement)).split('\n');
    expect(reads.filter((read) => read.startsWith('events:'))).toHaveLength(1);
  });
});

test('the script of a statement sets its parameters in a session of the engine', async () => {
  const text = "tab\t quote ' backslash \\ line\n brace {p1:String}";
  const params = { text, texts: [text, ''], number: -1.5, time: '2026-11-20 09:30:00.123' };
  const sql = "SELECT {text:String}, {texts:Array(String)}, {number:Float64}, {time:DateTime64(3, 'UTC')}";
  const session = { session_id: `golden-${process.pid}` };
  const parts = toScript({ sql, params }).split(/;(?:\n\n?|$)/);
  for (const query of parts.slice(0, 4)) await service.clickhouse.command({ query, ...session });
  const answer = await service.clickhouse.query({ query: parts[4] ?? '', format: 'JSONCompact', ...session });
  expect((await answer.json()).data).toEqual([[text, [text, ''], -1.5, '2026-11-20 09:30:00.123']]);
});

describe('documented examples', () => {
  test.each(readDocumentedQueries())('%s', async (q) => {
    const at = { nowMs: NOW_MS, timezone: 'UTC', limit: 100, offset: 0 };
    const answered = await service.ask(toProjectId(PROJECT), q, at);
    expect(answered.warnings).toEqual([]);
  });
});
