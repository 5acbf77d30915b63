// Oracle: event source: aggregates, groups, conditions, lists, order and limits.
import { describe, expect, test } from 'vitest';
import { event, type PropertyValue } from '../../oracle/history.js';
import type { Aggregate, Condition, EventsQuestion, Group, Reading } from '../../oracle/question.js';
import { ago, ask, at, by, NOW, profile, tuples } from './asking.js';

const reading = (aggregate: Aggregate, ...groups: Group[]): Reading => ({ kind: 'aggregate', aggregate, by: groups });
const COUNT: Aggregate = { kind: 'count' };
const field = (name: string): Group => ({ kind: 'field', field: name });
const byTime = (unit: 'hour' | 'day' | 'week' | 'month'): Group => ({ kind: 'time', unit });
const views = (rest: Omit<EventsQuestion, 'source' | 'event'> = {}): EventsQuestion => ({
  source: 'events',
  event: 'view',
  ...rest,
});

const valued = (...values: (PropertyValue | undefined)[]) =>
  values.map((value, index) =>
    by('u1', 'view', ago(index + 1), { event_properties: value === undefined ? {} : { v: value } }),
  );

describe('aggregates in the oracle', () => {
  const values = valued(1, '2', 'x', true, null, undefined, 4, '', '10');
  test.each<[Aggregate, string, number | null]>([
    [COUNT, 'count', 9],
    [{ kind: 'unique' }, 'unique_count', 1],
    // 1, 2, x, true, 4, the empty text and 10, without null and missing values.
    [{ kind: 'unique', field: 'event_properties.v' }, 'unique_count', 7],
    [{ kind: 'sum', field: 'event_properties.v' }, 'total', 17],
    [{ kind: 'avg', field: 'event_properties.v' }, 'average', 4.25],
    [{ kind: 'min', field: 'event_properties.v' }, 'min_value', 1],
    [{ kind: 'max', field: 'event_properties.v' }, 'max_value', 10],
    [{ kind: 'median', field: 'event_properties.v' }, 'median_value', 3],
    [{ kind: 'p90', field: 'event_properties.v' }, 'p90', 8.2],
    [{ kind: 'p95', field: 'event_properties.v' }, 'p95', 9.1],
    [{ kind: 'p99', field: 'event_properties.v' }, 'p99', 9.82],
    [{ kind: 'sum', field: 'event_properties.nothing' }, 'total', 0],
    [{ kind: 'avg', field: 'event_properties.nothing' }, 'average', null],
    [{ kind: 'max', field: 'event_properties.nothing' }, 'max_value', null],
    [{ kind: 'median', field: 'event_properties.nothing' }, 'median_value', null],
  ])('%j', (aggregate, column, expected) => {
    const { columns, rows } = ask(views({ reading: reading(aggregate) }), { events: values });
    expect(columns).toEqual([column]);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.metric).toBe(aggregate.kind);
    expect(rows[0]?.value).toBe(rows[0]?.[column]);
    if (expected === null) expect(rows[0]?.value).toBeNull();
    else expect(rows[0]?.value).toBeCloseTo(expected, 12);
  });

  test('default to count', () => {
    expect(tuples(views(), { events: values })).toEqual([[9]]);
  });
});

describe('groups in the oracle', () => {
  test('by a field are sorted by metric, then value, with a missing value as last of equals', () => {
    const events = valued(5, '5', true, 'true', 1, undefined, null, 'b', '');
    expect(tuples(views({ reading: reading(COUNT, field('event_properties.v')) }), { events })).toEqual([
      ['5', 2],
      ['true', 2],
      [null, 2],
      ['1', 1],
      ['', 1],
      ['b', 1],
    ]);
  });

  test('by time contain every bucket of the range in order', () => {
    const events = [by('u1', 'view', at('2026-11-14')), by('u2', 'view', at('2026-11-14'))];
    const days = tuples(views({ reading: reading(COUNT, byTime('day')) }), { events });
    expect(days).toHaveLength(8);
    expect(days.slice(0, 3)).toEqual([
      ['2026-11-13', 0],
      ['2026-11-14', 2],
      ['2026-11-15', 0],
    ]);
    const averages = views({ reading: reading({ kind: 'avg', field: 'event_properties.v' }, byTime('week')) });
    expect(tuples(averages, { events })).toEqual([
      ['2026-11-09', null],
      ['2026-11-16', null],
    ]);
  });

  test('by time and a field contain existing combinations, sorted by time', () => {
    const events = [
      by('u1', 'view', at('2026-11-18'), { derived: { _geo_country: 'DE' } }),
      by('u1', 'view', at('2026-11-15'), { derived: { _geo_country: 'US' } }),
      by('u2', 'view', at('2026-11-15'), { derived: { _geo_country: 'US' } }),
      by('u1', 'view', at('2026-11-15'), { insert_id: 'x', derived: { _geo_country: 'DE' } }),
    ];
    const question = views({ reading: reading(COUNT, field('_country'), byTime('day')) });
    expect(ask(question, { events }).columns).toEqual(['_country', 'day', 'count']);
    expect(tuples(question, { events })).toEqual([
      ['US', '2026-11-15', 2],
      ['DE', '2026-11-15', 1],
      ['DE', '2026-11-18', 1],
    ]);
  });

  test('by hour contain instants in UTC', () => {
    const range = { kind: 'last', span: { count: 90, unit: 'm' } } as const;
    const question = views({ range, reading: reading(COUNT, byTime('hour')) });
    expect(tuples(question, { events: [by('u1', 'view', ago(1))] })).toEqual([
      ['2026-11-20T08:00:00.000Z', 0],
      ['2026-11-20T09:00:00.000Z', 1],
    ]);
  });

  test('by day use days of the time zone', () => {
    const events = [by('u1', 'view', at('2026-11-18T11:00:00Z'))];
    const question = views({ reading: reading(COUNT, byTime('day')) });
    const found = tuples(question, { events, timezone: 'Pacific/Tongatapu' }).filter(([, count]) => count === 1);
    expect(found).toEqual([['2026-11-19', 1]]);
  });

  test('have their columns named as in the query', () => {
    const question = views({ reading: reading(COUNT, field('event_properties.Button Name')) });
    expect(ask(question, {}).columns).toEqual(['event_properties."Button Name"', 'count']);
  });
});

describe('a range of events in the oracle', () => {
  test('includes its start and excludes its end', () => {
    const week = 7 * 24 * 60;
    const times = [ago(week) - 1, ago(week), NOW - 1, NOW];
    const question = views({ reading: { kind: 'list' } });
    const { rows } = ask(question, { events: times.map((time) => by('u1', 'view', time)) });
    expect(rows.map((row) => row.time)).toEqual(['2026-11-20T09:29:59.999Z', '2026-11-13T09:30:00.000Z']);
  });
});

describe('where in the oracle', () => {
  const events = [
    by('u1', 'view', ago(1), { event_properties: { a: 1, b: 1 } }),
    by('u2', 'view', ago(2), { event_properties: { a: 1, c: 1 } }),
    by('u3', 'view', ago(3), { event_properties: { c: 1 } }),
  ];
  const is = (key: string): Condition => ({
    kind: 'compare',
    field: `event_properties.${key}`,
    operator: '=',
    value: 1,
  });
  test.each<[string, readonly Condition[], number]>([
    ['joins stages with and', [is('a'), is('b')], 1],
    ['supports nesting', [{ kind: 'and', terms: [is('a'), { kind: 'or', terms: [is('b'), is('c')] }] }], 2],
    ['joins with or', [{ kind: 'or', terms: [is('b'), is('c')] }], 3],
    ['finds existing values', [{ kind: 'exists', field: 'event_properties.b', negated: false }], 1],
    ['finds missing values', [{ kind: 'exists', field: 'event_properties.b', negated: true }], 2],
    ['finds one of several', [{ kind: 'in', field: 'user_id', negated: false, values: ['u1', 'u3'] }], 2],
    ['finds values not in a list', [{ kind: 'in', field: 'event_properties.a', negated: true, values: [1, 2] }], 1],
  ])('%s', (_rule, where, expected) => expect(tuples(views({ where }), { events })).toEqual([[expected]]));
});

describe('list in the oracle', () => {
  test('has raw rows, newest first, with null for missing values', () => {
    const events = [
      event({ event_type: 'view', time: ago(2), insert_id: 'a', device_id: 'd1', derived: { _os: 'Linux', _ip: '' } }),
      by('u1', 'view', ago(1), { insert_id: 'b', event_properties: { n: null, x: 5 }, session_id: 's' }),
    ];
    const { columns, rows, mode } = ask(views({ reading: { kind: 'list' } }), { events });
    expect(mode).toBe('list');
    expect(columns).toHaveLength(16);
    expect(rows.map((row) => row.insert_id)).toEqual(['b', 'a']);
    expect(rows[0]).toMatchObject({
      user_id: 'u1',
      device_id: null,
      session_id: 's',
      event_properties: { n: null, x: 5 },
    });
    expect(rows[1]).toMatchObject({ user_id: null, device_id: 'd1', _os: 'Linux', _ip: null, _platform: null });
  });

  test('allows any order of events with equal times, also at a limit', () => {
    const events = ['a', 'b', 'c'].map((insert_id) => by('u1', 'view', ago(1), { insert_id }));
    const { rows, ranks, spare } = ask(views({ reading: { kind: 'list' }, ending: { kind: 'limit', count: 2 } }), {
      events,
    });
    expect(rows).toHaveLength(2);
    expect(ranks).toEqual([0, 0]);
    expect(spare).toHaveLength(1);
  });
});

describe('limit, top and sort in the oracle', () => {
  const events = valued('a', 'b', 'b', 'c', 'c', 'c');
  const groups = reading(COUNT, field('event_properties.v'));
  test.each<[string, EventsQuestion['ending'], unknown[][]]>([
    ['limit keeps the first', { kind: 'limit', count: 1 }, [['c', 3]]],
    [
      'top sorts by the metric',
      { kind: 'top', count: 2 },
      [
        ['c', 3],
        ['b', 2],
      ],
    ],
    [
      'sort uses a column',
      { kind: 'sort', column: 'event_properties.v', descending: false, limit: 2 },
      [
        ['a', 1],
        ['b', 2],
      ],
    ],
    [
      'sort uses the metric',
      { kind: 'sort', column: 'count', descending: false },
      [
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ],
    ],
    [
      'sort orders the rows that top keeps',
      { kind: 'sort', column: 'event_properties.v', descending: false, top: 2 },
      [
        ['b', 2],
        ['c', 3],
      ],
    ],
  ])('%s', (_rule, ending, expected) => {
    const question = views({ reading: groups, ...(ending === undefined ? {} : { ending }) });
    expect(tuples(question, { events })).toEqual(expected);
  });

  test('top sorts days by metric', () => {
    const days = [
      by('u1', 'view', at('2026-11-18')),
      by('u2', 'view', at('2026-11-18')),
      by('u1', 'view', at('2026-11-15')),
    ];
    const question = views({ reading: reading(COUNT, byTime('day')), ending: { kind: 'top', count: 2 } });
    expect(tuples(question, { events: days })).toEqual([
      ['2026-11-18', 2],
      ['2026-11-15', 1],
    ]);
  });
});

describe('fields of profiles and sessions in the oracle', () => {
  const page = (path: string) => ({ _url: `https://x.example${path}`, _path: path });
  const events = [
    by('u1', 'start', ago(60), { session_id: 's1' }),
    by('u1', 'view', ago(50), { session_id: 's1', derived: { ...page('/in'), _geo_country: '' } }),
    by('u1', 'end', ago(40), {
      session_id: 's1',
      derived: { ...page('/out'), _geo_country: 'DE' },
      event_properties: { utm_source: 'ads' },
    }),
    by('u1', 'end', ago(20), { session_id: 's2', derived: page('/later') }),
  ];
  const profiles = [profile('u1', { email: 'ann@example.com', properties: { plan: 'pro' } })];
  test.each([
    ['user.plan', 'pro'],
    ['user.email_domain', 'example.com'],
    ['user.nothing', null],
    ['session.landing_path', '/in'],
    ['session.exit_path', '/out'],
    ['session.event_count', '3'],
    ['session.duration', '1200'],
    ['session.utm_source', 'ads'],
    ['session.country', 'DE'],
    ['session.start_time', '2026-11-20T08:30:00.000Z'],
    ['user_last_session.landing_path', '/later'],
    ['user_last_session.event_count', '1'],
  ])('%s is %j', (name, expected) => {
    const question = views({ reading: reading(COUNT, field(name)) });
    expect(tuples(question, { events, profiles })).toEqual([[expected, 1]]);
  });

  test('use the whole session, also outside of the range', () => {
    const range = { kind: 'last', span: { count: 45, unit: 'm' } } as const;
    const question: EventsQuestion = {
      source: 'events',
      event: 'end',
      range,
      reading: reading(COUNT, field('session.event_count')),
    };
    expect(tuples(question, { events })).toEqual([
      ['1', 1],
      ['3', 1],
    ]);
  });

  test('ignore a session that begins after now', () => {
    const later = [...events, by('u1', 'view', NOW + 1000, { session_id: 's3', derived: page('/future') })];
    const question = views({ reading: reading(COUNT, field('user_last_session.exit_path')) });
    expect(tuples(question, { events: later })).toEqual([['/later', 1]]);
  });
});

describe('source user in the oracle', () => {
  const events = [
    by('u1', 'view', ago(3)),
    event({ event_type: 'pay', time: ago(2), device_id: 'd1' }),
    by('u2', 'view', ago(1)),
    by('u1', 'old', ago(31 * 24 * 60)),
  ];
  const mappings = [{ project: 'main', device_id: 'd1', user_id: 'u1', updated_at: 0 }];
  const profiles = [profile('u1', { email: 'ann@example.com' })];
  test.each([
    ['u1', ['pay', 'view']],
    ['ann@example.com', ['pay', 'view']],
    ['d1', []],
    ['u2', ['view']],
  ])('%s has the events %j', (id, expected) => {
    const { rows, mode } = ask({ source: 'user', id }, { events, mappings, profiles });
    expect(mode).toBe('user');
    expect(rows.map((row) => row.event_type)).toEqual(expected);
  });

  test('can be counted', () => {
    expect(tuples({ source: 'user', id: 'u1', reading: reading(COUNT) }, { events, mappings })).toEqual([[2]]);
  });
});
