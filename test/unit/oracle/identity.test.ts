// Oracle: distinct_id, device mappings, duplicates and projects.
import { describe, expect, test } from 'vitest';
import { type Event, event } from '../../oracle/history.js';
import type { EventsQuestion } from '../../oracle/question.js';
import { ago, ask, type Given, mapping } from './asking.js';

const PEOPLE: EventsQuestion = {
  source: 'events',
  event: null,
  reading: { kind: 'aggregate', aggregate: { kind: 'count' }, by: [{ kind: 'field', field: 'distinct_id' }] },
};

function people(given: Given): (string | null)[] {
  return ask(PEOPLE, given).rows.flatMap((row) => Array(Number(row.count)).fill(row.distinct_id));
}

let serial = 0;
const tracked = (user_id: string | null, device_id: string | null): Event => {
  serial += 1;
  return event({ event_type: 'view', time: ago(serial), user_id, device_id });
};

describe('distinct_id in the oracle', () => {
  test.each<[string, Given, (string | null)[]]>([
    ['is the user of the event', { events: [tracked('u1', 'd1')], mappings: [mapping('d1', 'u2')] }, ['u1']],
    ['is else the user of the device', { events: [tracked(null, 'd1')], mappings: [mapping('d1', 'u2')] }, ['u2']],
    ['is else the device', { events: [tracked(null, 'd1')], mappings: [mapping('d2', 'u2')] }, ['d1']],
    ['is else null', { events: [tracked(null, null)] }, [null]],
    [
      'follows the latest mapping, whichever was stored last',
      { events: [tracked(null, 'd1')], mappings: [mapping('d1', 'new', 2), mapping('d1', 'old', 1)] },
      ['new'],
    ],
    [
      'follows the mapping stored last when two are of one time',
      { events: [tracked(null, 'd1')], mappings: [mapping('d1', 'first', 1), mapping('d1', 'second', 1)] },
      ['second'],
    ],
    [
      'takes one hop only',
      { events: [tracked(null, 'd1')], mappings: [mapping('d1', 'd2'), mapping('d2', 'u2')] },
      ['d2'],
    ],
    ['joins a device and a user of one name', { events: [tracked('d1', null), tracked(null, 'd1')] }, ['d1', 'd1']],
    [
      'ignores the mappings of another project',
      { events: [tracked(null, 'd1')], mappings: [{ ...mapping('d1', 'u2'), project: 'other' }] },
      ['d1'],
    ],
  ])('%s', (_rule, given, expected) => expect(people(given)).toEqual(expected));

  test('counts as no person when absent', () => {
    const events = [tracked(null, null), tracked('u1', null)];
    const unique = { kind: 'aggregate', aggregate: { kind: 'unique' }, by: [] } as const;
    expect(ask({ source: 'events', event: null, reading: unique }, { events }).rows).toEqual([
      { unique_count: 1, value: 1, metric: 'unique' },
    ]);
  });
});

describe('two events with equal keys', () => {
  const first = event({
    event_type: 'view',
    time: ago(5),
    insert_id: 'i',
    user_id: 'u1',
    event_properties: { plan: 'a' },
  });

  test.each<[string, Event, number]>([
    ['are one', { ...first, user_id: 'u2', event_properties: { plan: 'b' } }, 1],
    ['are two when their types differ', { ...first, event_type: 'pay' }, 2],
    ['are two when their times differ by a millisecond', { ...first, time: first.time + 1 }, 2],
    ['are two when their insert_ids differ', { ...first, insert_id: 'j' }, 2],
    ['are in two projects when their projects differ', { ...first, project: 'other' }, 1],
  ])('%s', (_rule, second, expected) => {
    expect(ask({ source: 'events', event: null }, { events: [first, second] }).rows[0]?.count).toBe(expected);
  });

  test('keep all of the event stored first', () => {
    const second = { ...first, user_id: 'u2', event_properties: { other: 1 } };
    const list = { source: 'events', event: 'view', reading: { kind: 'list' } } as const;
    expect(ask(list, { events: [first, second] }).rows).toMatchObject([
      { user_id: 'u1', event_properties: { plan: 'a' } },
    ]);
  });

  test('are de-duplicated before filters', () => {
    const second = { ...first, event_properties: { plan: 'b' } };
    const where = [{ kind: 'compare', field: 'event_properties.plan', operator: '=', value: 'b' }] as const;
    expect(ask({ source: 'events', event: 'view', where }, { events: [first, second] }).rows[0]?.count).toBe(0);
  });
});

test('a project has no events of another', () => {
  const events = [tracked('u1', null), { ...tracked('u2', null), project: 'other' }];
  expect(people({ events })).toEqual(['u1']);
  expect(people({ events, project: 'other' })).toEqual(['u2']);
});
