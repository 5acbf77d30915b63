// Expressions of a plan: their types, constructors, and the walk over the parts of one. Values from
// a query are always parameters.
import { assertNever } from '../../platform/errors.js';
import type { ResolvedCall } from '../analyze/resolved.js';
import type { EventColumn } from '../fields.js';
import type { ProfileColumn } from '../profile-fields.js';
import type { SessionColumn, SessionSource } from '../session-fields.js';
import { type FunctionName, fn, type ParametricName } from './functions.js';
import type { OrderBy, Select, Step } from './plan.js';

export type Expression =
  /** A column of a scan, or of one of its joins. */
  | { readonly kind: 'column'; readonly column: AnyColumn }
  /** The user mapped to the event's device; the scan joins the mapping. */
  | { readonly kind: 'mapped'; readonly column: MappedColumn }
  /**
   * A column of the step that is read, another column of the same select, or a parameter of a
   * lambda.
   */
  | { readonly kind: 'alias'; readonly alias: string }
  | Parameter
  | { readonly kind: 'constant'; readonly value: Constant }
  | { readonly kind: 'infix'; readonly operator: InfixOperator; readonly operands: readonly Expression[] }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  /** The rows of a select or step: for IN, or the value of its only row. */
  | { readonly kind: 'rows'; readonly of: Select | Step }
  | { readonly kind: 'lambda'; readonly parameters: readonly string[]; readonly body: Expression }
  /** The element of an array at a position from 1 on, or the value of a map at a key. */
  | { readonly kind: 'element'; readonly of: Expression; readonly at: Expression }
  /** One element of a tuple, from 1 on. */
  | { readonly kind: 'tuple_element'; readonly of: Expression; readonly position: number }
  /** The number of the row in this order, from 1 on. */
  | { readonly kind: 'row_number'; readonly orderBy: readonly OrderBy[] }
  /** The aggregate of all rows of the select, beside each of them. */
  | { readonly kind: 'over_all'; readonly of: Expression }
  | ProfileProperty
  | CallValue
  | Call;

export interface Call {
  readonly kind: 'call';
  readonly name: FunctionName | ParametricName;
  readonly settings?: readonly number[];
  /** An aggregate function as a state that can be combined, or a combination of states. */
  readonly suffix?: 'State' | 'Merge' | 'MergeIf';
  readonly arguments: readonly Expression[];
}

/** A profile property that the select over profiles extracts. */
export interface ProfileProperty {
  readonly kind: 'profile_property';
  readonly name: string;
  readonly value: Expression;
}

/** The value of a call of a condition for the row with this key: the scan joins it. */
export interface CallValue {
  readonly kind: 'call_value';
  readonly call: ResolvedCall;
  readonly key: Expression;
}

/** Event columns without a field name: id hashes and property maps. */
export type InternalColumn = 'user_hash' | 'device_hash' | PropertyColumn | PropertyTypes;
export type PropertyColumn = `${'ep' | 'up'}_${'str' | 'num' | 'bool' | 'null'}` | `props_${'str' | 'num' | 'bool'}`;
/** The keys of a row with the types of their values (ops/clickhouse/0007_property_types.sql). */
export type PropertyTypes = 'ep_types' | 'up_types' | 'props_types';
/** Columns of the profiles table. */
export type ProfileSource = 'email' | 'email_domain' | 'first_seen' | 'last_seen';
export type AnyColumn = EventColumn | InternalColumn | SessionColumn | SessionSource | ProfileColumn | ProfileSource;
export type MappedColumn = 'user_hash' | 'user_id';

/** Constants of the compiler. Text of a query must never become one. */
export type Constant = '' | 'true' | 'false' | 'NULL' | 0 | 1 | 4 | 5 | 6 | 8 | 9 | 24 | 31 | 100 | 1000;

export type InfixOperator =
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'AND'
  | 'OR'
  | 'IN'
  | 'NOT IN'
  | '+'
  | '-'
  | '*'
  | '/';

/** Times are epoch milliseconds. */
export type ParameterType =
  | 'String'
  | 'Float64'
  | 'Int64'
  | 'UInt64'
  | 'UUID'
  | 'Time'
  | 'Array(String)'
  | 'Array(Float64)'
  | 'Array(Int64)'
  | 'Array(Time)';

export type ParameterValue = string | number | readonly string[] | readonly number[];

export interface Parameter {
  readonly kind: 'parameter';
  readonly type: ParameterType;
  readonly value: ParameterValue;
  /** Set for an end of a range. */
  readonly isBound?: true;
}

// ---- Constructors ----

export const column = (name: AnyColumn): Expression => ({ kind: 'column', column: name });
export const mapped = (name: MappedColumn): Expression => ({ kind: 'mapped', column: name });
export const alias = (name: string): Expression => ({ kind: 'alias', alias: name });
export const constant = (value: Constant): Expression => ({ kind: 'constant', value });
export const NULL = constant('NULL');

const parameter = (type: ParameterType, value: ParameterValue): Parameter => ({ kind: 'parameter', type, value });
export const textValue = (value: string): Expression => parameter('String', value);
export const textValues = (values: readonly string[]): Expression => parameter('Array(String)', values);
export const numberValue = (value: number): Expression => parameter('Float64', value);
export const numberValues = (values: readonly number[]): Expression => parameter('Array(Float64)', values);
export const integer = (value: number): Expression => parameter('Int64', value);
export const integers = (values: readonly number[]): Expression => parameter('Array(Int64)', values);
export const instant = (ms: number): Expression => parameter('Time', ms);
/**
 * An end of a range, with which only times of the project's events are compared: while no event is
 * between two ends, the result is the same for both.
 */
export const bound = (ms: number): Expression => ({ ...parameter('Time', ms), isBound: true });
export const instants = (ms: readonly number[]): Expression => parameter('Array(Time)', ms);

export const infix = (operator: InfixOperator, ...operands: readonly Expression[]): Expression => ({
  kind: 'infix',
  operator,
  operands,
});
export const equals = (left: Expression, right: Expression): Expression => infix('=', left, right);
export const isOneOf = (value: Expression, values: Expression): Expression => infix('IN', value, values);
export const rowsOf = (of: Select | Step): Expression => ({ kind: 'rows', of });
export const list = (items: readonly Expression[]): Expression => ({ kind: 'list', items });
export const element = (of: Expression, at: Expression): Expression => ({ kind: 'element', of, at });
export const tupleElement = (of: Expression, position: number): Expression => ({ kind: 'tuple_element', of, position });

export const overAll = (of: Expression): Expression => ({ kind: 'over_all', of });

export const rowNumber = (orderBy: readonly OrderBy[]): Expression => ({ kind: 'row_number', orderBy });

/** `lambda(['time', 'next'], (time, next) => …)`. */
export const lambda = <const Names extends readonly string[]>(
  names: Names,
  body: (...items: { [Index in keyof Names]: Expression }) => Expression,
): Expression => {
  const items = names.map(alias) as { [Index in keyof Names]: Expression };
  return { kind: 'lambda', parameters: names, body: body(...items) };
};

// ---- Conditions ----

/**
 * Null counts as false: conditions are two-valued, otherwise `not` would drop rows with missing
 * values.
 */
export const nullAsFalse = (condition: Expression): Expression => fn.ifNull(condition, FALSE);

export const FALSE: Expression = constant(0);
export const TRUE: Expression = constant(1);
const isConstant = (expression: Expression, value: Constant): boolean =>
  expression.kind === 'constant' && expression.value === value;
export const isTrue = (expression: Expression): boolean => isConstant(expression, 1);
const isFalse = (expression: Expression): boolean => isConstant(expression, 0);

export function anyOf(conditions: readonly Expression[]): Expression {
  const possible = conditions.filter((condition) => !isFalse(condition));
  const [only] = possible;
  if (only === undefined) return FALSE;
  return possible.length === 1 ? only : infix('OR', ...possible);
}

export function allOf(conditions: readonly Expression[]): Expression {
  if (conditions.some(isFalse)) return FALSE;
  const [only] = conditions;
  if (only !== undefined && conditions.length === 1) return only;
  return infix(
    'AND',
    ...conditions.flatMap((of) => (of.kind === 'infix' && of.operator === 'AND' ? of.operands : [of])),
  );
}

// ---- Walk ----

/**
 * The parts of an expression that are computed from the same rows. Rows of another select are not,
 * nor is the value of a profile property, which the select over profiles extracts.
 */
function children(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'column':
    case 'mapped':
    case 'alias':
    case 'parameter':
    case 'constant':
    case 'rows':
    case 'profile_property':
      return [];
    case 'infix':
      return expression.operands;
    case 'list':
      return expression.items;
    case 'lambda':
      return [expression.body];
    case 'element':
      return [expression.of, expression.at];
    case 'call_value':
      return [expression.key];
    case 'tuple_element':
    case 'over_all':
      return [expression.of];
    case 'row_number':
      return expression.orderBy.map((order) => order.expression);
    case 'call':
      return expression.arguments;
    default:
      return assertNever(expression);
  }
}

/** The expressions with all their parts. */
export function* partsOf(expressions: Iterable<Expression>): Generator<Expression> {
  for (const expression of expressions) {
    yield expression;
    yield* partsOf(children(expression));
  }
}
