// Oracle: results of experiments (`choice`).
import { describe, expect, test } from 'vitest';
import type { Event, PropertyValue } from '../../oracle/history.js';
import { event } from '../../oracle/history.js';
import type { ChoiceQuestion } from '../../oracle/question.js';
import { ago, ask, by, mapping, tuples } from './asking.js';

const DAY = 24 * 60;

function exposed(user: string | null, variant: string, minutes: number, known: Partial<Event> = {}): Event {
  const { event_properties, ...rest } = known;
  const properties: Record<string, PropertyValue> = { choice_key: 'c', variant_key: variant, ...event_properties };
  return event({
    event_type: 'service.exposure',
    time: ago(minutes),
    user_id: user,
    insert_id: `${user}-${variant}-${minutes}`,
    ...rest,
    event_properties: properties,
  });
}

const results = (rest: Partial<NonNullable<ChoiceQuestion['results']>> = {}): ChoiceQuestion => ({
  source: 'choice',
  choice: 'c',
  results: { event: 'pay', ...rest },
});

/** Variant, exposures and conversions. */
const variants = (question: ChoiceQuestion, events: Event[], mappings = [mapping('d1', 'u1')]) =>
  tuples(question, { events, mappings }).map((row) => row.slice(0, 3));

const diagnostics = (events: Event[], question = results()) => ask(question, { events }).beside?.diagnostics;

describe('a unit of a choice', () => {
  test('is counted once, in the variant of its first exposure', () => {
    const events = [exposed('u1', 'a', 9), exposed('u1', 'a', 8), exposed('u2', 'control', 7)];
    expect(variants(results(), events)).toEqual([
      ['a', 1, 0],
      ['control', 1, 0],
    ]);
  });

  test('is a person over all devices', () => {
    const events = [exposed(null, 'a', 9, { device_id: 'd1' }), exposed('u1', 'a', 8)];
    expect(variants(results(), events)).toEqual([['a', 1, 0]]);
    expect(variants(results(), events, [])).toEqual([['a', 2, 0]]);
  });

  test('with two variants is excluded and counted in diagnostics', () => {
    const events = [exposed('u1', 'a', 9), exposed('u1', 'control', 8), exposed('u2', 'a', 7)];
    expect(variants(results(), events)).toEqual([
      ['a', 1, 0],
      ['control', 0, 0],
    ]);
    expect(diagnostics(events)).toMatchObject({ multi_variant_units: 1 });
  });

  test('may be any field, and exposures without it are ignored', () => {
    const events = [
      exposed('u1', 'a', 9, { session_id: 's1' }),
      exposed('u1', 'a', 8, { session_id: 's2' }),
      exposed('u1', 'a', 7),
    ];
    expect(variants(results({ unit: 'session_id' }), events)).toEqual([['a', 2, 0]]);
    expect(diagnostics(events, results({ unit: 'session_id' }))).toMatchObject({ exposures_without_unit: 1 });
  });

  test('of another choice is ignored', () => {
    expect(variants(results(), [exposed('u1', 'a', 9, { event_properties: { choice_key: 'other' } })])).toEqual([]);
  });
});

describe('a conversion of a choice', () => {
  const EXPOSED = 10 * DAY;
  test.each<[string, number, number]>([
    ['at the exposure counts', EXPOSED, 1],
    ['before it does not', EXPOSED + 1, 0],
    ['at the end of the window counts', EXPOSED - 7 * DAY, 1],
    ['after it does not', EXPOSED - 7 * DAY - 1, 0],
  ])('%s', (_rule, minutes, expected) => {
    const events = [exposed('u1', 'a', EXPOSED), by('u1', 'pay', ago(minutes))];
    expect(variants(results(), events)).toEqual([['a', 1, expected]]);
  });

  test('counts once per unit', () => {
    const events = [exposed('u1', 'a', 9), by('u1', 'pay', ago(8)), by('u1', 'pay', ago(7)), by('u2', 'pay', ago(7))];
    expect(tuples(results(), { events })).toEqual([['a', 1, 1, 1, null, null, 1]]);
  });

  test('may come after the range, which bounds exposures only', () => {
    const range = { kind: 'from', from: '2026-11-10', to: '2026-11-12' } as const;
    const events = [exposed('u1', 'a', 9 * DAY), by('u1', 'pay', ago(7 * DAY)), exposed('u2', 'a', 7 * DAY)];
    expect(variants({ ...results(), range }, events)).toEqual([['a', 1, 1]]);
  });
});

describe('diagnostics of a choice', () => {
  test('have the expected ratios of the weights', () => {
    const weighing = (user: string, variant: string, variant_weight: number) =>
      exposed(user, variant, 9, { event_properties: { variant_weight } });
    const events = [weighing('u1', 'a', 3), weighing('u2', 'control', 1)];
    expect(diagnostics(events)).toMatchObject({ expected_ratios: { a: 0.75, control: 0.25 } });
    expect(diagnostics([exposed('u1', 'a', 9), exposed('u2', 'b', 8)])).toMatchObject({
      expected_ratios: { a: 0.5, b: 0.5 },
    });
  });

  test('have the immature units and the times of the exposures', () => {
    const old = [exposed('u1', 'a', 8 * DAY), exposed('u2', 'a', 7 * DAY), exposed('u3', 'a', 6 * DAY)];
    const events = [...old, exposed('u4', 'a', 6 * DAY), by('u4', 'pay', ago(5 * DAY))];
    expect(diagnostics(events)).toMatchObject({
      immature_units: 1,
      first_exposure_at: '2026-11-12T09:30:00.000Z',
      last_exposure_at: '2026-11-14T09:30:00.000Z',
    });
  });
});

test('exposures are a source whose properties need no prefix', () => {
  const events = [exposed('u1', 'a', 9), exposed('u1', 'a', 8), exposed('u2', 'b', 7), by('u1', 'pay', ago(6))];
  const grouped = [{ kind: 'field', field: 'variant_key' }] as const;
  const question: ChoiceQuestion = {
    source: 'choice',
    choice: 'c',
    reading: { kind: 'aggregate', aggregate: { kind: 'count' }, by: grouped },
  };
  expect(tuples(question, { events })).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
  expect(tuples({ source: 'choice', choice: 'c' }, { events })).toEqual([[3]]);
});
