// The query language in the browser: problems with their repairs, edits that change only their
// span, and completion.
import { CompletionContext } from '@codemirror/autocomplete';
import { EditorState } from '@codemirror/state';
import { expect, onTestFinished, test } from 'vitest';
import { comparedAt, completionSource, wantedAt } from '../../../console/src/editor/completion.js';
import { knownFields, knownValues } from '../../../console/src/language/known-names.js';
import {
  check,
  loadFixes,
  replaceSpan,
  setDefinitions,
  withTimeRange,
} from '../../../console/src/language/language.js';
import { partsOf } from '../../../console/src/language/words.js';

const NOW = Date.parse('2026-11-20T12:00:00Z');

test('check() gives a fix for a misspelt name, and the fixed text has no problem', async () => {
  expect(check('signup | cuont', 'UTC', NOW)).toMatchObject([{ message: 'unknown stage "cuont"' }]);
  await loadFixes();
  const text = 'signup | last 7d | count by _contry';
  const [problem] = check(text, 'UTC', NOW);
  expect(problem).toMatchObject({ fix: { text: '_country', span: { from: 28, to: 35 } } });
  if (problem?.fix === undefined) throw new Error('no repair');
  expect(check(replaceSpan(text, problem.fix.span, problem.fix.text), 'UTC', NOW)).toEqual([]);
});

test('check() reports the problems of the service in text order', () => {
  const found = check('* | wher a = 1 | count by _contry', 'UTC', NOW).map(({ message }) => message);
  expect(found).toEqual(['unknown stage "wher"', 'unknown field "_contry"']);
});

const DEFINED = [
  { kind: 'event', name: 'activated', query: '(signup, trial)', about: 'did something', line: 3 },
  { kind: 'cohort', name: 'power', query: '* | where count(order) > 5', line: 5 },
  { kind: 'metric', name: 'activation', query: 'formula unique(activated) / unique(signup)', line: 7 },
] as const;

test('check() knows the definitions of the project', () => {
  const messages = (text: string) => check(text, 'UTC', NOW).map(({ message }) => message);
  expect(messages('metric activation | by day')).toEqual(['no metric "activation" is defined in this project']);
  setDefinitions(DEFINED);
  onTestFinished(() => setDefinitions([]));
  expect(messages('metric activation | by day')).toEqual([]);
  expect(messages('* | where cohort.power = true')).toEqual([]);
  expect(check('metric activatoin', 'UTC', NOW)).toMatchObject([
    { fix: { text: 'activation', span: { from: 7, to: 17 } } },
  ]);
  expect(messages('signup[cohort.power = true]')).toEqual([
    'in the cohort power (line 5 of the definitions): count(…) does not fit here',
  ]);
});

test('completion offers definitions where they may stand', () => {
  const complete = completionSource(() => ({ events: [], fields: [], values: new Map(), definitions: DEFINED }));
  const labelsAt = (doc: string) =>
    complete(new CompletionContext(EditorState.create({ doc }), doc.length, true))?.options.map(({ label }) => label);
  expect(labelsAt('')).toEqual(expect.arrayContaining(['activated', 'metric activation']));
  expect(labelsAt('funnel ')).toContain('activated');
  expect(labelsAt('metric ')).toEqual(['activation']);
  expect(labelsAt('* | where ')).toContain('cohort.power');
});

test('completion says what a source is in plain text', () => {
  const complete = completionSource(() => undefined);
  const options = complete(new CompletionContext(EditorState.create({ doc: '' }), 0, true))?.options ?? [];
  expect(options.find(({ label }) => label === 'metric')?.detail).toBe('a number that the project has defined, with…');
  expect(options.filter(({ detail }) => /[`[\]]/.test(detail ?? ''))).toEqual([]);
});

test('check() accepts an empty text', () => expect(check(' \n', 'UTC', NOW)).toEqual([]));

test.each([
  ['signup | last 7d | count', 'signup | last 30d | count'],
  ['signup  # all\n |  today   | count by day', 'signup  # all\n |  last 30d   | count by day'],
  ['signup | from 2026-01-01 to 2026-02-01 | count', 'signup | last 30d | count'],
  ['signup | count', 'signup | last 30d | count'],
  ['retention signup by week', 'retention signup by week | last 30d'],
  ['| count', '| count\n| last 30d'],
  ['signup # the end', 'signup | last 30d # the end'],
])('withTimeRange() changes only the time range of %j', (text, expected) => {
  expect(withTimeRange(text, 'last 30d')).toBe(expected);
  expect(check(expected, 'UTC', NOW)).toEqual([]);
});

test.each([
  ['', 'source'],
  ['sig', 'source'],
  ['signup | ', 'stage'],
  ['signup | la', 'stage'],
  ['signup | last ', 'range'],
  ['signup | count by ', 'group'],
  ['signup | count by day, ', 'group'],
  ['signup | where ', 'field'],
  ['signup | where a = "x" and ', 'field'],
  ['signup | sum ', 'field'],
  ['signup | list time, ', 'field'],
  ['funnel ', 'event'],
  ['funnel a -> ', 'event'],
  ['retention signup returning ', 'event'],
  ['formula count(', 'event'],
  ['signup | where a = "x', undefined],
  ['signup | from ', undefined],
])('wantedAt(%j) is %s', (before, wanted) => expect(wantedAt(before)).toBe(wanted));

test.each([
  ['signup | where _country = "D', '_country', '"D'],
  ['signup | where _country = ', '_country', ''],
  ['signup | where plan != pr', 'plan', 'pr'],
  ['signup | where event_properties."Button Name" = "', 'event_properties."Button Name"', '"'],
  ['page_view[_path starts with "/', '_path', '"/'],
  ['* | where _country in ("DE", "U', '_country', '"U'],
  ['* | where a = "x" and _os not in [', '_os', ''],
])('behind %j stands a value of %s', (before, field, typed) => expect(comparedAt(before)).toEqual({ field, typed }));

test.each(['signup | count by ', 'signup | where _country = "DE" ', 'signup | where a > ', 'funnel a -> '])(
  'behind %j stands no value',
  (before) => expect(comparedAt(before)).toBeUndefined(),
);

test('values are found by the field, its aliases, and bare names of properties', () => {
  const names = {
    events: [{ name: 'signup', detail: '' }],
    fields: [{ name: 'event_properties.Button Name', detail: 'string' }],
    values: new Map([
      ['_country', ['DE']],
      ['event_properties.Button Name', ['Buy']],
      ['event_properties.plan', ['pro']],
      ['user.seats', ['many']],
    ]),
  };
  const found = ['_country', '_geo_country', 'event_properties."Button Name"', 'plan', 'seats', 'event_type', '_city'];
  expect(found.map((field) => knownValues(names, field))).toEqual([
    ...[['DE'], ['DE'], ['Buy'], ['pro'], ['many'], ['signup'], []],
  ]);
  expect(knownFields(names).map(({ name }) => name)).toContain('session.landing_path');
  expect(knownFields(names)[0]?.name).toBe('event_properties.Button Name');
});

test('a # inside a text is no comment of a part', () => {
  expect(partsOf('signup | where _path = "/a#b" # why').map(({ text }) => text)).toEqual([
    'signup',
    'where _path = "/a#b"',
  ]);
});

test('every source and stage has words', () => {
  const q = 'funnel a -> b\n# why\n| last 7d | where c = 1 | by _country | sort users desc';
  const parts = partsOf(q);
  expect(parts.map(({ text }) => text)).toEqual([
    'funnel a -> b',
    'last 7d',
    'where c = 1',
    'by _country',
    'sort users desc',
  ]);
  expect(parts.filter(({ about }) => about === '')).toEqual([]);
  expect(partsOf('signup | count')[0]).toEqual({ text: 'signup', about: 'these events' });
  expect(partsOf('metric activation')[0]?.about).not.toBe('');
  expect(partsOf('* | count')[0]).toEqual({ text: '*', about: 'all events' });
  expect(
    partsOf('* | today | count')
      .map(({ about }) => about)
      .filter((about) => about === ''),
  ).toEqual([]);
});

test.each(['signup | first 5', 'signup | last seven days', 'signup | count, sum price'])(
  'a syntax error that follows from another problem is not told: %s',
  (text) => {
    expect(check(text, 'UTC')).toHaveLength(1);
  },
);
