// Warnings about names in a query that the project has never sent.
import { expect, test } from 'vitest';
import { toCatalog } from '../../../src/catalog/catalog.js';
import type { CatalogName } from '../../../src/catalog/names.js';
import { warningsOfHidden, warningsOfUnseen } from '../../../src/catalog/unseen.js';
import { toProjectId } from '../../../src/platform/ids.js';
import { compile } from '../../../src/query/compile.js';
import type { Definitions } from '../../../src/query/definitions/definitions.js';

const NAMES: readonly CatalogName[] = [
  ...['purchase', 'signup', 'page_view'].map((name) => ({ kind: 'event' as const, field: '', name, events: 9 })),
  ...['event_properties.plan', 'event_properties.price', 'user.plan'].map((field) => ({
    kind: 'key' as const,
    field,
    name: field.endsWith('price') ? 'number' : 'string',
    events: 5,
  })),
  ...['free', 'pro'].map((name) => ({ kind: 'value' as const, field: 'event_properties.plan', name, events: 4 })),
  ...['US', 'DE', 'FR'].map((name) => ({ kind: 'value' as const, field: '_country', name, events: 3 })),
  ...['Chrome', 'Firefox', 'Safari', 'Edge'].map((name) => ({
    kind: 'value' as const,
    field: '_browser',
    name,
    events: 2,
  })),
  { kind: 'many', field: '_path', name: '', events: 0 },
];

const context = {
  projectId: toProjectId('01890a5d-ac96-774b-bcce-b302099a8057'),
  nowMs: Date.UTC(2026, 10, 20),
  timezone: 'UTC',
  limit: 100,
  offset: 0,
};

const warningsOf = (text: string, names = NAMES, isComplete = true): string[] =>
  warningsOfUnseen(compile(text, context).mentions, toCatalog(names, isComplete));

test.each([
  ['purchases | count', ['no event "purchases" in this project; nearest: "purchase"']],
  [
    'funnel signup -> pay[_path = "/"]',
    ['no event "pay" in this project; events are "purchase", "signup", "page_view"'],
  ],
  ['(signup, signups) | count', ['no event "signups" in this project; nearest: "signup"']],
  [
    'formula count(signup) / unique(visits)',
    ['no event "visits" in this project; events are "purchase", "signup", "page_view"'],
  ],
  ['retention signup returning purchas', ['no event "purchas" in this project; nearest: "purchase"']],
  [
    'choice k | results purchse',
    [
      'no event "service.exposure" in this project; events are "purchase", "signup", "page_view"',
      'no event "purchse" in this project; nearest: "purchase"',
    ],
  ],
  ['choice k', ['no event "service.exposure" in this project; events are "purchase", "signup", "page_view"']],
  ['* | where event_type in ("signup", "sign_up")', ['no event "sign_up" in this project; nearest: "signup"']],
  ['* | where _country = "Germany"', ['_country is never "Germany"; values are codes such as "DE"']],
  ['* | where _country = "Bavaria"', ['_country is never "Bavaria"; values are codes such as "US"']],
  ['* | where _geo_country != "DEU"', ['_geo_country is never "DEU"; nearest: "DE"']],
  ['* | where _browser = chrome', ['_browser is never "chrome"; nearest: "Chrome"']],
  [
    '* | where _browser = "Netscape"',
    ['_browser is never "Netscape"; values are such as "Chrome", "Firefox", "Safari"'],
  ],
  ['* | where _os = "Linux"', ['_os has no values in this project']],
  [
    '* | where event_properties.plan in ("pro", "team")',
    ['event_properties.plan is never "team"; values are "free", "pro"'],
  ],
  ['signup[plam = "pro"] | count', ['no event of this project has "plam"; nearest: "plan"']],
  ['* | sum event_properties.prise', ['no event of this project has "event_properties.prise"; nearest: "price"']],
  ['* | where user.plans exists | unique', ['no profile of this project has "user.plans"; nearest: "plan"']],
  ['purchase | sum revenue', ['no event of this project has "revenue"; inspect "purchase" lists those of the event']],
  ['* | sum revenue', ['no event of this project has "revenue"; keys are "plan", "price"']],
  ['users | count by region', ['no profile of this project has "region"; keys are "plan"']],
])('warns about unknown names in %s', (text, warnings) => {
  expect(warningsOf(text)).toEqual(warnings);
});

test.each([
  'purchase | count by _country',
  'signup[plan = "pro"] | count',
  '* | where _country in ("US", "DE") and event_properties.price = 10',
  // Values of numbers are not kept, nor those of fields with many.
  '* | where event_properties.price = "ten"',
  '* | where _path = "/nowhere" and _url = "x"',
  '* | where _browser contains "Opera" and _browser > "Z"',
  '* | where _country = ""',
  'fields',
])('does not warn about %s', (text) => {
  expect(warningsOf(text)).toEqual([]);
});

test('warns about the key of a choice that was never sent', () => {
  const names: readonly CatalogName[] = [
    ...NAMES,
    { kind: 'event', field: '', name: 'service.exposure', events: 2 },
    { kind: 'key', field: 'event_properties.choice_key', name: 'string', events: 2 },
    { kind: 'value', field: 'event_properties.choice_key', name: 'checkout', events: 2 },
  ];
  const unseen = ['choice_key is never "checkot"; nearest: "checkout"'];
  expect(warningsOf('choice checkot | count', names)).toEqual(unseen);
  expect(warningsOf('choice checkot | results purchase', names)).toEqual(unseen);
  expect(warningsOf('choice checkout | count', names)).toEqual([]);
});

test('names a metric or cohort that stands as an event', () => {
  const definitions = [
    { kind: 'metric' as const, name: 'activation', query: 'formula count(signup) / 2', line: 3 },
    { kind: 'cohort' as const, name: 'power', query: '* | where count(signup) > 3', line: 4 },
  ];
  const of = (text: string) =>
    warningsOfUnseen(compile(text, { ...context, definitions }).mentions, toCatalog(NAMES, true));
  expect(of('activation | by week')).toEqual([
    'no event "activation" in this project; a definition is written "metric activation"',
  ]);
  // A cohort in groups is read from its own definition.
  expect(of('signup | count by cohort.power')).toEqual([]);
  expect(of('power | unique')).toEqual(['no event "power" in this project; a definition is written "cohort.power"']);
});

test('does not warn while the catalog is incomplete', () => {
  expect(warningsOf('purchases[plam = "x"] | where _country = "Germany"', NAMES, false)).toEqual([]);
});

test('does not warn about event types or keys when there are more than the catalog keeps', () => {
  const many = ['event_type', 'event_properties'].map((field) => ({
    kind: 'many' as const,
    field,
    name: '',
    events: 0,
  }));
  expect(warningsOf('purchases[plam = "x"] | where _country = "Germany"', [...NAMES, ...many])).toEqual([
    '_country is never "Germany"; values are codes such as "DE"',
  ]);
});

test('gives at most ten warnings', () => {
  const events = Array.from({ length: 30 }, (_, index) => `unknown_${index}`).join(', ');
  expect(warningsOf(`(${events}) | count`)).toHaveLength(10);
});

test('a definition of another kind hides no event of its name', () => {
  const definitions = [
    { kind: 'event', name: 'signup' },
    { kind: 'metric', name: 'purchase' },
    { kind: 'event', name: 'paid' },
  ] as unknown as Definitions;
  expect(warningsOfHidden(definitions, toCatalog(NAMES, true))).toEqual([
    expect.stringMatching(/^"signup" is a definition, and by now an event of this project too/),
  ]);
});
