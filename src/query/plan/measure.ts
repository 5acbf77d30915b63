// Plans what an aggregate computes of the rows of a group: counts, unique values, sums,
// percentiles.
import { assertNever } from '../../platform/errors.js';
import type { Measure, NumericFunction } from '../analyze/resolved.js';
import { countDistinct } from './distinct.js';
import { constant, type Expression } from './expressions.js';
import { property, readNumber } from './field-expressions.js';
import { fn, quantile } from './functions.js';

const NUMERIC_AGGREGATE = {
  sum: (value) => fn.ifNull(fn.sum(value), constant(0)),
  avg: (value) => fn.avg(value),
  min: (value) => fn.min(value),
  max: (value) => fn.max(value),
  median: (value) => quantile(0.5, value),
  p90: (value) => quantile(0.9, value),
  p95: (value) => quantile(0.95, value),
  p99: (value) => quantile(0.99, value),
} as const satisfies Record<NumericFunction, (value: Expression) => Expression>;

export function planMeasure(measure: Measure): Expression {
  switch (measure.kind) {
    case 'count':
      return fn.count();
    case 'unique':
      return countDistinct(measure.field);
    case 'numeric':
      // A missing key reads 0, which does not change a sum, so its presence is not checked.
      if (measure.function === 'sum' && measure.field.kind === 'property') {
        return fn.sum(property.valueIn(measure.field, 'num'));
      }
      return NUMERIC_AGGREGATE[measure.function](readNumber(measure.field));
    default:
      return assertNever(measure);
  }
}
