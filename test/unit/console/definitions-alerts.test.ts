// Pure parts of the screens Definitions and Alerts: the line of an alert in a text, an alert as
// text, the condition and the targets of its form, the queries that open definitions, and the
// example of a document.
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { conditionFor, DAYS, reportId, toTargets, toYamlAlert } from '../../../console/src/alerts/document.js';
import { lineOfItem } from '../../../console/src/dashboards/item-line.js';
import { EXAMPLE, questionOf } from '../../../console/src/definitions/question.js';
import { checkColumn, parseWhen } from '../../../src/alerts/when.js';
import { parseDefinitions } from '../../../src/definitions/parse-definitions.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { analyze } from '../../../src/query/analyze/analyze.js';
import { compile } from '../../../src/query/compile.js';
import type { Definition } from '../../../src/query/definitions/definitions.js';
import { parse as parseQuery } from '../../../src/query/parse/parse.js';
import { reportSchema } from '../../../src/reports/config-schema.js';
import { NOW_MS } from '../../golden/dataset.js';

const CONTEXT = { nowMs: NOW_MS, timezone: 'UTC', eventTypes: [], hasAllEvents: true, privateAddresses: [] };

describe('the line of an alert', () => {
  test.each([
    ['sections:\n  - cards: [{id: low}]\nalerts:\n  - id: high\n  - id: "low"  # this\n', 5],
    ['alerts:\n  - {query: a, id: low, when: no rows}\nsections: []', 2],
    ['"alerts": [\n  {"id": "lower"},\n  {"id": "low"}]', 3],
    ['alerts:\n  - query: a | where user_id = "id: low"\n    id: low', 3],
    ['reports:\n  - id: low\nalerts:\n  - id: low', 4],
    ['alerts: *shared\n', 1],
    ['sections:\n  - cards: [{id: low}]\n', undefined],
  ])('%j', (source, line) => {
    expect(lineOfItem(source, 'alerts.low')).toBe(line);
  });
});

test.each(['silent', '404', 'True'])('an alert with the id %s as text is the alert', (id) => {
  const alert = {
    id,
    query: 'signup\n| where plan = "a: #b"\n| count',
    when: 'value < 5',
    every: '15m',
    to: ['https://example.com/hook', 'mailto:ops@example.com'],
  };
  expect(parse(toYamlAlert(alert))).toEqual({ alerts: [alert] });
});

test.each([
  'purchase | last 7d | count',
  'funnel visit -> purchase | last 30d',
  'purchase | last 7d | sum price | compare previous',
  'funnel visit -> purchase | last 30d |compare previous',
])('the first condition of an alert for %s names one of its columns', (query) => {
  const projectId = toProjectId('00000000-0000-7000-8000-000000000001');
  const parsed = parseWhen(conditionFor(query));
  const compiled = compile(query, { ...CONTEXT, projectId, limit: 50, offset: 0 });
  expect('when' in parsed ? checkColumn(parsed.when, compiled) : parsed.problem).toBeUndefined();
});

test('targets are typed with or without mailto:, one on each line or with commas between them', () => {
  expect(toTargets(' ann@example.com, mailto:bob@example.com;\nhttps://hooks.example.com/@x')).toEqual([
    'mailto:ann@example.com',
    'mailto:bob@example.com',
    'https://hooks.example.com/@x',
  ]);
});

test('a report has an id of its own and a schedule, for each day of its form', () => {
  for (const day of DAYS) {
    const [first, second] = [reportId(day, []), reportId(day, [reportId(day, [])])];
    expect(second).toBe(`${first}-2`);
    expect(reportSchema.safeParse({ id: second, at: `${day} 08:00`, to: ['mailto:a@b.de'] }).error).toBeUndefined();
  }
});

describe('definitions', () => {
  const definitions: Definition[] = [
    { kind: 'event', name: 'activated', query: '(signup, export)', line: 1 },
    { kind: 'cohort', name: 'power', query: '* | where count(export last 30d) >= 5', line: 2 },
    { kind: 'metric', name: 'activation', query: 'formula unique(export) / unique(signup)', line: 3 },
  ];

  test.each(definitions.map((definition) => [questionOf(definition)]))('%s is a query', (text) => {
    const { query, problems } = parseQuery(text);
    expect([...problems, ...analyze(query, { ...CONTEXT, definitions }).problems]).toEqual([]);
  });

  const projectId = toProjectId('00000000-0000-7000-8000-000000000001');

  test('the example is a document, without warnings', () => {
    expect(parseDefinitions(EXAMPLE, { ...CONTEXT, projectId, dashboards: [] }).warnings).toEqual([]);
  });

  test('the example has each kind once its comment is taken in', () => {
    const eventTypes = ['purchase', 'renewal'];
    const source = EXAMPLE.replaceAll(/^# /gm, '');
    const { warnings } = parseDefinitions(source, { ...CONTEXT, eventTypes, projectId, dashboards: [] });
    expect(warnings).toEqual([]);
    expect(Object.keys(parse(source))).toEqual(['version', 'events', 'cohorts', 'metrics']);
  });
});
