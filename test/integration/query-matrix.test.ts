// Every stage behind every source over the real engine, without groups and with some by a field or
// by time, in every format and by pages: what compiles is answered, pages are parts of the whole
// answer, and what does not fit is refused by name.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toProjectId } from '../../src/platform/ids.js';
import { compile } from '../../src/query/compile.js';
import { formatCsv } from '../../src/query/csv.js';
import type { Definitions } from '../../src/query/definitions/definitions.js';
import { QueryError } from '../../src/query/errors.js';
import { formatLlm } from '../../src/query/markdown.js';
import { SOURCES } from '../../src/query/sources/index.js';
import { formatJson } from '../../src/query-api/formats/json.js';
import { NOW_MS, PROJECT, storeHistory } from '../golden/dataset.js';
import { STAGE_EXAMPLES, sourceExample } from '../support/query-forms.js';
import { type QueryService, startQueryService } from '../support/query-service.js';

/** In turn: a stage is tried with each of them behind a third of the sources. */
const GROUPS = [' | by day', ' | by _country', ' | by week, _country'];
const ZONE = 'America/St_Johns';
const PROJECT_ID = toProjectId(PROJECT);
const ROWS_MAX = 500;
/** One text in so many is also asked by pages: a page costs as much as the whole answer. */
const PAGED_EVERY = 3;
/** `metric NAME` is an example of the table of sources. */
const DEFINITIONS: Definitions = [
  { kind: 'metric', name: 'NAME', query: 'formula count(pay) / unique(signup)', line: 1 },
];
const CONTEXT = { projectId: PROJECT_ID, nowMs: NOW_MS, timezone: ZONE, definitions: DEFINITIONS };

let service: QueryService;

beforeAll(async () => {
  service = await startQueryService(DEFINITIONS);
  await storeHistory(service.clickhouse);
});

afterAll(() => service?.close());

function compiles(text: string): boolean {
  try {
    compile(text, { ...CONTEXT, limit: ROWS_MAX, offset: 0 });
    return true;
  } catch (error) {
    if (error instanceof QueryError) return false;
    throw error;
  }
}

/** A source may need its own stages: `unique` before rolling, results before plan. */
const SOURCES_TRIED = [
  ...Object.keys(SOURCES).map(sourceExample),
  '* | unique',
  'signup | count by event_type',
  'retention signup returning page_view',
  'choice checkout | results sum(pay, amount)',
  'formula count(signup) as a, sum(purchase, price) as b',
];

const ask = (text: string, limit: number, offset: number) =>
  service.ask(PROJECT_ID, text, { nowMs: NOW_MS, timezone: ZONE, limit, offset });

describe.each(SOURCES_TRIED.map((source, number) => ({ source, number })))('$source', ({ source, number }) => {
  const texts = [...STAGE_EXAMPLES, 'last 30d']
    .flatMap((stage, index) => ['', GROUPS[(index + number) % GROUPS.length]].map((by) => `${source}${by} | ${stage}`))
    .filter(compiles);

  test('is answered with each stage that fits, whole and by pages, in every format', async () => {
    expect(texts.length).toBeGreaterThan(0);
    for (const [index, text] of texts.entries()) {
      const whole = await ask(text, ROWS_MAX, 0).catch((error: unknown) => {
        throw new Error(`${text}: ${String(error)}`, { cause: error });
      });
      expect(JSON.parse(formatJson(whole))).toMatchObject({ total: whole.total });
      expect(formatCsv(whole).split('\r\n')[0]?.split(',')).toHaveLength(whole.columns.length);
      expect(formatLlm(whole, text)).toContain('| ');
      if (index % PAGED_EVERY !== 0) continue;
      const page = await ask(text, 2, 1);
      expect([text, page.rows]).toEqual([text, whole.rows.slice(1, 3)]);
      expect([text, page.total]).toEqual([text, whole.total]);
    }
  }, 300_000);
});
