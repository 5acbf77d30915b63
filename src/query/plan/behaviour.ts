// Plan building blocks shared by behaviour sources.
import type { Breakdown, ColumnOrder, ResolvedQuery, TimeRange } from '../analyze/resolved.js';
import { orderByValue, type PlanContext, pageOf } from '../sources/events/plan.js';
import { alias, call, column, constant, equals, infix, lambda, parameter } from './expressions.js';
import { isPresentField, readGroup } from './field-expressions.js';
import type { ColumnType, Expression, OrderBy, OutputColumn, Plan, Select, SelectColumn } from './plan.js';

/** Whether the event has a user or a device, and thus a person. */
export const hasIdentity: Expression = isPresentField({ kind: 'distinct_id', name: 'distinct_id' });

/** Time of the event in epoch milliseconds. */
export const eventMs: Expression = call('toUnixTimestamp64Milli', column('time'));

/** Passes columns of the inner select through, by name. */
export const passThrough = (...names: readonly string[]): SelectColumn[] =>
  names.map((name) => ({ alias: name, expression: alias(name) }));

export const integer = (value: number): Expression => parameter('Int64', value);

/** Higher-order array function (`arrayMap`, …) with a lambda over one array. */
export const mapEach = (
  name: 'arrayExists' | 'arrayMap' | 'arrayFilter' | 'arrayFirst' | 'arrayFirstIndex' | 'arrayReverseFill',
  array: Expression,
  body: (item: Expression) => Expression,
): Expression => call(name, lambda(['v'], body(alias('v'))), array);

export const element = (array: Expression, position: Expression): Expression => call('arrayElement', array, position);
export const first = (array: Expression): Expression => element(array, constant(1));

/** Division; null when the divisor is 0. */
export const ratio = (part: Expression, whole: Expression): Expression =>
  call('if', equals(whole, constant(0)), constant('NULL'), infix('/', part, whole));

export const GROUP = 'g';

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
    order: orderByValue({ name: GROUP, type }, 'asc'),
    output: { name: by.name, type },
  };
}

export interface AnswerParts {
  readonly query: ResolvedQuery;
  readonly range: TimeRange;
  readonly context: PlanContext;
  readonly mode: Plan['mode'];
  /** All rows of the answer in order, before paging. */
  readonly select: Select;
  readonly columns: readonly OutputColumn[];
  readonly metadata?: Plan['metadata'];
  /** Sort keys that precede the default order. */
  readonly order?: readonly ColumnOrder[];
}

/** Sort order for a select whose columns correspond to the answer's columns by position. */
export function orderByColumns(
  { columns: selected, orderBy = [] }: Pick<Select, 'columns' | 'orderBy'>,
  columns: readonly OutputColumn[],
  order: readonly ColumnOrder[],
): OrderBy[] {
  const asked = order.flatMap(({ column: name, direction }): OrderBy[] => {
    const index = columns.findIndex((of) => of.name === name);
    return orderByValue({ name: selected[index]?.alias ?? name, type: columns[index]?.type }, direction);
  });
  const isAsked = ({ expression: own }: OrderBy): boolean =>
    asked.some(
      ({ expression }) => expression.kind === 'alias' && own.kind === 'alias' && expression.alias === own.alias,
    );
  return [...asked, ...orderBy.filter((own) => !isAsked(own))];
}

export function planAnswer(parts: AnswerParts): Plan {
  const { query, range, context, mode, select, columns, metadata, order = [] } = parts;
  const page = pageOf(context, query.rowsMax);
  return {
    mode,
    select: {
      ...select,
      ...(order.length > 0 && { orderBy: orderByColumns(select, columns, order) }),
      limit: page.limit,
      offset: page.offset,
    },
    columns,
    metric: undefined,
    total: { kind: 'engine', rowsMax: query.rowsMax },
    rowsKept: page.kept,
    range,
    timezone: query.timezone,
    warnings: query.warnings,
    ...(metadata && { metadata }),
  };
}
