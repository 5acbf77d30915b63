// Plans the comparison of a call with numbers. The value is a column that the scan joins
// (people/behaviour.ts): 0 or null where nothing was counted.
import { assertNever } from '../../platform/errors.js';
import type { CallCondition, ResolvedCall } from '../analyze/resolved.js';
import {
  column,
  type Expression,
  equals,
  infix,
  isOneOf,
  nullAsFalse,
  numberValue,
  numberValues,
} from '../plan/expressions.js';
import { person, readGroup } from '../plan/field-expressions.js';
import { fn } from '../plan/functions.js';

/** What events with an equal field have in common: the hash of an id, where there is one. */
export function keyOfEvent({ key }: ResolvedCall): Expression {
  if (key.kind === 'distinct_id') return person;
  if (key.kind === 'column' && key.field.hash) return column(key.field.hash);
  return readGroup(key).expression;
}

/** Null without values, instead of 0. */
const isNullable = ({ measure }: ResolvedCall): boolean => measure.kind === 'numeric' && measure.function !== 'sum';

export function planCall({ call, test }: CallCondition): Expression {
  const key = call.rows === 'profiles' ? column('user_hash') : keyOfEvent(call);
  const value: Expression = { kind: 'call_value', call, key };
  const passes = planTest(value, test);
  return isNullable(call) && test.operator !== 'exists' ? nullAsFalse(passes) : passes;
}

function planTest(value: Expression, test: CallCondition['test']): Expression {
  switch (test.operator) {
    case 'in': {
      const [only] = test.values;
      return only !== undefined && test.values.length === 1
        ? equals(value, numberValue(only))
        : isOneOf(value, numberValues(test.values));
    }
    case '<':
    case '<=':
    case '>':
    case '>=':
      return infix(test.operator, value, numberValue(test.value));
    case 'exists':
      return fn.isNotNull(value);
    default:
      return assertNever(test);
  }
}
