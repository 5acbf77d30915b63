// Parsing of documents of definitions: structure, names, and what each definition means. Every
// problem has its line and path.
import { describe, expect, test } from 'vitest';
import type { DashboardProblem } from '../../../src/dashboards/problems.js';
import { parseDefinitions } from '../../../src/definitions/parse-definitions.js';
import { PublicError } from '../../../src/platform/errors.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { NOW_MS } from '../../golden/dataset.js';
import { applyFixes } from '../../support/apply-fixes.js';

const CONTEXT = {
  projectId: toProjectId('00000000-0000-7000-8000-000000000001'),
  dashboards: ['sales'],
  nowMs: NOW_MS,
  timezone: 'UTC',
  privateAddresses: [],
  eventTypes: ['signup', 'first_export', 'purchase'],
  hasAllEvents: true,
  propertyKeys: ['plan'],
};

const WHOLE = `version: 1
events:
  activated: { query: '(signup, first_export[rows > 0])', about: 'did something real' }
cohorts:
  power: { query: '* | where count(purchase last 30d) >= 5 and count(activated) > 0' }
metrics:
  activation: { query: 'formula unique(activated) / unique(signup)', unit: percent }
  orders: { query: 'purchase | where cohort.power = true | count' }
`;

function findProblems(text: string): readonly DashboardProblem[] {
  try {
    parseDefinitions(text, CONTEXT);
    return [];
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    return error.details as readonly DashboardProblem[];
  }
}

/** `line path: message; hint` of each problem. */
const problemsOf = (text: string): string[] =>
  findProblems(text).map(({ line, path, message, hint }) => `${line} ${path}: ${message}; ${hint}`);

test('definitions are read with their kind, text and line', () => {
  const { content, warnings } = parseDefinitions(WHOLE, CONTEXT);
  expect(content.definitions.map(({ kind, name, line, unit }) => [kind, name, line, unit])).toEqual([
    ['event', 'activated', 3, undefined],
    ['cohort', 'power', 5, undefined],
    ['metric', 'activation', 7, 'percent'],
    ['metric', 'orders', 8, undefined],
  ]);
  expect(content.definitions[0]).toMatchObject({ about: 'did something real', query: expect.stringContaining('rows') });
  expect(warnings).toEqual([]);
});

test('the checksum is that of the content: comments, blanks and quotes do not change it', () => {
  const checksumOf = (text: string): string => parseDefinitions(text, CONTEXT).checksum;
  expect(checksumOf(`# a comment\n${WHOLE.replace("'did something real'", '"did something real"')}`)).toBe(
    checksumOf(WHOLE),
  );
  expect(checksumOf(WHOLE.replace('rows > 0', 'rows > 1'))).not.toBe(checksumOf(WHOLE));
});

test('an event that the project has never sent is a warning', () => {
  const { warnings } = parseDefinitions("version: 1\nevents:\n  active: { query: 'purchse' }\n", CONTEXT);
  expect(warnings).toEqual(['event active (line 3): no event "purchse" in this project; nearest: "purchase"']);
});

describe('problems of definitions', () => {
  const event = (name: string, query: string) => `version: 1\nevents:\n  ${name}: { query: '${query}' }\n`;
  const cohort = (query: string) => `version: 1\ncohorts:\n  power:\n    query: '${query}'\n`;
  const metric = (query: string) => `version: 1\nmetrics:\n  rate: { query: '${query}' }\n`;

  test.each<[string, string, string[]]>([
    ['an unknown key', 'version: 1\nrules: []\n', ['2 rules: unknown key "rules"; it is one of']],
    ['a key of a definition', "version: 1\nevents:\n  a: { query: 'b', unit: x }\n", ['3 events.a.unit: unknown key']],
    [
      'days to keep without their unit',
      'version: 1\nkeep: { default: 90 }\n',
      ['2 keep.default: 90 is not valid here; it is a number of days from 1d to 9999d: 90d'],
    ],
    ['no version', 'events: {}\n', ['"version" is missing']],
    [
      'a name with a blank',
      "version: 1\nevents:\n  'a b': { query: 'c' }\n",
      ['3 events["a b"]: "a b" is not a valid'],
    ],
    ['a word of the language', event('count', 'signup'), ['3 events.count: "count" is a word of the query language']],
    ['a word of a source', event('funnel', 'signup'), ['3 events.funnel: "funnel" is a word of the query language']],
    [
      'a real event',
      event('purchase', 'signup'),
      ['3 events.purchase: "purchase" is an event that this project sends'],
    ],
    ['an event with a stage', event('a', 'signup | last 7d'), ['3 events.a.query: an event has no stages; its cond']],
    ['an event that is a funnel', event('a', 'funnel b -> c'), ['3 events.a.query: this is no event; an event is']],
    ['any event', event('a', '*'), ['3 events.a.query: this is no event']],
    ['a syntax problem', event('a', 'signup[plan ='), ['3 events.a.query: the condition is not complete']],
    ['an unknown field', event('a', 'signup[_contry = "DE"]'), ['3 events.a.query: unknown field "_contry"; nearest']],
    ['a definition within itself', event('a', '(b, a)'), ['3 events.a.query: the event a is part of itself: a → a']],
    ['a cohort with a range', cohort('* | where count(a) > 1 | last 7d'), ['4 cohorts.power.query: this is no cohort']],
    ['a cohort of one event', cohort('signup | where count(a) > 1'), ['4 cohorts.power.query: this is no cohort']],
    ['a field of events', cohort('* | where _country = "DE"'), ['4 cohorts.power.query: _country belongs to events']],
    ['a call per session', cohort('* | where count(a per session_id) > 1'), ['4 cohorts.power.query: per session_id']],
    [
      'an unknown cohort',
      cohort('* | where cohort.powr = true'),
      ['4 cohorts.power.query: no cohort "powr"', 'nearest'],
    ],
    ['a metric with a range', metric('formula count(a) | last 7d'), ['3 metrics.rate.query: a metric has no range']],
    ['a metric with groups', metric('a | count by day'), ['3 metrics.rate.query: a metric has one aggregate']],
    ['a metric without a number', metric('a | where b.c = 1'), ['3 metrics.rate.query: the metric computes nothing']],
    ['a metric that is a funnel', metric('funnel a -> b'), ['3 metrics.rate.query: this is no metric']],
    [
      'an unknown metric',
      metric('metric rat'),
      ['3 metrics.rate.query: no metric "rat" is defined', 'nearest is "rate"'],
    ],
    ['a metric within itself', metric('metric rate'), ['3 metrics.rate.query: the metric rate is part of itself']],
  ])('%s', (_, text, [expected = '', hint = '']) => {
    const [problem, ...others] = problemsOf(text);
    expect(problem).toContain(expected);
    expect(problem).toContain(hint);
    expect(others).toEqual([]);
  });

  test('a problem in a definition that another one uses is told once, at its place', () => {
    const text = `version: 1\nevents:\n  a:\n    query: |\n      (signup,\n       purchase[_contry = "DE"])\n  b: { query: 'a' }\n`;
    expect(problemsOf(text)).toEqual([expect.stringMatching(/^6 events.a.query: unknown field "_contry"/)]);
  });

  test('a circle of several definitions is told with its way', () => {
    const text = "version: 1\nevents:\n  a: { query: b }\n  b: { query: 'c[x = 1]' }\n  c: { query: a }\n";
    expect(problemsOf(text)).toContainEqual(
      expect.stringContaining('5 events.c.query: the event a is part of itself: a → b → c → a'),
    );
  });

  test('definitions within each other are bounded in depth and number', () => {
    const chain = Array.from({ length: 6 }, (_, n) => `  e${n}: { query: ${n === 0 ? 'signup' : `e${n - 1}`} }`);
    expect(problemsOf(`version: 1\nevents:\n${chain.join('\n')}\n`)[0]).toContain('more than 4 definitions are within');
    const many = Array.from({ length: 201 }, (_, n) => `  e${n}: { query: signup }`);
    expect(problemsOf(`version: 1\nevents:\n${many.join('\n')}\n`)).toEqual([
      '203 events.e200: the document has 201 definitions; the limit is 200; remove some',
    ]);
    const wide = `(${Array.from({ length: 15 }, () => 'e').join(', ')})`;
    const wider = wide.replaceAll('e', 'f');
    const text = `version: 1\nevents:\n  e: { query: signup }\n  f: { query: '${wide}' }\n  g: { query: '${wider}' }\n`;
    expect(problemsOf(text).join()).toContain('definitions are used more than 200 times');
  });
});

describe('alerts and reports of definitions', () => {
  const alert = (query: string, when: string): string =>
    `alerts:\n  - { id: drop, query: '${query}', when: '${when}', every: 1d, to: ['mailto:a@example.com'] }\n`;
  const report = (dashboard: string): string =>
    `reports:\n  - { id: monday, dashboard: ${dashboard}, at: 'monday 08:00', to: ['mailto:a@example.com'] }\n`;

  test('name the definitions of their document, and dashboards', () => {
    const text = WHOLE + alert('metric activation | last 7d | compare previous', 'change < -0.3') + report('sales');
    const { content } = parseDefinitions(text, CONTEXT);
    expect(content.alerts?.map(({ id }) => id)).toEqual(['drop']);
    expect(content.reports?.map(({ dashboard }) => dashboard)).toEqual(['sales']);
  });

  test.each([
    [alert('metric activaton', 'value < 1'), 'alerts[0].query: no metric "activaton" is defined'],
    [alert('metric activation', 'change < 1'), 'alerts[0].when: the query has no column "change"'],
    [
      "reports:\n  - { id: weekly, dashboard: sales, at: daily 8:00, to: ['http://10.0.0.1/'] }\n",
      'reports[0].to[0]: 10.0.0.1 is not a public address',
    ],
    [report('sale'), 'reports[0].dashboard: the project has no dashboard "sale"; nearest is "sales"'],
    [report('sales').replace('dashboard: sales, ', ''), 'reports[0].dashboard: "dashboard" is missing'],
    [report('sales') + report('sales').slice('reports:\n'.length), 'reports[1].id: the id "monday" is used twice'],
  ])('%j is refused', (text, problem) => {
    expect(problemsOf(WHOLE + text)).toEqual([expect.stringContaining(problem)]);
  });
});

test('bots alone are a rule, and a document without rules has none', () => {
  const rulesOf = (text: string) => parseDefinitions(`version: 1\n${text}`, CONTEXT).rules;
  expect(rulesOf('bots: drop\n')).toEqual({ dropsBots: true, rules: [] });
  expect(rulesOf('drop: [{ event: debug }]\n')).toMatchObject({ dropsBots: false, rules: [{ event: 'debug' }] });
  expect(rulesOf('bots: keep\n')).toBeUndefined();
});

test.each([
  ['metrics', "'signup | where plan = 1 | count'", "'signup | where event_properties.plan = 1 | count'"],
  [
    'cohorts',
    '"* | where user.plan = \\"pro\\" && count(order) > 5"',
    '"* | where user.plan = \\"pro\\" and count(order) > 5"',
  ],
  ['metrics', "'signup | count()'", "'signup | count'"],
  ['events', "'signup[plan == \"it''s\"]'", "'signup[plan = \"it''s\"]'"],
  ['events', 'signup where plan = 1', 'signup where plan = 1'],
])('a problem in %s has a fix in the document: %s', (section, written, repaired) => {
  const text = `version: 1\n${section}:\n  one: { query: ${written} }\n`;
  expect(applyFixes(text, findProblems(text))).toBe(text.replace(written, repaired));
});
