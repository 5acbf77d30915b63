// Oracle: paths.
import { describe, expect, test } from 'vitest';
import type { PathsQuestion } from '../../oracle/question.js';
import { ago, ask, by, tuples } from './asking.js';

const BASE = 600;
/** Types in the order of their minutes after the base. */
const walk = (user: string, ...steps: (readonly [string, number])[]) =>
  steps.map(([type, minutes], index) => by(user, type, ago(BASE - minutes), { insert_id: `${index}-${user}` }));

const from = (rest: Partial<PathsQuestion> = {}): PathsQuestion => ({
  source: 'paths',
  direction: 'from',
  event: 'a',
  ...rest,
});
const to = (rest: Partial<PathsQuestion> = {}): PathsQuestion => ({
  source: 'paths',
  direction: 'to',
  event: 'a',
  ...rest,
});

const ABACD = walk('u', ['x', 0], ['a', 1], ['b', 2], ['a', 3], ['c', 4], ['d', 5], ['e', 6], ['f', 7]);

describe('a path in the oracle', () => {
  test.each<[string, PathsQuestion, string[]]>([
    ['begins at the first match and has five nodes', from(), ['a', 'b', 'a', 'c', 'd']],
    ['leads up to the last match', to(), ['x', 'a', 'b', 'a']],
    ['has the given depth', from({ depth: 2 }), ['a', 'b']],
    ['has the given depth backwards', to({ depth: 2 }), ['b', 'a']],
    ['ends with the window, its end included', from({ window: { count: 2, unit: 'm' } }), ['a', 'b', 'a']],
    ['starts with the window backwards', to({ window: { count: 1, unit: 'm' } }), ['b', 'a']],
  ])('%s', (_rule, question, expected) => {
    expect(tuples(question, { events: ABACD })).toEqual([[expected, 1]]);
  });

  test('keeps repeated events', () => {
    expect(tuples(from(), { events: walk('u', ['a', 0], ['a', 0], ['b', 1], ['b', 1]) })).toEqual([
      [['a', 'a', 'b', 'b'], 1],
    ]);
  });

  test('orders events of equal time by insert_id', () => {
    const time = ago(BASE);
    const events = [
      by('u', 'c', time, { insert_id: '3' }),
      by('u', 'a', time, { insert_id: '2' }),
      by('u', 'b', time, { insert_id: '1' }),
    ];
    expect(tuples(from(), { events })).toEqual([[['a', 'c'], 1]]);
    expect(tuples(to(), { events })).toEqual([[['b', 'a'], 1]]);
  });

  test('uses the labels of by, with a label for a missing value', () => {
    const events = [
      by('u', 'a', ago(9), { derived: { _path: '/in' } }),
      by('u', 'b', ago(8)),
      by('u', 'c', ago(7), { derived: { _path: '/out' } }),
    ];
    expect(tuples(from({ by: '_path' }), { events })).toEqual([[['/in', '(none)', '/out'], 1]]);
  });

  test('applies where to its anchor only', () => {
    const pro = { event_properties: { plan: 'pro' } };
    const events = [by('u', 'a', ago(9)), by('u', 'b', ago(8)), by('u', 'a', ago(7), pro), by('u', 'c', ago(6))];
    const where = [{ kind: 'compare', field: 'event_properties.plan', operator: '=', value: 'pro' }] as const;
    expect(tuples(from({ where }), { events })).toEqual([[['a', 'c'], 1]]);
    expect(tuples(to({ where }), { events })).toEqual([[['a', 'b', 'a'], 1]]);
  });

  test('contains only events of the range', () => {
    const week = 7 * 24 * 60;
    const events = [by('u', 'x', ago(week + 1)), by('u', 'a', ago(week - 1)), by('u', 'b', ago(week - 2))];
    expect(tuples(to(), { events })).toEqual([[['a'], 1]]);
  });
});

test('at most twenty paths are returned, sorted by people and then by path', () => {
  const events = [
    ...walk('u1', ['a', 0], ['c', 1]),
    ...walk('u2', ['a', 0], ['b', 1]),
    ...walk('u3', ['a', 0]),
    ...walk('u4', ['a', 0], ['d', 1]),
    ...walk('u5', ['a', 0], ['d', 1]),
  ];
  const paths = tuples(from(), { events });
  expect(paths).toEqual([
    [['a', 'd'], 2],
    [['a'], 1],
    [['a', 'b'], 1],
    [['a', 'c'], 1],
  ]);
  const many = Array.from({ length: 25 }, (_, index) => walk(`u${index}`, ['a', 0], [`n${index}`, 1])).flat();
  expect(ask(from(), { events: many }).rows).toHaveLength(20);
  expect(ask(from({ limit: 22 }), { events: many }).rows).toHaveLength(22);
});
