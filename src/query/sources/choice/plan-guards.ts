// Plan of the guards of an experiment, `guard error, refund`: further events, of which each unit
// may have one within its window.
import type { EventSet } from '../../analyze/resolved.js';
import { isIn } from '../../conditions/plan-events.js';
import type { PlanContext } from '../../people/scan.js';
import { eventMs } from '../../plan/behaviour.js';
import { alias, type Expression } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import type { Columns } from '../../plan/plan.js';

const timesOf = (index: number): string => `guard_${index + 1}_times`;

/** Per unit: the times of the events of each guard. */
export const gatherGuards = (guards: readonly EventSet[], { projectId }: PlanContext): Columns =>
  Object.fromEntries(guards.map((guard, index) => [timesOf(index), fn.groupArrayIf(eventMs, isIn(guard, projectId))]));

/** Per unit: whether it has each guard; `isInWindow` is a lambda of a time. */
export const findGuards = (guards: readonly EventSet[], isInWindow: Expression): Expression[] =>
  guards.map((_, index) => fn.arrayExists(isInWindow, alias(timesOf(index))));

/**
 * One column of a row by variant: the number of units with each guard. Without guards there is
 * none.
 */
export const countGuards = (found: readonly Expression[]): Columns =>
  found.length === 0 ? {} : { guards: fn.array(...found.map((one) => fn.countIf(one))) };

/** The column of guards in rows of exposures, which count none. */
export const noGuards = (guards: readonly EventSet[]): Columns => (guards.length === 0 ? {} : { guards: fn.array() });
