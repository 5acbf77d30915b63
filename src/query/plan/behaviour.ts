// Shared expressions of the behaviour sources (funnel, retention, paths, lifecycle): identity of
// events, breakdowns, ratios.
import type { Breakdown } from '../analyze/resolved.js';
import { orderByValue } from './answer.js';
import { column, constant, type Expression, element, equals, infix, lambda, NULL } from './expressions.js';
import { isPresentField, readGroup } from './field-expressions.js';
import { fn } from './functions.js';
import type { ColumnType, OrderBy, OutputColumn } from './plan.js';

/** Whether the event has a user or a device, and thus a person. */
export const hasIdentity: Expression = isPresentField({ kind: 'distinct_id', name: 'distinct_id' });

/** Time of the event in epoch milliseconds. */
export const eventMs: Expression = fn.toUnixTimestamp64Milli(column('time'));

type Item = (item: Expression) => Expression;

export const map = (array: Expression, name: string, body: Item): Expression =>
  fn.arrayMap(lambda([name], body), array);
export const filter = (array: Expression, name: string, body: Item): Expression =>
  fn.arrayFilter(lambda([name], body), array);

export const first = (array: Expression): Expression => element(array, constant(1));

/** Division; null when the divisor is 0. */
export const ratio = (part: Expression, whole: Expression): Expression =>
  fn.if(equals(whole, constant(0)), NULL, infix('/', part, whole));

/** Column of the breakdown's value. */
export const BREAKDOWN = 'breakdown';

export interface BreakdownPlan {
  readonly value: Expression;
  readonly type: ColumnType;
  /** Order by the value, missing ones last. */
  readonly order: readonly OrderBy[];
  readonly output: OutputColumn;
}

export function planBreakdown(by: Breakdown): BreakdownPlan {
  const { expression, type } = readGroup(by.field);
  return {
    value: expression,
    type,
    order: orderByValue(BREAKDOWN, type, 'asc'),
    output: { name: by.name, type },
  };
}
