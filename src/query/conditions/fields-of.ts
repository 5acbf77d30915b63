// The fields that a condition on one row reads.
import type { Condition, ResolvedField } from '../analyze/resolved.js';

/** Without those of calls, which are fields of other events. */
export function fieldsOf(condition: Condition): readonly ResolvedField[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.items.flatMap(fieldsOf);
    case 'not':
      return fieldsOf(condition.item);
    case 'person':
    case 'call':
      return [];
    default:
      return [condition.field];
  }
}
