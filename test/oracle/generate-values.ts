// Generators of outcomes of experiments: conversions to an event, and values of units.
import fc from 'fast-check';
import { record } from './generate.js';
import type * as ask from './question.js';

const NUMBERS = ['event_properties.amount', 'event_properties.cart.total', 'user.seats'];

export function outcomes(
  events: fc.Arbitrary<string>,
  sets: fc.Arbitrary<ask.Events>,
): fc.Arbitrary<Pick<ask.Results, 'event' | 'value'>> {
  const values = record({
    function: fc.constantFrom('sum' as const, 'avg' as const),
    event: sets,
    field: fc.constantFrom(...NUMBERS),
    isWhole: fc.boolean(),
  });
  return fc.oneof(
    events.map((event) => ({ event })),
    values.map((value) => ({ event: '', value })),
  );
}
