// Oracle: retention.
import { describe, expect, test } from 'vitest';
import type { RetentionQuestion } from '../../oracle/question.js';
import { ask, at, by, tuples } from './asking.js';

// Mondays: 2026-11-02, 09 and 16. Now is Friday, the 20th.
const FROM = { kind: 'from', from: '2026-11-02', to: '2026-11-20' } as const;
const weekly = (rest: Partial<RetentionQuestion> = {}): RetentionQuestion => ({
  source: 'retention',
  event: 'signup',
  range: FROM,
  ...rest,
});

test('a cohort is the period of the first start, with a row for every period of the range', () => {
  const events = [
    by('u1', 'signup', at('2026-11-03')),
    by('u1', 'view', at('2026-11-10')),
    by('u1', 'signup', at('2026-11-17')),
    by('u2', 'signup', at('2026-11-04')),
    by('u3', 'signup', at('2026-11-12')),
    // Before the range, so the first start in the range is the second.
    by('u3', 'signup', at('2026-10-12')),
  ];
  expect(ask(weekly(), { events }).columns).toEqual(['cohort', 'cohort_size', 'period', 'users', 'rate']);
  expect(tuples(weekly(), { events })).toEqual([
    ['2026-11-02', 2, 0, 2, 1],
    ['2026-11-02', 2, 1, 1, 0.5],
    ['2026-11-02', 2, 2, 1, 0.5],
    ['2026-11-09', 1, 0, 1, 1],
    ['2026-11-09', 1, 1, 0, 0],
  ]);
});

describe('period 0 of retention', () => {
  const start = by('u1', 'signup', at('2026-11-04T12:00:00Z'));
  const zero = (question: RetentionQuestion, ...others: ReturnType<typeof by>[]) =>
    ask(question, { events: [start, ...others] }).rows[0]?.users;

  test.each([
    ['counts the start when any event returns', weekly(), undefined, 1],
    ['counts the start when it is the return event', weekly({ returning: 'signup' }), undefined, 1],
    ['does not count the start when another event is to return', weekly({ returning: 'view' }), undefined, 0],
    ['counts a return later in the period', weekly({ returning: 'view' }), '2026-11-08T23:59:59Z', 1],
    ['counts a return at the same time', weekly({ returning: 'view' }), '2026-11-04T12:00:00Z', 1],
    ['does not count a return before the start', weekly({ returning: 'view' }), '2026-11-04T11:59:59Z', 0],
    ['takes `any` for any event', weekly({ returning: 'any' }), undefined, 1],
  ])('%s', (_rule, question, time, expected) => {
    expect(zero(question, ...(time === undefined ? [] : [by('u1', 'view', at(time))]))).toBe(expected);
  });
});

test('a return outside the range does not count', () => {
  const events = [by('u1', 'signup', at('2026-11-04')), by('u1', 'view', at('2026-11-20'))];
  expect(tuples(weekly({ returning: 'view' }), { events }).map((row) => row[3])).toEqual([0, 0, 0]);
});

test('where filters start and return events', () => {
  const pro = { event_properties: { plan: 'pro' } };
  const events = [
    by('u1', 'signup', at('2026-11-03'), pro),
    by('u1', 'view', at('2026-11-10')),
    by('u1', 'view', at('2026-11-17'), pro),
    by('u2', 'signup', at('2026-11-03')),
  ];
  const where = [{ kind: 'compare', field: 'event_properties.plan', operator: '=', value: 'pro' }] as const;
  expect(tuples(weekly({ where }), { events }).map((row) => row.slice(1, 4))).toEqual([
    [1, 0, 1],
    [1, 1, 0],
    [1, 2, 1],
  ]);
});

test('periods are days and months of the time zone', () => {
  const events = [by('u1', 'signup', at('2026-10-31T23:30:00Z')), by('u1', 'view', at('2026-11-01T23:30:00Z'))];
  const range = { kind: 'from', from: '2026-10-31', to: '2026-11-03' } as const;
  const asked = (period: 'day' | 'month', timezone: string) =>
    tuples(weekly({ range, period }), { events, timezone }).map(([cohort, , n, users]) => [cohort, n, users]);
  expect(asked('day', 'UTC')).toEqual([
    ['2026-10-31', 0, 1],
    ['2026-10-31', 1, 1],
    ['2026-10-31', 2, 0],
  ]);
  expect(asked('day', 'Europe/Berlin')).toEqual([
    ['2026-11-01', 0, 1],
    ['2026-11-01', 1, 1],
  ]);
  expect(asked('month', 'UTC')).toEqual([
    ['2026-10-01', 0, 1],
    ['2026-10-01', 1, 1],
  ]);
  expect(asked('month', 'Europe/Berlin')).toEqual([['2026-11-01', 0, 1]]);
});

test('the last period is 12', () => {
  const range = { kind: 'from', from: '2026-10-01', to: '2026-10-31' } as const;
  const rows = tuples(weekly({ range, period: 'day' }), { events: [by('u1', 'signup', at('2026-10-05'))] });
  expect(rows.map((row) => row[2])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test('m in a range means months', () => {
  const range = { kind: 'last', span: { count: 2, unit: 'm' } } as const;
  expect(tuples(weekly({ range, period: 'month' }), { events: [by('u1', 'signup', at('2026-09-21'))] })).toEqual([
    ['2026-09-01', 1, 0, 1, 1],
    ['2026-09-01', 1, 1, 0, 0],
    ['2026-09-01', 1, 2, 0, 0],
  ]);
});

test('m in a call and in compare means months', () => {
  const events = [by('u1', 'signup', at('2026-11-09')), by('u1', 'view', at('2026-10-12'))];
  const where = [
    { kind: 'call', function: 'count', event: 'view', last: { count: 2, unit: 'm' }, operator: '=', value: 1 },
  ] as const;
  expect(tuples(weekly({ where }), { events })[0]).toEqual(['2026-11-09', 1, 0, 1, 1]);
  const compare = { kind: 'span', span: { count: 1, unit: 'm' } } as const;
  const range = { kind: 'from', from: '2026-11-01', to: '2026-11-15' } as const;
  const { beside } = ask(weekly({ range, compare }), { events });
  expect(beside?.metadata).toMatchObject({
    compare: { previous: { from: '2026-10-01T00:00:00.000Z', to: '2026-10-15T00:00:00.000Z' } },
  });
});

test('the default range is twelve weeks', () => {
  const events = [by('u1', 'signup', at('2026-08-28T09:30:00Z')), by('u2', 'signup', at('2026-08-28T09:29:59Z'))];
  const { rows } = ask({ source: 'retention', event: 'signup' }, { events });
  expect(rows).toHaveLength(13);
  expect(rows[0]).toMatchObject({ cohort: '2026-08-24', cohort_size: 1, period: 0, users: 1 });
});

test('a breakdown uses the value at the start event', () => {
  const events = [
    by('u1', 'signup', at('2026-11-17'), { derived: { _platform: 'web' } }),
    by('u2', 'signup', at('2026-11-17')),
    by('u2', 'signup', at('2026-11-18'), { derived: { _platform: 'web' } }),
  ];
  const question = weekly({ by: '_platform' });
  expect(ask(question, { events }).columns[0]).toBe('_platform');
  expect(tuples(question, { events }).map((row) => row.slice(0, 5))).toEqual([
    ['web', '2026-11-16', 1, 0, 1],
    [null, '2026-11-16', 1, 0, 1],
  ]);
});
