// The engine's functions that plans may call, with their arguments: `fn.argMaxIf(value, by, when)`.
import type { Call, Expression } from './expressions.js';

type E = Expression;

/** A missing function is added here; its name is the engine's. */
export interface Functions {
  addDays(date: E, days: E): E;
  addMonths(date: E, months: E): E;
  addQuarters(date: E, quarters: E): E;
  addWeeks(date: E, weeks: E): E;
  addYears(date: E, years: E): E;
  any(value: E): E;
  anyIf(value: E, when: E): E;
  argMax(value: E, by: E): E;
  argMaxIf(value: E, by: E, when: E): E;
  argMin(value: E, by: E): E;
  argMinIf(value: E, by: E, when: E): E;
  argMinOrNullIf(value: E, by: E, when: E): E;
  array(...items: E[]): E;
  arrayConcat(...arrays: E[]): E;
  arrayDifference(array: E): E;
  arrayDistinct(array: E): E;
  arrayEnumerate(array: E): E;
  arrayEnumerateUniq(array: E): E;
  arrayExists(lambda: E, ...arrays: E[]): E;
  arrayFilter(lambda: E, ...arrays: E[]): E;
  arrayFirst(lambda: E, ...arrays: E[]): E;
  arrayFirstIndex(lambda: E, ...arrays: E[]): E;
  /** One row per element. */
  arrayJoin(array: E): E;
  arrayMap(lambda: E, ...arrays: E[]): E;
  arrayMax(array: E): E;
  arrayMin(array: E): E;
  arrayReverse(array: E): E;
  /** Replaces elements for which the lambda is false by the next one for which it is true. */
  arrayReverseFill(lambda: E, array: E): E;
  arrayReverseSort(array: E): E;
  /** The places that become free have the default. */
  arrayShiftLeft(array: E, by: E, byDefault?: E): E;
  arrayShiftRight(array: E, by: E, byDefault?: E): E;
  arraySlice(array: E, from: E, length: E): E;
  /** By the elements, or by the lambda in front of the array. */
  arraySort(...lambdaAndArray: E[]): E;
  arraySum(array: E): E;
  /** Tuples of the elements at the same position. */
  arrayZip(...arrays: E[]): E;
  avg(value: E): E;
  avgIf(value: E, when: E): E;
  bitAnd(left: E, right: E): E;
  bitShiftLeft(value: E, bits: E): E;
  bitShiftRight(value: E, bits: E): E;
  concat(...texts: E[]): E;
  count(): E;
  /** Sample covariance, computed without cancellation. */
  covarSampStable(left: E, right: E): E;
  countIf(when: E): E;
  /** An empty array as one with the default value. */
  emptyArrayToSingle(array: E): E;
  endsWith(text: E, end: E): E;
  /** The value of a state. */
  finalizeAggregation(state: E): E;
  fromUnixTimestamp64Milli(ms: E, timezone: E): E;
  groupArray(value: E): E;
  groupArrayIf(value: E, when: E): E;
  groupUniqArray(value: E): E;
  groupUniqArrayArray(array: E): E;
  groupUniqArrayIf(value: E, when: E): E;
  has(array: E, item: E): E;
  if(condition: E, then: E, otherwise: E): E;
  ifNull(value: E, otherwise: E): E;
  indexOf(array: E, item: E): E;
  intDiv(value: E, by: E): E;
  isFinite(number: E): E;
  isNaN(number: E): E;
  isNotNull(value: E): E;
  least(left: E, right: E): E;
  length(array: E): E;
  mapKeys(map: E): E;
  mapValues(map: E): E;
  match(text: E, pattern: E): E;
  max(value: E): E;
  maxIf(value: E, when: E): E;
  min(value: E): E;
  minIf(value: E, when: E): E;
  modulo(value: E, by: E): E;
  /** Condition, value, condition, value, …, and the value otherwise. */
  multiIf(...cases: E[]): E;
  not(condition: E): E;
  notEmpty(array: E): E;
  nullIf(value: E, when: E): E;
  position(text: E, part: E): E;
  /** From the first number, or 0, to the one before the end. */
  range(...firstAndEnd: E[]): E;
  reinterpretAsFixedString(value: E): E;
  replaceOne(text: E, part: E, by: E): E;
  reverse(text: E): E;
  round(number: E, digits: E): E;
  /** The largest of the ascending edges that is not above the value. */
  roundDown(value: E, edges: E): E;
  sipHash64(value: E): E;
  splitByChar(separator: E, text: E): E;
  startsWith(text: E, start: E): E;
  /** From the first character, counted from 1, to the end. */
  substring(text: E, first: E): E;
  sum(value: E): E;
  sumForEach(array: E): E;
  sumIf(value: E, when: E): E;
  /** Sums of the values by key. */
  sumMap(keys: E, values: E): E;
  throwIf(when: E, message: E): E;
  toDate(time: E, timezone?: E): E;
  toDayOfWeek(time: E, mode?: E, timezone?: E): E;
  toFloat64(value: E): E;
  toFloat64OrNull(text: E): E;
  toHour(time: E, timezone?: E): E;
  toInt64(number: E): E;
  toMonday(time: E, timezone?: E): E;
  toNullable(value: E): E;
  toRelativeDayNum(date: E): E;
  toRelativeMonthNum(date: E): E;
  toRelativeQuarterNum(date: E): E;
  toRelativeWeekNum(date: E): E;
  toRelativeYearNum(date: E): E;
  toStartOfHour(time: E, timezone?: E): E;
  toStartOfMinute(time: E, timezone?: E): E;
  toStartOfMonth(time: E, timezone?: E): E;
  toStartOfQuarter(time: E, timezone?: E): E;
  toStartOfYear(time: E, timezone?: E): E;
  toString(value: E): E;
  toUInt64(value: E): E;
  toUnixTimestamp64Milli(time: E): E;
  tuple(...items: E[]): E;
  uniqExact(value: E): E;
  uniqExactArray(array: E): E;
  uniqExactIf(value: E, when: E): E;
  uniqExactStateIf(value: E, when: E): E;
  /** Distinct values of several states. */
  uniqExactMerge(state: E): E;
  uniqExactState(value: E): E;
  /** Sample variance, computed without cancellation. */
  varSampStable(value: E): E;
  /** Hash of one value, or of several together. */
  xxh3(...values: E[]): E;
}

export type FunctionName = keyof Functions;

/** Aggregate functions with settings in parentheses of their own. */
export type ParametricName =
  | 'quantileExactInclusive'
  | 'quantileExactInclusiveForEach'
  | 'quantilesExactInclusiveForEach'
  | 'topKWeighted';

/** The state of an aggregate, which `merge` combines with others. */
export const stateOf = (aggregate: Call): E => ({ ...aggregate, suffix: 'State' });

export const merge = (aggregate: Call, state: E): E => ({ ...aggregate, suffix: 'Merge', arguments: [state] });

/** The aggregate of the states for which the condition holds. */
export const mergeIf = (aggregate: Call, state: E, when: E): E => ({
  ...aggregate,
  suffix: 'MergeIf',
  arguments: [state, when],
});

/** Every name of `Functions` is a method that builds its call. */
export const fn = new Proxy({} as Functions, {
  get:
    (_, name: FunctionName) =>
    (...args: E[]) =>
      callOf(name, args),
});

const callOf = (name: FunctionName, args: readonly E[]): E => ({ kind: 'call', name, arguments: args });

const parametric = (name: ParametricName, settings: readonly number[], ...args: readonly E[]): E => ({
  kind: 'call',
  name,
  settings,
  arguments: args,
});

export const quantile = (level: number, value: E): E => parametric('quantileExactInclusive', [level], value);

/** Quantiles by position over arrays. */
export const quantileForEach = (level: number, array: E): E =>
  parametric('quantileExactInclusiveForEach', [level], array);

/** By position, an array of the quantiles: one state for all levels. */
export const quantilesForEach = (levels: readonly number[], array: E): E =>
  parametric('quantilesExactInclusiveForEach', levels, array);

/** The values with the largest sums of weights. */
export const heaviest = (count: number, value: E, weight: E): E => parametric('topKWeighted', [count], value, weight);
