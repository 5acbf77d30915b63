// Generators of calls in conditions: `count(purchase last 30d per session_id) >= 3`.
import fc from 'fast-check';
import { record } from './generate.js';
import type * as ask from './question.js';

const NUMBERS = ['event_properties.amount', 'event_properties.cart.total', 'user.seats'];
const TEXTS = ['event_properties.plan', '_path', 'device_id', 'event_type', 'user.plan'];
const KEYS = ['session_id', 'device_id', 'user_id', 'distinct_id', 'event_properties.plan', 'user.plan', '_platform'];

const SPANS: readonly ask.Span[] = [
  { count: 90, unit: 'm' },
  { count: 36, unit: 'h' },
  { count: 7, unit: 'd' },
  { count: 30, unit: 'd' },
  { count: 2, unit: 'mo' },
];

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 1 });

/** `hasKeys`: whether calls take `per`. */
export function calls(events: fc.Arbitrary<ask.Events>, hasKeys: boolean): fc.Arbitrary<ask.CallCondition> {
  return record({
    function: fc.constantFrom('count' as const, 'count' as const, 'sum', 'avg', 'min', 'max', 'unique'),
    event: events,
    number: fc.constantFrom(...NUMBERS),
    text: maybe(fc.constantFrom(...TEXTS)),
    last: maybe(fc.constantFrom(...SPANS)),
    per: hasKeys ? maybe(fc.constantFrom(...KEYS)) : fc.constant(undefined),
    operator: fc.constantFrom<ask.CallCondition['operator'][]>('>=', '=', '!=', '<', '<=', '>'),
    value: fc.constantFrom(1, 2, 0, 3, 5, -3, 10),
  }).map(({ function: name, event, number, text, last, per, operator, value }): ask.CallCondition => {
    const field = name === 'count' ? undefined : name === 'unique' ? text : number;
    return {
      kind: 'call',
      function: name,
      event,
      ...(field !== undefined && { field }),
      ...(last !== undefined && { last }),
      ...(per !== undefined && { per }),
      operator,
      value,
    };
  });
}

/** Some of the conditions, besides calls: alone, joined with `and`, or as one of several. */
export function withCalls(
  wheres: fc.Arbitrary<ask.Condition[]>,
  call: fc.Arbitrary<ask.CallCondition>,
): fc.Arbitrary<ask.Condition[]> {
  const some = fc.array(call, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    { weight: 8, arbitrary: wheres },
    fc.tuple(wheres, some).map(([where, terms]): ask.Condition[] => [...where, ...terms]),
    fc.tuple(wheres, some).map(([where, terms]): ask.Condition[] => {
      const all = [...where, ...terms];
      return all.length === 1 ? all : [{ kind: 'or', terms: all }];
    }),
  );
}
