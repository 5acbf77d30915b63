// Generators of random conditions (any field, operator and literal) and of ranges around a clock.
import fc from 'fast-check';
import { bucketAfter, bucketOf } from './calendar.js';
import { record } from './generate.js';
import type * as ask from './question.js';
import { numberOf } from './values.js';
import * as words from './vocabulary.js';
import type { Context } from './world.js';

const ANY_LITERALS: readonly ask.Literal[] = [
  ...[5, 1, 0, -3, 5.5, 10, true, false],
  ...['pro', 'free', '5', 'true', '1', 'Zoë', 'a|b', 'say "hi"', 'back\\slash', 'two\nlines'],
];

/** Literals by the ending of a field's name, matching the values in a history. */
const LITERALS_BY_ENDING: readonly (readonly [RegExp, readonly ask.Literal[]])[] = [
  [/event_type$/, words.ALL_EVENT_TYPES],
  [/(user|distinct|device)_id$/, [...words.USERS, ...words.DEVICES]],
  [/path(_clean)?$/, words.PAGES.map((page) => page.path)],
  [/hostname$/, words.PAGES.map((page) => page.hostname)],
  [/_domain$/, [...words.REFERRERS.map((referrer) => referrer.domain), 'example.com']],
  [/email$/, words.EMAILS],
  [/country$/, ['DE', 'US', 'JP']],
  [/_platform$/, ['web', 'ios']],
  [/_device_type$/, ['desktop', 'mobile', 'bot']],
  [/event_count$/, [1, 2, 3]],
  [/duration$/, [0, 1, 600, 3600]],
  [/utm_source$/, ['ads', 'mail']],
  [/language$/, ['de', 'en']],
];

function literalsFor(field: ask.Field): fc.Arbitrary<ask.Literal> {
  const known = LITERALS_BY_ENDING.find(([ending]) => ending.test(field))?.[1] ?? ANY_LITERALS;
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, fc.constantFrom(...ANY_LITERALS));
}

/** Bounds for `<` and `>`: numbers, and texts that are not numbers. */
function boundsFor(field: ask.Field): fc.Arbitrary<ask.Literal> {
  return literalsFor(field).map((literal) => {
    if (typeof literal === 'boolean') return 1;
    return typeof literal === 'string' && numberOf(literal) !== undefined ? 'm' : literal;
  });
}

function comparisons(fields: readonly string[]): fc.Arbitrary<ask.Condition> {
  return fc.constantFrom(...fields).chain((field) => {
    const compare = (operators: readonly ask.CompareOperator[], value: fc.Arbitrary<ask.Literal>) =>
      record({
        kind: fc.constant('compare' as const),
        field: fc.constant(field),
        operator: fc.constantFrom(...operators),
        value,
      });
    return fc.oneof(
      { weight: 4, arbitrary: compare(['!=', '='], literalsFor(field)) },
      { weight: 3, arbitrary: compare(['>=', '<=', '>', '<'], boundsFor(field)) },
      compare(['not contains', 'contains'], fc.constantFrom('e', 'pr', '5', '/', '|', '"', '\\', '本')),
      compare(
        ['not starts with', 'starts with', 'not ends with', 'ends with'],
        fc.constantFrom('', 'p', 'pr', 'e', '1', '/', '|', '"', '本'),
      ),
      compare(['!~', '~'], fc.constantFrom('e$', '^p', '[0-9]+', 'pro|free', '^/item/')),
      record({
        kind: fc.constant('in' as const),
        field: fc.constant(field),
        negated: fc.boolean(),
        values: fc.array(literalsFor(field), { minLength: 1, maxLength: 3 }),
      }),
      record({ kind: fc.constant('exists' as const), field: fc.constant(field), negated: fc.boolean() }),
    );
  });
}

function conditions(fields: readonly string[]): fc.Arbitrary<ask.Condition> {
  const leaf = comparisons(fields);
  const joined = (terms: fc.Arbitrary<ask.Condition>): fc.Arbitrary<ask.Condition> =>
    record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      terms: fc.array(terms, { minLength: 2, maxLength: 3 }),
    });
  return fc.oneof({ weight: 5, arbitrary: leaf }, joined(leaf), joined(fc.oneof(leaf, joined(leaf))));
}

export function wheres(fields: readonly string[]): fc.Arbitrary<ask.Condition[]> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant<ask.Condition[]>([]) },
    { weight: 2, arbitrary: fc.array(conditions(fields), { minLength: 1, maxLength: 1 }) },
    fc.array(conditions(fields), { minLength: 2, maxLength: 2 }),
  );
}

const SPANS: readonly ask.Span[] = [
  { count: 7, unit: 'd' },
  { count: 1, unit: 'd' },
  { count: 30, unit: 'd' },
  { count: 24, unit: 'h' },
  { count: 90, unit: 'm' },
  { count: 2, unit: 'w' },
  { count: 1, unit: 'y' },
];

const WIDE_SPANS: readonly ask.Span[] = [
  { count: 3, unit: 'mo' },
  { count: 40, unit: 'd' },
  { count: 8, unit: 'w' },
];

export function ranges({ now, timezone }: Context): fc.Arbitrary<ask.Range | undefined> {
  const today = bucketOf(now, 'day', timezone);
  const moments = ['', 'T10:30:00', 'T10:30:00Z', 'T12:00:00.001Z', 'T12:00:00+05:30'];
  const between = record({
    back: fc.constantFrom(0, -1, 1, 7, 30),
    days: fc.constantFrom(31, 7, 2, 1),
    from: fc.constantFrom(...moments),
    to: fc.constantFrom(...moments),
  }).map(({ back, days, from, to }): ask.Range => {
    // At least two days, because the two bounds may have different formats.
    const length = from === to ? days : days + 2;
    const first = bucketAfter(today, 'day', -back - length);
    return { kind: 'from', from: first + from, to: bucketAfter(first, 'day', length) + to };
  });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    // Wide enough for nearly all of a history, so that ranges do not exclude too much.
    { weight: 4, arbitrary: fc.constantFrom(...WIDE_SPANS).map((span): ask.Range => ({ kind: 'last', span })) },
    fc.constantFrom(...SPANS).map((span): ask.Range => ({ kind: 'last', span })),
    fc.oneof(
      fc.constantFrom('today', 'yesterday').map((kind): ask.Range => ({ kind })),
      fc.constantFrom('week', 'month', 'quarter', 'year').map((unit): ask.Range => ({ kind: 'this', unit })),
    ),
    { weight: 2, arbitrary: between },
  );
}
