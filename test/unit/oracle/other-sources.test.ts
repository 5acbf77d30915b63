// Oracle: users, formula, fields, inspect and latest.
import { describe, expect, test } from 'vitest';
import { event } from '../../oracle/history.js';
import type { Expression, FormulaQuestion, LatestQuestion, UsersQuestion } from '../../oracle/question.js';
import { ago, ask, at, by, mapping, NOW, profile, tuples } from './asking.js';

describe('users in the oracle', () => {
  const profiles = [
    profile('u1', { email: 'ann@example.com', properties: { email: 'ann@example.com', plan: 'pro', seats: 5 } }),
    profile('u2', { properties: { plan: 'free', seats: '7' } }),
    profile('u3', { last_seen: ago(31 * 24 * 60) }),
    { ...profile('u4'), project: 'other' },
  ];
  const users = (rest: Partial<UsersQuestion> = {}): UsersQuestion => ({ source: 'users', ...rest });

  test('list profiles whose last_seen is in the range', () => {
    const { columns, rows } = ask(users(), { profiles });
    expect(columns).toEqual(['user_id', 'email', 'email_domain', 'first_seen', 'last_seen', 'properties']);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({
      user_id: 'u1',
      email_domain: 'example.com',
      properties: { plan: 'pro', seats: 5 },
    });
    expect(rows[1]).toMatchObject({ user_id: 'u2', email: null, email_domain: null });
  });

  test('accept KEY and user.KEY as the same field', () => {
    const is = (field: string) => [{ kind: 'compare', field, operator: '>', value: 5 }] as const;
    for (const field of ['seats', 'user.seats']) {
      expect(ask(users({ where: is(field) }), { profiles }).rows.map((row) => row.user_id)).toEqual(['u2']);
    }
  });

  test('can be aggregated', () => {
    const by = [{ kind: 'field', field: 'plan' }] as const;
    const reading = { kind: 'aggregate', aggregate: { kind: 'sum', field: 'seats' }, by } as const;
    expect(tuples(users({ reading }), { profiles })).toEqual([
      ['free', 7],
      ['pro', 5],
    ]);
  });
});

describe('formula in the oracle', () => {
  const events = [
    by('u1', 'a', at('2026-11-18T10:00:00Z'), { event_properties: { v: 3 } }),
    by('u1', 'a', at('2026-11-18T11:00:00Z'), { event_properties: { v: '4' } }),
    by('u2', 'a', at('2026-11-19T10:00:00Z'), { derived: { _platform: 'web' } }),
    by('u1', 'b', at('2026-11-18T10:00:00Z')),
    event({ event_type: 'b', time: at('2026-11-18T10:00:00Z') }),
  ];
  const count = (type: string): Expression => ({ kind: 'term', function: 'count', event: type });
  const divided = (left: Expression, right: Expression): Expression => ({ kind: 'binary', operator: '/', left, right });
  const number = (value: number): Expression => ({ kind: 'number', value });
  const value = (expression: Expression, rest: Partial<FormulaQuestion> = {}) =>
    tuples({ source: 'formula', columns: [{ expression }], ...rest }, { events });

  test.each<[string, Expression, number | null]>([
    ['divides counts', divided(count('b'), count('a')), 2 / 3],
    ['counts people', { kind: 'term', function: 'unique', event: 'b' }, 1],
    ['counts values', { kind: 'term', function: 'unique', event: 'a', field: 'event_properties.v' }, 2],
    ['sums', { kind: 'term', function: 'sum', event: 'a', field: 'event_properties.v' }, 7],
    ['averages', { kind: 'term', function: 'avg', event: 'a', field: 'event_properties.v' }, 3.5],
    ['gives 0 as sum of no values', { kind: 'term', function: 'sum', event: 'b', field: 'event_properties.v' }, 0],
    ['divides by zero to null', divided(count('a'), count('nothing')), null],
    ['divides zero by zero to null', divided(count('nothing'), count('nothing')), null],
    [
      'gives null when a term is null',
      { kind: 'binary', operator: '+', left: number(1), right: divided(number(1), number(0)) },
      null,
    ],
    ['subtracts', { kind: 'binary', operator: '-', left: count('a'), right: number(0.5) }, 2.5],
  ])('%s', (_rule, expression, expected) => expect(value(expression)).toEqual([[expected]]));

  test('applies where to every term', () => {
    const where = [{ kind: 'exists', field: '_platform', negated: false }] as const;
    expect(value(divided(count('b'), count('a')), { where })).toEqual([[0]]);
  });

  test('has every bucket of the range', () => {
    const range = { kind: 'from', from: '2026-11-17', to: '2026-11-20' } as const;
    expect(value(divided(count('b'), count('a')), { by: [{ kind: 'time', unit: 'day' }], range })).toEqual([
      ['2026-11-17', null],
      ['2026-11-18', 1],
      ['2026-11-19', 0],
    ]);
  });
});

describe('fields and inspect in the oracle', () => {
  const events = [
    by('u1', 'a', ago(3), { event_properties: { plan: 'pro', gone: null }, user_properties: { plan: 5 } }),
    by('u2', 'a', ago(2), { event_properties: { plan: 5, empty: '' } }),
    by('u2', 'a', ago(1), { event_properties: { plan: '5' } }),
    by('u1', 'b', ago(1)),
    event({ event_type: 'b', time: ago(4) }),
  ];

  test('fields have the share of events with a value', () => {
    const { columns, rows } = ask({ source: 'fields' }, { events });
    expect(columns).toEqual(['field', 'type', 'category', 'events', 'coverage']);
    expect(rows.map(({ field, category, events: having, coverage }) => [field, category, having, coverage])).toEqual([
      ['event_properties.plan', 'event_properties', 3, 60],
      ['user_properties.plan', 'user_properties', 1, 20],
    ]);
  });

  test('inspect * counts events and people of each type', () => {
    expect(tuples({ source: 'inspect', event: null }, { events }).map((row) => row.slice(0, 5))).toEqual([
      ['a', 3, 2, '2026-11-20T09:27:00.000Z', '2026-11-20T09:29:00.000Z'],
      ['b', 2, 1, '2026-11-20T09:26:00.000Z', '2026-11-20T09:29:00.000Z'],
    ]);
  });

  test('inspect of one type has its properties', () => {
    const { rows } = ask({ source: 'inspect', event: 'a' }, { events });
    expect(rows.map(({ property, coverage, distinct }) => [property, coverage, distinct])).toEqual([
      ['event_properties.plan', 100, 2],
      ['user_properties.plan', expect.closeTo(100 / 3), 1],
    ]);
  });
});

describe('latest in the oracle', () => {
  const plan = (user: string, value: string | number | null, minutes: number, insert_id = `${minutes}`) =>
    by(user, 'set', ago(minutes), { insert_id, device_id: 'd1', event_properties: { plan: value } });
  const events = [
    plan('u1', 'old', 9),
    plan('u1', 'new', 5, 'a'),
    plan('u1', 'newer', 5, 'b'),
    plan('u1', '', 4),
    plan('u1', null, 3),
    plan('u2', 5, 8),
    event({ event_type: 'set', time: ago(1), event_properties: { plan: 'of nobody' } }),
    event({ event_type: 'set', time: ago(2), device_id: 'd9', event_properties: { plan: 'old' } }),
    plan('u3', 'before the range', 8 * 24 * 60),
  ];
  const latest = (rest: Partial<LatestQuestion> = {}): LatestQuestion => ({
    source: 'latest',
    event: 'set',
    field: 'event_properties.plan',
    ...rest,
  });

  test('is the newest non-empty value per person, and of equal times the larger insert_id', () => {
    const { columns, rows, mode } = ask(latest(), { events, mappings: [mapping('d9', 'u2')] });
    expect(mode).toBe('latest_aggregate');
    expect(columns).toEqual(['entity', 'last_value', 'set_at']);
    expect(rows).toEqual([
      { entity: 'u1', last_value: 'newer', set_at: '2026-11-20T09:25:00.000Z' },
      { entity: 'u2', last_value: 'old', set_at: '2026-11-20T09:28:00.000Z' },
    ]);
  });

  test('works per any field', () => {
    expect(tuples(latest({ per: 'device_id' }), { events }).map((row) => row.slice(0, 2))).toEqual([
      ['d1', 'newer'],
      ['d9', 'old'],
    ]);
  });

  test('can be aggregated', () => {
    const counted = {
      kind: 'aggregate',
      aggregate: { kind: 'count' },
      by: [{ kind: 'field', field: 'last_value' }],
    } as const;
    expect(tuples(latest({ reading: counted }), { events })).toEqual([
      ['5', 1],
      ['newer', 1],
      ['old', 1],
    ]);
    const summed = { kind: 'aggregate', aggregate: { kind: 'sum', field: 'last_value' }, by: [] } as const;
    expect(tuples(latest({ reading: summed }), { events })).toEqual([[5]]);
  });

  test('ignores events after the range', () => {
    const later = [...events, plan('u1', 'later', 0)];
    expect(NOW).toBe(later.at(-1)?.time);
    expect(ask(latest(), { events: later }).rows[0]?.last_value).toBe('newer');
  });
});
