import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseDashboard } from '../../../src/dashboards/parse-dashboard.js';
import type { DashboardProblem } from '../../../src/dashboards/problems.js';
import { PublicError } from '../../../src/platform/errors.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { packageRoot } from '../../../src/platform/paths.js';

const context = {
  definitions: [],
  privateAddresses: ['10.1.2.0/24'],
  key: 'sales',
  projectId: toProjectId('00000000-0000-7000-8000-000000000001'),
  timezone: 'UTC',
  nowMs: Date.UTC(2026, 5, 1),
};
const dashboard = (...alerts: string[]): string =>
  ['version: 1', 'title: Sales', 'sections: [{title: S, cards: []}]', 'alerts:', ...alerts].join('\n');
const alert = (fields: Record<string, unknown> = {}): string =>
  `  - ${JSON.stringify({
    ...{ id: 'silent', query: 'purchase | last 1h | count', when: 'value < 5', every: '15m' },
    to: ['https://example.com/hook'],
    ...fields,
  })}`;

function problemsOf(text: string): readonly DashboardProblem[] {
  try {
    parseDashboard(text, context);
    return [];
  } catch (error) {
    if (error instanceof PublicError) return error.details as DashboardProblem[];
    throw error;
  }
}

test('alerts are part of the configuration', () => {
  const { config } = parseDashboard(dashboard(alert(), alert({ id: 'none', when: 'no rows', every: '1d' })), context);
  expect(config.alerts?.map(({ id }) => id)).toEqual(['silent', 'none']);
});

test('a condition may name the columns of a comparison', () => {
  const query = 'purchase | last 7d | count | compare previous';
  expect(problemsOf(dashboard(alert({ query, when: 'change < -0.3' })))).toEqual([]);
});

test.each<[Record<string, unknown>, Partial<DashboardProblem>]>([
  [{ when: 'change < -0.3' }, { path: 'alerts[0].when', message: 'the query has no column "change"' }],
  [{ when: 'valu < 5' }, { path: 'alerts[0].when', hint: 'nearest is "value"' }],
  [{ when: 'value' }, { path: 'alerts[0].when', message: 'the condition has no comparison' }],
  [{ query: 'purchase | cont' }, { path: 'alerts[0].query' }],
  [{ query: 'purchase {{range.stage}} | count' }, { message: expect.stringContaining('has no placeholders') }],
  [{ query: 'purchase | last 7d | people', when: 'no rows' }, { message: 'an alert cannot list people' }],
  [{ every: '30s' }, { path: 'alerts[0].every', hint: 'it is a number and m, h or d, from 1m to 1d: 15m' }],
  [{ every: '2d' }, { path: 'alerts[0].every' }],
  [{ to: [] }, { path: 'alerts[0].to' }],
  [{ to: ['http://a:b@example.com/'] }, { path: 'alerts[0].to[0]', hint: 'it has no user name and no password' }],
  [{ to: ['ops@example.com'] }, { path: 'alerts[0].to[0]' }],
  [{ id: 'a b' }, { path: 'alerts[0].id', hint: 'it has letters, digits, _ and - only' }],
  [{ threshold: 5 }, { path: 'alerts[0].threshold', message: 'unknown key "threshold"' }],
])('an alert with %j has a problem', (fields, problem) => {
  expect(problemsOf(dashboard(alert(fields)))).toEqual([expect.objectContaining(problem)]);
});

test('a problem of the condition is located in its text', () => {
  const text = dashboard('  - id: silent', '    query: purchase | count', '    when: all valu < 5').concat(
    '\n    every: 15m\n    to: [https://example.com/hook]\n',
  );
  expect(problemsOf(text)).toEqual([expect.objectContaining({ line: 7, column: 15 })]);
});

test('a webhook with an address that is never called is located, in an alert and in a report', () => {
  const to = ['https://example.com/hook', 'http://10.1.2.3/allowed', 'http://0x7f.0.0.2/hook'];
  const report = "\nreports:\n  - id: daily\n    at: daily 8:00\n    to: ['http://[::1]:8080/']\n";
  const hint = expect.stringContaining('WEBHOOK_PRIVATE_ADDRESSES');
  expect(problemsOf(dashboard(alert({ to })) + report)).toEqual([
    { path: 'alerts[0].to[2]', message: '127.0.0.2 is not a public address', line: 5, column: 149, hint },
    { path: 'reports[0].to[0]', message: '[::1] is not a public address', line: 9, column: 10, hint },
  ]);
});

test('two alerts cannot have one id', () => {
  expect(problemsOf(dashboard(alert(), alert()))).toEqual([
    expect.objectContaining({ path: 'alerts[1].id', message: 'the id "silent" is used twice' }),
  ]);
});

test('the example of docs/alerts.md is valid', () => {
  const page = readFileSync(join(packageRoot, 'docs/alerts.md'), 'utf8');
  const [, example = ''] = /```yaml\nalerts:\n([\s\S]*?)```/.exec(page) ?? [];
  const { config } = parseDashboard(dashboard(example), context);
  expect(config.alerts?.map(({ when }) => when)).toEqual(['value < 5', 'change < -0.3']);
});
