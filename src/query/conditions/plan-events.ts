// Plans event patterns as expressions over a row of events: its type is one of these, and its
// condition holds.
import type { ProjectId } from '../../platform/ids.js';
import type { EventSet } from '../analyze/resolved.js';
import { allOf, column, type Expression, equals, isOneOf, TRUE, textValue, textValues } from '../plan/expressions.js';
import { planCondition } from './plan.js';

/** Whether the event has one of these types. */
export function isOfType(types: readonly string[]): Expression {
  const [first] = types;
  if (types.length === 1 && first !== undefined) return equals(column('event_type'), textValue(first));
  return isOneOf(column('event_type'), textValues(types));
}

/** Whether the event is in the set. */
export function isIn({ eventTypes, condition }: Omit<EventSet, 'name'>, projectId: ProjectId): Expression {
  const parts = [
    ...(eventTypes ? [isOfType(eventTypes)] : []),
    ...(condition ? [planCondition(condition, projectId)] : []),
  ];
  return parts.length === 0 ? TRUE : allOf(parts);
}

/** Types of all sets together; undefined when one has events of any type. */
export function typesOf(sets: readonly EventSet[]): readonly string[] | undefined {
  const types = sets.flatMap(({ eventTypes }) => eventTypes ?? []);
  return sets.some(({ eventTypes }) => eventTypes === undefined) ? undefined : [...new Set(types)];
}

/** Filters of a scan that reads all sets: nothing when one has events of any type. */
export function areOfTypes(sets: readonly EventSet[]): Expression[] {
  const types = typesOf(sets);
  return types && types.length > 0 ? [isOfType(types)] : [];
}
