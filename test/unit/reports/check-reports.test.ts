import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDashboard } from '../../../src/dashboards/parse-dashboard.js';
import type { DashboardProblem } from '../../../src/dashboards/problems.js';
import { PublicError } from '../../../src/platform/errors.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { packageRoot } from '../../../src/platform/paths.js';

const projectId = toProjectId('00000000-0000-7000-8000-000000000001');
const parseWith = (reports: string) =>
  parseDashboard(`version: 1\ntitle: Sales\nsections: [{title: S, cards: []}]\nreports:\n${reports}`, {
    ...{ key: 'sales', projectId, timezone: 'UTC', nowMs: Date.UTC(2026, 5, 1), definitions: [], privateAddresses: [] },
  });
const report = (fields: object = {}): string =>
  `  - ${JSON.stringify({ id: 'monday', at: 'monday 08:00', to: ['mailto:ann@example.com'], ...fields })}\n`;

test('reports are part of the configuration', () => {
  const { config } = parseWith(report({ timezone: 'Europe/Berlin' }) + report({ id: 'daily', at: 'daily 8:00' }));
  expect(config.reports?.map(({ at }) => at)).toEqual(['monday 08:00', 'daily 8:00']);
});

test('a time zone is kept in the case that ClickHouse knows', () => {
  const { config } = parseWith(report({ timezone: 'europe/berlin' }));
  expect(config.reports?.[0]?.timezone).toBe('Europe/Berlin');
});

test.each<[string, Partial<DashboardProblem>]>([
  [
    report({ at: 'hourly' }),
    {
      ...{ path: 'reports[0].at', message: '"hourly" is not valid here' },
      hint: 'it is one of daily 08:00, weekdays 08:00, monday 08:00 (or another day), monthly 1 08:00 (days 1 to 28)',
    },
  ],
  [report({ timezone: 'Berlin' }), { path: 'reports[0].timezone', hint: 'it is an IANA name such as Europe/Berlin' }],
  [report({ to: ['ann@example.com'] }), { path: 'reports[0].to[0]' }],
  [report({ query: 'a | count' }), { path: 'reports[0].query', message: 'unknown key "query"' }],
  [report() + report(), { path: 'reports[1].id', message: 'the id "monday" is used twice' }],
])('the reports %s have a problem', (text, problem) => {
  try {
    parseWith(text);
    expect.unreachable();
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    expect(error.details).toEqual([expect.objectContaining(problem)]);
  }
});

test('the example of docs/reports.md is valid', () => {
  const page = readFileSync(join(packageRoot, 'docs/reports.md'), 'utf8');
  const [, example = ''] = /```yaml\nreports:\n([\s\S]*?)```/.exec(page) ?? [];
  expect(parseWith(example).config.reports?.map(({ id }) => id)).toEqual(['monday', 'month']);
});
