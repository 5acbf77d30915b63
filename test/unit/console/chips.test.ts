// Chips of a query: on every query of the goldens and on generated ones, each chip edits only its
// own part of the text.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chipsOf, comparisonIn } from '../../../console/src/language/chips.js';
import { check, replaceSpan, setDefinitions } from '../../../console/src/language/language.js';
import { fieldText, nameText, valueText } from '../../../console/src/language/names.js';
import { withFilter } from '../../../console/src/language/refine.js';
import { packageRoot } from '../../../src/platform/paths.js';
import { parse } from '../../../src/query/parse/parse.js';

const GOLDEN = join(packageRoot, 'test', 'golden');
const goldens = readdirSync(GOLDEN, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.txt'))
  .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8').split('\n==> ')[0]?.trim() ?? '')
  // A query without a source is edited as text.
  .filter((q) => /^[^|]/.test(q) && parse(q).problems.length === 0);

const blank = fc.constantFrom(' ', '  ', '\n', ' # a comment\n', '\t');
const stage = fc.constantFrom(
  'last 7d',
  'from 2026-01-01 to 2026-02-01',
  'this month',
  'where _path = "/a|b"',
  'where _country in ("DE", "FR") and price > 5',
  'where (a = 1 or b = 2) and c exists',
  'where not _path ~ "^/x"',
  'count',
  'unique user_id by day',
  'sum price by _country, day',
  'by week',
  'top 5 other',
  'sort count desc',
  'limit 10',
  'compare previous',
  'window 2d',
);
const source = fc.constantFrom(
  '*',
  'signup',
  '"odd: name"',
  'page_view[_path = "/"]',
  'signup, purchase',
  'funnel a -> b -> "c d"',
  'funnel page_view[_path = "/p"] -> (signup, trial)',
  'retention signup returning purchase by week',
  'paths from signup',
  'lifecycle * by day',
  'stickiness purchase',
  'formula count(a) / count(b) | by day',
  'sessions',
  'user "a|b"',
  'users',
);
const written = fc
  .tuple(source, fc.array(fc.tuple(blank, blank, stage), { maxLength: 5 }))
  .map(([head, stages]) => head + stages.map(([before, after, text]) => `${before}|${after}${text}`).join(''))
  .filter((q) => parse(q).problems.length === 0);

/** Expects spans in order, within the text, without overlap. */
function expectChips(q: string): void {
  const read = chipsOf(q);
  if (read === undefined) throw new Error(`no chips for ${q}`);
  for (const { span, removal, moves = [] } of read.chips) {
    for (const move of moves) expect(parse(replaceSpan(q, move.span, move.text)).problems, q).toEqual([]);
    expect(span.to, q).toBeGreaterThan(span.from);
    expect(replaceSpan(q, span, q.slice(span.from, span.to))).toBe(q);
    const edited = replaceSpan(q, span, 'EDITED');
    expect(edited.startsWith(q.slice(0, span.from)), q).toBe(true);
    expect(edited.endsWith(q.slice(span.to)), q).toBe(true);
    if (removal !== undefined) {
      const rest = replaceSpan(q, removal, '');
      expect(parse(rest).problems, `${q}\nwithout ${q.slice(removal.from, removal.to)}\n${rest}`).toEqual([]);
    }
  }
}

test.each(goldens)('chips of the golden %s edit only their own part and can be removed', (q) => expectChips(q));

test('chips of any query edit only their own part and can be removed', () => {
  expect(goldens.length).toBeGreaterThan(300);
  fc.assert(fc.property(written, expectChips), { numRuns: 500 });
});

test('a changed time range keeps comments and blanks', () => {
  const q = '  signup # who\n|  last 7d   # when\n| count  by day';
  const time = chipsOf(q)?.chips.find(({ kind }) => kind === 'time');
  expect(time && replaceSpan(q, time.span, 'today')).toBe('  signup # who\n|  today   # when\n| count  by day');
});

test('a # inside a text is no comment of a chip', () => {
  const q = 'signup | where _path = "/a#b" # why\n| last 7d';
  expect(chipsOf(q)?.chips.map(({ label }) => label)).toEqual(['signup', '_path = "/a#b"', 'last 7d']);
});

describe('compare', () => {
  test.each([
    ['signup | last 7d | count by day', 'signup | last 7d | count by day | compare previous'],
    ['signup | count # all\n', 'signup | count | compare previous # all\n'],
    ['funnel a -> b | last 7d', 'funnel a -> b | last 7d | compare previous'],
    ['retention a by week', 'retention a by week | compare previous'],
    ['formula count(a) / count(b)', 'formula count(a) / count(b) | compare previous'],
  ])('is added to %j', (q, expected) => {
    const { at, before } = comparisonIn(q) ?? { at: 0, before: '' };
    expect(replaceSpan(q, { from: at, to: at }, `${before}compare previous`)).toBe(expected);
  });

  test.each([
    'signup | list',
    'paths from a',
    'lifecycle a by week',
    'users',
    'signup | count by _country | top 5 other',
    'signup | count | compare 1y',
    'signup | cuont',
    '',
  ])('is not offered for %j, which does not take it', (q) => expect(comparisonIn(q)).toBeUndefined());

  test('is a chip of its own, which is changed and removed', () => {
    const q = 'signup | count by day | compare  1y # last year\n| limit 5';
    const chip = chipsOf(q)?.chips.find(({ kind }) => kind === 'compare');
    expect(chip).toMatchObject({ label: '1y' });
    expect(chip && replaceSpan(q, chip.span, 'compare weekdays')).toBe(
      'signup | count by day | compare weekdays # last year\n| limit 5',
    );
    expect(chip?.removal && replaceSpan(q, chip.removal, '')).toBe('signup | count by day # last year\n| limit 5');
  });
});

describe('window', () => {
  test.each([
    ['funnel a -> b', 'funnel a -> b | window 7d'],
    ['paths from a | last 7d | limit 5', 'paths from a | last 7d | limit 5 | window 7d'],
    ['funnel a -> b | people lost after 1', 'funnel a -> b | people lost after 1 | window 7d'],
  ])('is added to %j', (q, expected) => {
    const { at = 0, before = '' } = chipsOf(q)?.insertions.window ?? {};
    expect(replaceSpan(q, { from: at, to: at }, `${before}window 7d`)).toBe(expected);
    expect(check(expected, 'UTC')).toEqual([]);
  });

  test.each(['funnel a -> b | window 1d', 'retention a by week', 'signup | count'])('is not offered for %j', (q) =>
    expect(chipsOf(q)?.insertions.window).toBeUndefined(),
  );

  test('is a chip of its own', () => {
    const chip = chipsOf('funnel a -> b | window  2 weeks | by day')?.chips.find(({ kind }) => kind === 'window');
    expect(chip).toMatchObject({ label: '2 weeks' });
  });
});

describe('a step of a funnel', () => {
  const movesOf = (q: string, step: string) => {
    const moves = chipsOf(q)?.chips.find(({ label }) => label === step)?.moves ?? [];
    return Object.fromEntries(moves.map(({ to, span, text }) => [to, replaceSpan(q, span, text)]));
  };

  test('changes places with its neighbours', () => {
    const q = 'funnel a  -> b[x = 1] # paid\n-> c | last 7d';
    expect(movesOf(q, 'a')).toEqual({ later: 'funnel b[x = 1]  -> a # paid\n-> c | last 7d' });
    expect(movesOf(q, 'c')).toEqual({ earlier: 'funnel a  -> c # paid\n-> b[x = 1] | last 7d' });
  });

  test('may move in both directions from the middle', () => {
    expect(movesOf('funnel a -> b -> c', 'b')).toEqual({ earlier: 'funnel b -> a -> c', later: 'funnel a -> c -> b' });
  });

  test('is none in retention', () => expect(movesOf('retention a returning b', 'a')).toEqual({}));
});

describe('a stage added by a chip', () => {
  const added: Readonly<Record<string, string>> = {
    event: 'purchase',
    time: 'last 30d',
    filter: '_path = "/"',
    measure: 'unique',
    group: '_country',
    window: 'window 7d',
  };

  test.each([
    'signup',
    '*',
    'signup | last 7d',
    'signup | where a = 1 | count',
    'signup | count by day',
    'funnel a -> b',
    'funnel a -> b | last 7d | window 1d',
    'retention a by week',
    'users',
  ])('to %s gives a valid query', (q) => {
    const insertions = Object.entries(chipsOf(q)?.insertions ?? {});
    expect(insertions.length).toBeGreaterThan(0);
    for (const [kind, { at, before }] of insertions) {
      const text = replaceSpan(q, { from: at, to: at }, `${before}${added[kind]}`);
      expect(parse(text).problems, text).toEqual([]);
    }
  });
});

test('a text with syntax problems has no chips, and an empty text an empty list', () => {
  expect(chipsOf('signup | cuont')).toBeUndefined();
  expect(chipsOf(' ')).toEqual({ chips: [], insertions: {} });
});

test.each([
  [`${nameText('a b')} | count`],
  [`* | where ${fieldText('event_properties.my key')} = ${valueText('it"s')}`],
  [`* | where ${fieldText('_path')} in ${valueText('("a", "b")')}`],
  [`* | where event_properties.price > ${valueText('-1.5')} and event_properties.paid = ${valueText('true')}`],
])('the forms of chips write the valid query %s', (q) => expect(check(q, 'UTC')).toEqual([]));

test.each([
  [
    'signup | last 7d | count by _country',
    '_country',
    'DE',
    'signup | last 7d | where _country = "DE" | count by _country',
  ],
  [
    '* | count by event_properties.n',
    'event_properties.n',
    5,
    '* | where event_properties.n = 5 | count by event_properties.n',
  ],
  ['* | count by _country', '_country', null, '* | where _country not exists | count by _country'],
  [
    '* | count by event_properties.n',
    'event_properties.n',
    '["a","b"]',
    '* | where event_properties.n = "[\\"a\\",\\"b\\"]" | count by event_properties.n',
  ],
  ['* | unique by cohort.power', 'cohort.power', 'true', '* | where cohort.power = true | unique by cohort.power'],
])('withFilter() on the answer of %s adds %s = %j', (q, field, value, expected) => {
  setDefinitions([{ kind: 'cohort', name: 'power', query: '* | where count(purchase) >= 2', line: 1 }]);
  expect(withFilter(q, field, value)).toBe(expected);
  expect(check(expected, 'UTC')).toEqual([]);
});
