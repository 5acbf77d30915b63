// Group key of `per E`: people, sessions, or the values of another field, each with the value to
// show.
import type { ResolvedField } from '../analyze/resolved.js';
import type { Expression } from './expressions.js';
import { isPresentField, person, personText, readText, timeText } from './field-expressions.js';
import { fn } from './functions.js';

/** People are grouped by hash and shown by id. */
export function planEntity(entity: ResolvedField): { key: Expression; shown: Expression; isThere: Expression } {
  if (entity.kind === 'distinct_id') {
    return { key: person, shown: fn.any(personText), isThere: isPresentField(entity) };
  }
  const { expression, type } = readText(entity);
  const key = type === 'time' ? timeText(expression) : type === 'number' ? fn.toString(expression) : expression;
  const isThere = type === 'nullable_text' ? fn.isNotNull(expression) : isPresentField(entity);
  return { key, shown: fn.any(key), isThere };
}
