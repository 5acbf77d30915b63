// Oracle: sessions.
import { describe, expect, test } from 'vitest';
import type { Aggregate, Condition, Group } from '../../oracle/question.js';
import { ago, ask, at, by, NOW, tuples } from './asking.js';

const TWO_DAYS = { kind: 'from', from: '2026-11-18', to: '2026-11-20' } as const;
const event = (session_id: string | null, time: string, type = 'view', known = {}) =>
  by('u1', type, at(time), { session_id, ...known });

const EVENTS = [
  event('s1', '2026-11-18T10:00:00Z'),
  event('s1', '2026-11-18T10:10:00Z', 'pay'),
  event('s2', '2026-11-18T11:00:00Z', 'view', { derived: { _url: 'https://x.example/b', _path: '/b' } }),
  event(null, '2026-11-18T12:00:00Z'),
];

describe('sessions in the oracle', () => {
  test('are counted by day by default, with null as average of an empty day', () => {
    const question = { source: 'sessions', range: TWO_DAYS } as const;
    expect(ask(question, {}).columns).toEqual(['day', 'sessions', 'avg_duration', 'avg_events', 'bounce_rate']);
    expect(tuples(question, { events: EVENTS })).toEqual([
      ['2026-11-18', 2, 300, 1.5, 0.5],
      ['2026-11-19', 0, null, null, null],
    ]);
  });

  test('belong to the day of their start, which must be in the range', () => {
    const events = [
      // Began before the range.
      event('early', '2026-11-17T23:59:00Z'),
      event('early', '2026-11-18T00:01:00Z'),
      // Continues past midnight.
      event('over', '2026-11-18T23:50:00Z'),
      event('over', '2026-11-19T00:10:00Z'),
      // Continues past the range.
      event('late', '2026-11-19T23:00:00Z'),
      event('late', '2026-11-20T09:00:00Z'),
      // Begins at its end.
      event('next', '2026-11-20T00:00:00Z'),
    ];
    expect(tuples({ source: 'sessions', range: TWO_DAYS }, { events })).toEqual([
      ['2026-11-18', 1, 1200, 2, 0],
      ['2026-11-19', 1, 36000, 2, 0],
    ]);
  });

  test('use days of the time zone', () => {
    const events = [event('s1', '2026-11-18T10:59:59Z'), event('s2', '2026-11-18T11:00:00Z')];
    const rows = tuples({ source: 'sessions', range: TWO_DAYS }, { events, timezone: 'Pacific/Tongatapu' });
    expect(rows.map((row) => row.slice(0, 2))).toEqual([
      ['2026-11-18', 1],
      ['2026-11-19', 1],
    ]);
  });
});

const has = (field: string, value: string): Condition => ({ kind: 'compare', field, operator: '=', value });

describe('where on sessions', () => {
  test.each<[string, Condition, number]>([
    ['keeps sessions with at least one such event, whole', has('event_type', 'pay'), 1],
    [
      'looks for one event that satisfies all of it',
      { kind: 'and', terms: [has('event_type', 'pay'), has('_path', '/b')] },
      0,
    ],
    ['looks at the session too', { kind: 'compare', field: 'session.duration', operator: '>=', value: 600 }, 1],
    ['joins both', { kind: 'or', terms: [has('event_type', 'pay'), has('session.landing_path', '/b')] }, 2],
  ])('%s', (_rule, where, expected) => {
    const question = { source: 'sessions', range: TWO_DAYS, where: [where] } as const;
    expect(tuples(question, { events: EVENTS })[0]?.[1]).toBe(expected);
  });

  test('keeps all events of a session', () => {
    const question = { source: 'sessions', range: TWO_DAYS, where: [has('event_type', 'pay')] } as const;
    expect(tuples(question, { events: EVENTS })[0]).toEqual(['2026-11-18', 1, 600, 2, 0]);
  });
});

describe('aggregates of sessions', () => {
  const aggregated = (aggregate: Aggregate, ...groups: Group[]) =>
    tuples(
      { source: 'sessions', range: TWO_DAYS, reading: { kind: 'aggregate', aggregate, by: groups } },
      { events: EVENTS },
    );
  test('can be grouped by a session field or by the time of the start', () => {
    expect(aggregated({ kind: 'count' }, { kind: 'field', field: 'session.landing_path' })).toEqual([
      ['/b', 1],
      [null, 1],
    ]);
    expect(aggregated({ kind: 'count' }, { kind: 'time', unit: 'day' })).toEqual([
      ['2026-11-18', 2],
      ['2026-11-19', 0],
    ]);
    expect(aggregated({ kind: 'median', field: 'session.duration' })).toEqual([[300]]);
  });
});

test('the default range is seven days', () => {
  const events = [by('u1', 'view', ago(7 * 24 * 60), { session_id: 'a' }), by('u1', 'view', NOW, { session_id: 'b' })];
  const sessions = tuples({ source: 'sessions' }, { events }).map((row) => row[1]);
  expect(sessions).toEqual([1, 0, 0, 0, 0, 0, 0, 0]);
});
