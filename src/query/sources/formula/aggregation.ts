// The aggregate functions of a formula's calls: each aggregates the rows that meet its condition.
import type { Measure } from '../../analyze/resolved.js';
import { distinctValue } from '../../plan/distinct.js';
import { allOf, type Call, constant, type Expression } from '../../plan/expressions.js';
import { readNumber } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';

export interface Aggregation {
  readonly function: 'countIf' | 'uniqExactIf' | 'avgIf' | 'sumIf';
  readonly values: readonly Expression[];
  readonly condition: Expression;
}

export function aggregationOf(measure: Measure, isOfTerm: Expression): Aggregation {
  switch (measure.kind) {
    case 'count':
      return { function: 'countIf', values: [], condition: isOfTerm };
    case 'unique': {
      const { value, isPresent } = distinctValue(measure.field);
      return {
        function: 'uniqExactIf',
        values: [value],
        condition: isPresent ? allOf([isOfTerm, isPresent]) : isOfTerm,
      };
    }
    case 'numeric': {
      const values = [readNumber(measure.field)];
      return { function: measure.function === 'avg' ? 'avgIf' : 'sumIf', values, condition: isOfTerm };
    }
  }
}

export const aggregateCall = ({ function: name, values, condition }: Aggregation): Call => ({
  kind: 'call',
  name,
  arguments: [...values, condition],
});

/** The number of an aggregate: Float64, because integer arithmetic of ClickHouse wraps around. */
export function toNumber({ function: name }: Aggregation, value: Expression): Expression {
  if (name === 'avgIf') return value;
  return name === 'sumIf' ? fn.ifNull(value, constant(0)) : fn.toFloat64(value);
}
