// Constructors of plan expressions.
import type {
  AnyColumn,
  Constant,
  Expression,
  FunctionName,
  InfixOperator,
  ParameterType,
  ParameterValue,
  PropertyColumn,
} from './plan.js';

export const column = (name: AnyColumn): Expression => ({ kind: 'column', column: name });
export const alias = (name: string): Expression => ({ kind: 'alias', alias: name });
export const constant = (value: Constant): Expression => ({ kind: 'constant', value });
export const parameter = (type: ParameterType, value: ParameterValue): Expression => ({
  kind: 'parameter',
  type,
  value,
});
export const textParameter = (value: string): Expression => parameter('String', value);

export const INSTANT = "DateTime64(3, 'UTC')";
export const instantText = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').replace('Z', '');
export const instantParameter = (ms: number): Expression => parameter(INSTANT, instantText(ms));

export const call = (name: FunctionName, ...args: readonly Expression[]): Expression => ({
  kind: 'call',
  name,
  arguments: args,
});

export const infix = (operator: InfixOperator, ...operands: readonly Expression[]): Expression => ({
  kind: 'infix',
  operator,
  operands,
});

export const equals = (left: Expression, right: Expression): Expression => infix('=', left, right);
export const not = (expression: Expression): Expression => call('not', expression);

/** Null counts as false: conditions are two-valued, otherwise `not` would drop rows with missing values. */
export const nullAsFalse = (expression: Expression): Expression => call('ifNull', expression, constant(0));

const isFalse = (expression: Expression): boolean => expression.kind === 'constant' && expression.value === 0;
export const FALSE: Expression = constant(0);

export function anyOf(expressions: readonly Expression[]): Expression {
  const possible = expressions.filter((expression) => !isFalse(expression));
  const [only] = possible;
  if (only === undefined) return FALSE;
  return possible.length === 1 ? only : infix('OR', ...possible);
}

export function allOf(expressions: readonly Expression[]): Expression {
  if (expressions.some(isFalse)) return FALSE;
  const [only] = expressions;
  if (only !== undefined && expressions.length === 1) return only;
  return infix(
    'AND',
    ...expressions.flatMap((of) => (of.kind === 'infix' && of.operator === 'AND' ? of.operands : [of])),
  );
}

export const mapValue = (map: PropertyColumn, key: Expression): Expression => ({ kind: 'map_value', map, key });

/** In the body, the lambda's parameters are aliases. */
export const lambda = (parameters: readonly string[], body: Expression): Expression => ({
  kind: 'lambda',
  parameters,
  body,
});

export const tupleElement = (of: Expression, position: number): Expression => ({ kind: 'tuple_element', of, position });
