// Oracle: lifecycle and stickiness.
import { describe, expect, test } from 'vitest';
import { event } from '../../oracle/history.js';
import type { LifecycleQuestion } from '../../oracle/question.js';
import { ask, at, by, tuples } from './asking.js';

describe('lifecycle in the oracle', () => {
  // Weeks of Monday 2026-11-02, 09 and 16.
  const question: LifecycleQuestion = {
    source: 'lifecycle',
    event: 'view',
    range: { kind: 'from', from: '2026-11-11', to: '2026-11-18' },
  };
  const statuses = (events: ReturnType<typeof by>[], asked = question, timezone = 'UTC') =>
    tuples(asked, { events, timezone }).filter(([, , users]) => users !== 0);

  test('has a row for every status of every calendar period in the range', () => {
    expect(ask(question, {}).columns).toEqual(['period', 'status', 'users']);
    expect(tuples(question, {})).toEqual([
      ['2026-11-09', 'New', 0],
      ['2026-11-09', 'Returning', 0],
      ['2026-11-09', 'Resurrected', 0],
      ['2026-11-09', 'Dormant', 0],
      ['2026-11-16', 'New', 0],
      ['2026-11-16', 'Returning', 0],
      ['2026-11-16', 'Resurrected', 0],
      ['2026-11-16', 'Dormant', 0],
    ]);
  });

  test.each<[string, string[], unknown[][]]>([
    [
      'New is the first time ever, Dormant the period after',
      ['2026-11-12'],
      [
        ['2026-11-09', 'New', 1],
        ['2026-11-16', 'Dormant', 1],
      ],
    ],
    [
      'Returning was active in the period before, also before the range',
      ['2026-11-04', '2026-11-12'],
      [
        ['2026-11-09', 'Returning', 1],
        ['2026-11-16', 'Dormant', 1],
      ],
    ],
    ['Resurrected was active earlier', ['2026-10-01', '2026-11-17'], [['2026-11-16', 'Resurrected', 1]]],
    ['Dormant ends after one period', ['2026-11-03'], [['2026-11-09', 'Dormant', 1]]],
    [
      'periods are whole, before the range and after it',
      ['2026-11-09', '2026-11-22'],
      [
        ['2026-11-09', 'New', 1],
        ['2026-11-16', 'Returning', 1],
      ],
    ],
  ])('%s', (_rule, dates, expected) => {
    expect(statuses(dates.map((date) => by('u1', 'view', at(date))))).toEqual(expected);
  });

  test('uses only events that pass where', () => {
    const where = [{ kind: 'compare', field: '_platform', operator: '=', value: 'web' }] as const;
    const events = [
      by('u1', 'view', at('2026-11-04')),
      by('u1', 'view', at('2026-11-12'), { derived: { _platform: 'web' } }),
    ];
    expect(statuses(events, { ...question, where })[0]).toEqual(['2026-11-09', 'New', 1]);
  });

  test('uses days and months of the time zone', () => {
    const events = [by('u1', 'view', at('2026-10-31T23:30:00Z'))];
    const range = { kind: 'from', from: '2026-10-31', to: '2026-11-02' } as const;
    expect(statuses(events, { ...question, range, period: 'month' })).toEqual([
      ['2026-10-01', 'New', 1],
      ['2026-11-01', 'Dormant', 1],
    ]);
    expect(statuses(events, { ...question, range, period: 'day' }, 'Europe/Berlin')).toEqual([
      ['2026-11-01', 'New', 1],
    ]);
  });
});

describe('stickiness in the oracle', () => {
  test('counts people by number of active days, without events that have no distinct_id', () => {
    const events = [
      by('u1', 'view', at('2026-11-10')),
      by('u1', 'view', at('2026-11-10T13:00:00Z')),
      by('u1', 'view', at('2026-11-12')),
      by('u2', 'view', at('2026-11-12')),
      by('u3', 'view', at('2026-11-13')),
      by('u3', 'pay', at('2026-11-14')),
      event({ event_type: 'view', time: at('2026-11-14') }),
    ];
    expect(tuples({ source: 'stickiness', event: 'view' }, { events })).toEqual([
      [1, 2],
      [2, 1],
    ]);
  });

  test('uses days of the time zone', () => {
    const events = [by('u1', 'view', at('2026-11-10T10:00:00Z')), by('u1', 'view', at('2026-11-10T12:00:00Z'))];
    const timezone = 'Pacific/Tongatapu';
    expect(tuples({ source: 'stickiness', event: 'view' }, { events, timezone })).toEqual([[2, 1]]);
  });
});
