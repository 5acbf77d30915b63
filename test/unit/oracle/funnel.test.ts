// Oracle: funnels.
import { describe, expect, test } from 'vitest';
import type { Event } from '../../oracle/history.js';
import { event } from '../../oracle/history.js';
import type { FunnelQuestion } from '../../oracle/question.js';
import { ago, ask, by, mapping, NOW, tuples } from './asking.js';

const BASE = ago(600);
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Events of one user: type and milliseconds after the base, in any order. */
function does(user: string, ...steps: (readonly [string, number])[]): Event[] {
  return steps.map(([type, offset], index) => by(user, type, BASE + offset, { insert_id: `${user}-${index}` }));
}

const abc = (rest: Partial<FunnelQuestion> = {}): FunnelQuestion => ({
  source: 'funnel',
  steps: ['a', 'b', 'c'],
  exclude: [],
  ...rest,
});

/** Users at each step. */
const users = (question: FunnelQuestion, events: readonly Event[]) => tuples(question, { events }).map((row) => row[2]);

describe('steps of a funnel', () => {
  test.each<[string, Event[], number[]]>([
    ['are taken in order', does('u', ['a', 0], ['b', 1], ['c', 2]), [1, 1, 1]],
    ['are not taken out of order', does('u', ['b', 0], ['a', 1], ['c', 2]), [1, 0, 0]],
    ['may be far apart within the window', does('u', ['a', 0], ['b', HOUR]), [1, 1, 0]],
    ['end with the window of the first', does('u', ['a', 0], ['b', 1], ['c', HOUR + 1]), [1, 1, 0]],
    ['may be of one time, in step order', does('u', ['c', 0], ['b', 0], ['a', 0]), [1, 1, 1]],
    [
      'start again with a later first step',
      does('u', ['a', 0], ['b', 2 * HOUR + 1], ['a', 2 * HOUR], ['c', 3 * HOUR]),
      [1, 1, 1],
    ],
    ['ignore other events between', does('u', ['a', 0], ['x', 1], ['b', 2]), [1, 1, 0]],
    ['are of one person', [...does('u', ['a', 0]), ...does('v', ['b', 1])], [1, 0, 0]],
  ])('%s', (_rule, events, expected) => expect(users(abc(), events)).toEqual(expected));

  test('each require an event of their own', () => {
    const twice = abc({ steps: ['a', 'a'] });
    expect(users(twice, does('u', ['a', 0]))).toEqual([1, 0]);
    expect(users(twice, does('u', ['a', 0], ['a', 0]))).toEqual([1, 1]);
    expect(users(abc({ steps: ['a', 'b', 'a'] }), does('u', ['a', 0], ['b', 0]))).toEqual([1, 1, 0]);
    expect(users(abc({ steps: ['a', 'b', 'a'] }), does('u', ['a', 0], ['b', 0], ['a', 0]))).toEqual([1, 1, 1]);
  });

  test('that overlap take events of one time in step order', () => {
    const any = [
      { event: 'a', where: [] },
      { event: 'b', where: [] },
    ];
    const overlapping = abc({ steps: ['a', any] });
    for (const order of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      expect(users(overlapping, does('u', ...order.map((type) => [type, 0] as const)))).toEqual([1, 1]);
    }
    expect(users(overlapping, does('u', ['a', 0]))).toEqual([1, 0]);
  });

  test('must all lie in the range', () => {
    const events = [
      by('u', 'a', ago(7 * 24 * 60 + 1)),
      by('u', 'b', ago(7 * 24 * 60)),
      by('v', 'a', NOW - 1),
      by('v', 'b', NOW),
    ];
    expect(users(abc(), events)).toEqual([1, 0, 0]);
  });

  test('join events of a device with the person it is mapped to', () => {
    const anonymous = event({ event_type: 'a', time: BASE, device_id: 'd1' });
    const events = [anonymous, ...does('u', ['b', 1])];
    expect(tuples(abc(), { events, mappings: [mapping('d1', 'u')] }).map((row) => row[2])).toEqual([1, 1, 0]);
    expect(tuples(abc(), { events }).map((row) => row[2])).toEqual([1, 0, 0]);
  });

  test('ignore events without a distinct_id', () => {
    expect(users(abc(), [event({ event_type: 'a', time: BASE })])).toEqual([0, 0, 0]);
  });
});

describe('exclude in a funnel', () => {
  const question = abc({ exclude: ['x', 'y'] });
  test.each<[string, Event[], number[]]>([
    [
      'ends an attempt between two steps, and keeps the steps reached',
      does('u', ['a', 0], ['b', 1], ['x', 2], ['c', 3]),
      [1, 1, 0],
    ],
    ['ends an attempt at any of the excluded events', does('u', ['a', 0], ['y', 1], ['b', 2]), [1, 0, 0]],
    ['does not break before the first step', does('u', ['x', 0], ['a', 1], ['b', 2], ['c', 3]), [1, 1, 1]],
    ['does not break after the last', does('u', ['a', 0], ['b', 1], ['c', 2], ['x', 3]), [1, 1, 1]],
    ['does not break at the time of the step before', does('u', ['a', 0], ['x', 0], ['b', 1]), [1, 1, 0]],
    ['breaks at the time of the next step', does('u', ['a', 0], ['x', 1], ['b', 1]), [1, 0, 0]],
    ['does not break where all are of one time', does('u', ['a', 0], ['x', 0], ['b', 0]), [1, 1, 0]],
    ['keeps a later attempt', does('u', ['a', 0], ['x', 1], ['a', 2], ['b', 3], ['c', 4]), [1, 1, 1]],
    ['is not healed by a later event of the step', does('u', ['a', 0], ['x', 1], ['b', 2], ['b', 3]), [1, 0, 0]],
  ])('%s', (_rule, events, expected) => expect(users(question, events)).toEqual(expected));
});

test('where filters all events, also excluded ones', () => {
  const marked = (type: string, offset: number, plan: string) =>
    by('u', type, BASE + offset, { insert_id: `${offset}`, event_properties: { plan } });
  const where = [{ kind: 'compare', field: 'event_properties.plan', operator: '=', value: 'p' }] as const;
  const question = abc({ exclude: ['x'], where });
  expect(users(question, [marked('a', 0, 'p'), marked('x', 1, 'q'), marked('b', 2, 'p'), marked('c', 3, 'q')])).toEqual(
    [1, 1, 0],
  );
});

test('columns are the rates of the first and the previous step, and the median time from the first', () => {
  const events = [
    ...does('u1', ['a', 0], ['b', 10 * SECOND], ['c', 30 * SECOND]),
    ...does('u2', ['a', 0], ['b', 20 * SECOND]),
    ...does('u3', ['a', 0], ['b', 25 * SECOND]),
    ...does('u4', ['a', 0], ['b', 26 * SECOND + 500]),
    ...does('u5', ['a', 0]),
  ];
  expect(ask(abc(), { events }).columns).toEqual(['step', 'event', 'users', 'rate', 'step_rate', 'median_seconds']);
  expect(tuples(abc(), { events })).toEqual([
    [1, 'a', 5, 1, 1, null],
    [2, 'b', 4, 0.8, 0.8, 22.5],
    [3, 'c', 1, 0.2, 0.25, 30],
  ]);
});

test('a funnel without people has a row for each step', () => {
  expect(tuples(abc(), {})).toEqual([
    [1, 'a', 0, null, 1, null],
    [2, 'b', 0, null, null, null],
    [3, 'c', 0, null, null, null],
  ]);
});

test('the best attempt counts, and the earliest of equals', () => {
  const events = does('u', ['a', 0], ['b', 40 * MINUTE], ['a', 2 * HOUR], ['b', 2 * HOUR + MINUTE]);
  expect(tuples(abc({ steps: ['a', 'b'] }), { events })[1]).toEqual([2, 'b', 1, 1, 1, 2400]);
  const better = [
    ...events,
    ...does('u', ['c', 2 * HOUR + 2 * MINUTE]).map((last) => ({ ...last, insert_id: 'last' })),
  ];
  expect(tuples(abc(), { events: better })[1]).toEqual([2, 'b', 1, 1, 1, 60]);
});

test('window limits the time from the first step', () => {
  const events = does('u', ['a', 0], ['b', 2 * HOUR], ['c', 24 * HOUR]);
  const late = NOW + 24 * HOUR;
  const asked = (window: FunnelQuestion['window']) =>
    tuples(abc(window === undefined ? {} : { window }), { events, now: late }).map((row) => row[2]);
  expect(asked(undefined)).toEqual([1, 0, 0]);
  expect(asked({ count: 120, unit: 'm' })).toEqual([1, 1, 0]);
  expect(asked({ count: 1, unit: 'd' })).toEqual([1, 1, 1]);
});

test('a breakdown uses the first step of the counted attempt, sorted by people', () => {
  const on = (platform: string | undefined, events: Event[]) =>
    events.map((own, index) => ({
      ...own,
      derived: index > 0 || platform === undefined ? {} : { _platform: platform },
    }));
  const events = [
    ...on('ios', does('u1', ['a', 0], ['b', 1])),
    ...on('web', does('u2', ['a', 0])),
    ...on('web', does('u3', ['a', 0], ['b', 1])),
    ...on(undefined, does('u4', ['a', 0])),
  ];
  const question = abc({ steps: ['a', 'b'], by: '_platform' });
  expect(ask(question, { events }).columns[0]).toBe('_platform');
  expect(tuples(question, { events }).map((row) => row.slice(0, 4))).toEqual([
    ['web', 1, 'a', 2],
    ['web', 2, 'b', 1],
    ['ios', 1, 'a', 1],
    ['ios', 2, 'b', 1],
    [null, 1, 'a', 1],
    [null, 2, 'b', 0],
  ]);
});
