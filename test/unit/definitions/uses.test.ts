// Uses of definitions: by cards with every choice of their variables, options of a choice, alerts,
// and other definitions; and the warnings about uses of what is removed.
import { expect, test } from 'vitest';
import { configSchema } from '../../../src/dashboards/config-schema.js';
import type { DefinitionUse } from '../../../src/definitions/answers.js';
import { findUses, removedTask, usesTask, warnOfRemoved } from '../../../src/definitions/uses.js';
import type { Definitions } from '../../../src/query/definitions/definitions.js';

const DEFINITIONS: Definitions = [
  { kind: 'event', name: 'activated', query: '(signup, export[rows > 0])', line: 3 },
  { kind: 'cohort', name: 'power', query: '* | where count(activated last 30d) >= 5', line: 5 },
  { kind: 'metric', name: 'activation', query: 'formula unique(activated) / unique(signup)', line: 7 },
];

const card = (id: string, more: object) => ({ id, title: id.toUpperCase(), kind: 'chart', viz: 'line', ...more });

function dashboardOf(cards: readonly object[], more: object = {}) {
  const config = configSchema.parse({ version: 1, title: 'Sales', sections: [{ title: 'S', cards }], ...more });
  return { id: 'd', key: 'sales', title: 'Sales', config };
}

function usesOf(cards: readonly object[], more: object = {}): string[] {
  return findUses({ definitions: DEFINITIONS, dashboards: [dashboardOf(cards, more)] })
    .filter((use) => use.in !== 'definition')
    .map((use) => `${use.name} in ${use.in} ${use.id}`);
}

test('definitions and alerts of the document that use definitions are listed under them', () => {
  const alerts = [
    { id: 'low', query: 'activated | count' },
    { id: 'none', query: 'signup | count' },
  ];
  const found = findUses({ definitions: DEFINITIONS, alerts, dashboards: [] });
  expect(found.map(({ name, in: place, id }) => [name, place, id])).toEqual([
    ['activated', 'alert', 'low'],
    ['activated', 'definition', 'cohort.power'],
    ['activated', 'definition', 'metric activation'],
  ]);
});

test.each([
  ['activated | count', ['activated in card a']],
  ['funnel signup -> activated', ['activated in card a']],
  ['signup | where cohort.power = true | count by day', ['power in card a']],
  ['signup | unique by cohort.power', ['power in card a']],
  // What a metric names itself is listed under the metric.
  ['metric activation | where cohort.power = true', ['power in card a', 'activation in card a']],
  ['signup | where event_type = "activated" | count', []],
  ['activation | count', []],
])('%s', (query, uses) => {
  expect(usesOf([card('a', { query })])).toEqual(uses);
});

test('every query of a card, every choice of a variable, the options of a choice, and alerts are searched', () => {
  const variables = {
    plan: {
      type: 'select',
      default: 'all',
      options: [{ value: 'all' }, { value: 'power', fragment: '| where cohort.power = true' }],
    },
    who: { type: 'select', query: 'activated | count by user_id', fragment_template: '| where user_id = {{value}}' },
  };
  const queries = [
    { name: 'one', query: 'signup | count by day' },
    { name: 'two', query: 'activated | count by day' },
  ];
  const cards = [card('a', { query: 'signup {{plan.fragment}} | count' }), card('b', { queries }), card('c', {})];
  const alerts = [
    { id: 'low', query: 'metric activation', when: 'value < 1', every: '1d', to: ['https://x.invalid/'] },
  ];
  expect(usesOf(cards, { variables, alerts })).toEqual([
    ...['activated in card b', 'activated in variable who'],
    ...['power in card a', 'activation in alert low'],
  ]);
});

test('warnings name the user, and count what they leave out', () => {
  const use: DefinitionUse = {
    ...{ kind: 'metric', name: 'revenue', in: 'card', id: 'a', title: 'Money' },
    dashboard: { id: 'd', key: 'sales', title: 'Sales' },
  };
  expect(warnOfRemoved([use])).toEqual([
    'the metric revenue is removed, but the card "Money" of the dashboard "Sales" uses it',
  ]);
  const many = warnOfRemoved(Array.from({ length: 23 }, () => use));
  expect(many).toHaveLength(21);
  expect(many.at(-1)).toBe('3 more uses of removed definitions');
});

test('the threads read documents as they are stored, and answer with JSON and sentences', async () => {
  const dashboard = dashboardOf([card('a', { query: 'activated | count' })]);
  const stored = { ...dashboard, config: JSON.stringify(dashboard.config) };
  const request = { definitions: DEFINITIONS, dashboards: [stored] };
  const bytes = await usesTask.run(request);
  expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(
    findUses({ definitions: DEFINITIONS, dashboards: [dashboard] }),
  );
  const removed = DEFINITIONS.slice(0, 1);
  const sentences = await removedTask.run({ ...request, removed });
  expect(sentences.length).toBeGreaterThan(0);
  for (const sentence of sentences) expect(sentence).toContain(`${removed[0]?.name} is removed`);
});

test('alerts of the document are named as users, and definitions that are removed themselves are not', async () => {
  const alerts = [{ id: 'silent', query: 'activated | last 1h | count' }];
  const request = { definitions: DEFINITIONS, alerts, dashboards: [] };
  const ofAlert = 'the event activated is removed, but the alert "silent" of the definitions uses it';
  expect(await removedTask.run({ ...request, removed: DEFINITIONS })).toEqual([ofAlert]);
  expect(await removedTask.run({ ...request, removed: DEFINITIONS.slice(0, 1) })).toEqual([
    ofAlert,
    'the event activated is removed, but the definition cohort.power uses it',
    'the event activated is removed, but the definition metric activation uses it',
  ]);
});
