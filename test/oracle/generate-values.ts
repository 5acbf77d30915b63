// Generators of outcomes of experiments: conversions to an event, and values of units.
import fc from 'fast-check';
import { record } from './generate.js';
import type * as ask from './question.js';

const NUMBERS = ['event_properties.amount', 'event_properties.cart.total', 'user.seats'];

export function outcomes(
  events: fc.Arbitrary<string>,
  sets: fc.Arbitrary<ask.Events>,
  guardSets: fc.Arbitrary<ask.Events>,
): fc.Arbitrary<Pick<ask.Results, 'event' | 'value' | 'cuped' | 'guards'>> {
  const values = record({
    function: fc.constantFrom('sum' as const, 'avg' as const),
    event: sets,
    field: fc.constantFrom(...NUMBERS),
    isWhole: fc.boolean(),
  });
  const guards = fc.oneof(
    fc.constant({}),
    fc.array(guardSets, { minLength: 1, maxLength: 2 }).map((drawn) => ({ guards: drawn })),
  );
  const spans = fc.constantFrom<ask.Span[]>({ count: 14, unit: 'd' }, { count: 6, unit: 'h' });
  return fc.oneof(
    fc.tuple(events, guards).map(([event, guarded]) => ({ event, ...guarded })),
    fc.tuple(values, guards, fc.option(spans, { nil: undefined })).map(([value, guarded, cuped]) => ({
      event: '',
      value,
      ...(value.function === 'sum' && cuped !== undefined && { cuped }),
      ...guarded,
    })),
  );
}
