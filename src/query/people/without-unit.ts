// Counts the events that a query with a unit leaves out, because they have none.
import type { EventSelection, EventSet, Unit } from '../analyze/resolved.js';
import { areOfTypes, isIn } from '../conditions/plan-events.js';
import { subjectOf } from '../plan/distinct.js';
import { anyOf, type Expression } from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import type { WithoutUnit } from '../plan/plan.js';
import { type PlanContext, selectEvents } from './scan.js';

interface Counted {
  readonly unit: Unit;
  readonly selection: EventSelection;
  /** The events of the query; those of the selection, when left out. */
  readonly sets?: readonly EventSet[];
}

export function planWithoutUnit(context: PlanContext, { unit, selection, sets }: Counted): WithoutUnit {
  const ofSets = sets ? isOfAny(sets, context) : [];
  const filter = [...ofSets, fn.not(subjectOf(unit).isPresent)];
  return { unit: unit.name, count: selectEvents(context, { selection, columns: { events: fn.count() }, filter }) };
}

function isOfAny(sets: readonly EventSet[], { projectId }: PlanContext): Expression[] {
  const types = areOfTypes(sets);
  if (sets.every(({ condition }) => condition === undefined)) return types;
  return [...types, anyOf(sets.map((set) => isIn(set, projectId)))];
}
