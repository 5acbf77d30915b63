// Generators of outcomes of experiments: conversions to an event, and values of units.
import fc from 'fast-check';
import { record } from './generate.js';
import type * as ask from './question.js';

const NUMBERS = ['event_properties.amount', 'event_properties.cart.total', 'user.seats'];

export function outcomes(
  events: fc.Arbitrary<string>,
  sets: fc.Arbitrary<ask.Events>,
  guardSets: fc.Arbitrary<ask.Events>,
): fc.Arbitrary<Pick<ask.Results, 'event' | 'value' | 'cuped' | 'guards' | 'plan'>> {
  const values = record({
    function: fc.constantFrom('sum' as const, 'avg' as const),
    event: sets,
    field: fc.constantFrom(...NUMBERS),
    isWhole: fc.boolean(),
  });
  const plans = fc.oneof(
    fc.constant({}),
    fc.constantFrom(0.5, 10, 60, 400).map((plan) => ({ plan })),
  );
  const guards = fc.oneof(
    fc.constant({}),
    fc.array(guardSets, { minLength: 1, maxLength: 2 }).map((drawn) => ({ guards: drawn })),
  );
  const spans = fc.constantFrom<ask.Span[]>({ count: 14, unit: 'd' }, { count: 6, unit: 'h' });
  return fc.oneof(
    fc.tuple(events, guards, plans).map(([event, guarded, planned]) => ({ event, ...guarded, ...planned })),
    fc.tuple(values, guards, fc.option(spans, { nil: undefined }), plans).map(([value, guarded, cuped, planned]) => ({
      event: '',
      value,
      ...(value.function === 'sum' && cuped !== undefined && { cuped }),
      ...guarded,
      ...planned,
    })),
  );
}
