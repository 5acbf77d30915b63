// Generators of random readings: aggregates over groups, lists, and endings that fit them.
import fc from 'fast-check';
import { METRICS } from './aggregate.js';
import { record } from './generate.js';
import { addedColumns, withAdded } from './generate-windows.js';
import type * as ask from './question.js';
import { groupColumn } from './to-query-text.js';

export const timeUnits = fc.constantFrom<ask.TimeUnit[]>(
  ...(['day', 'hour', 'week', 'month', 'quarter', 'year', 'weekday', 'hour_of_day'] as const),
);

export interface Computed {
  readonly times: readonly string[];
  readonly numbers: readonly string[];
}

const widths = fc.constantFrom(10, 1, 0.5, 0.1, 100);

export function groups(fields: readonly string[], { times, numbers }: Computed): fc.Arbitrary<ask.Group[]> {
  const byOther = fc.oneof(
    ...(times.length === 0
      ? []
      : [fc.tuple(timeUnits, fc.constantFrom(...times)).map(([unit, of]): ask.Group => ({ kind: 'time', unit, of }))]),
    fc
      .tuple(fc.constantFrom(...numbers), widths)
      .map(([field, width]): ask.Group => ({ kind: 'bucket', field, width })),
  );
  const byTime = timeUnits.map((unit): ask.Group => ({ kind: 'time', unit }));
  const byField = fc.constantFrom(...fields).map((field): ask.Group => ({ kind: 'field', field }));
  return fc.oneof<fc.Arbitrary<ask.Group[]>[]>(
    fc.constant([]),
    fc.tuple(byTime),
    fc.tuple(byField),
    fc.tuple(byTime, byField),
    fc.tuple(byOther),
    fc.uniqueArray(fc.oneof(byTime, byField, byOther), { minLength: 2, maxLength: 3, selector: groupColumn }),
    fc.uniqueArray(byField, { minLength: 2, maxLength: 2, selector: groupColumn }),
  );
}

/**
 * A call's own range ends with the only bucket of the range, which does not come again; hours of
 * long ranges are too many.
 */
export function fitForRanges(drawn: readonly ask.Group[], range: ask.Range | undefined): ask.Group[] {
  const isLong = range?.kind === 'last' || range?.kind === 'this';
  const fitted = drawn.map((group): ask.Group => {
    if (group.kind !== 'time') return group;
    const isRecurring = group.unit === 'weekday' || group.unit === 'hour_of_day';
    const isTaken = group.of === undefined && !isRecurring && !(group.unit === 'hour' && isLong);
    return isTaken ? group : { kind: 'time', unit: 'day' };
  });
  const firstTime = fitted.findIndex(({ kind }) => kind === 'time');
  return fitted.filter(({ kind }, index) => kind !== 'time' || index === firstTime);
}

export interface Fields {
  readonly texts: readonly string[];
  readonly numbers: readonly string[];
  readonly times?: readonly string[];
}

export function aggregates({ texts, numbers }: Fields, hasPeople: boolean): fc.Arbitrary<ask.Aggregate> {
  const field = fc.constantFrom(...numbers);
  const uniqueOf = fc.constantFrom(...texts).map((text): ask.Aggregate => ({ kind: 'unique', field: text }));
  return fc.oneof(
    fc.constant<ask.Aggregate>({ kind: 'count' }),
    hasPeople ? fc.constant<ask.Aggregate>({ kind: 'unique' }) : uniqueOf,
    uniqueOf,
    record({
      kind: fc.constantFrom<ask.FieldAggregate[]>('sum', 'avg', 'min', 'max', 'median', 'p90', 'p95', 'p99'),
      field,
    }),
  );
}

export type Aggregated = Extract<ask.Reading, { kind: 'aggregate' }>;

/** Filters of rows without their column. Mostly none. */
export const filters: fc.Arbitrary<Omit<ask.Having, 'column'> | undefined> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  record({
    operator: fc.constantFrom('=' as const, '!=' as const, '<' as const, '>=' as const),
    value: fc.constantFrom(0, 1, 2, 5),
  }),
);

export function aggregateReadings(fields: Fields, hasPeople: boolean): fc.Arbitrary<Aggregated> {
  const drawn = record({
    kind: fc.constant('aggregate' as const),
    aggregate: aggregates(fields, hasPeople),
    by: groups(fields.texts, { times: [], ...fields }),
    having: filters,
  }).map(({ having, ...reading }): Aggregated => {
    if (having === undefined) return reading;
    return { ...reading, having: { column: METRICS[reading.aggregate.kind], ...having } };
  });
  // Rows that have people are events.
  return hasPeople ? withAdded(drawn, fields) : drawn;
}

interface Read<R> {
  readonly reading?: R;
  readonly ending?: ask.Ending;
}

export const limits = fc.constantFrom(1, 2, 3, 10);

/** An ending that is valid for the reading. */
export function endings(columns: readonly string[], canTop: boolean): fc.Arbitrary<ask.Ending | undefined> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    limits.map((count): ask.Ending => ({ kind: canTop && count > 1 ? 'top' : 'limit', count })),
    limits.map((count): ask.Ending => ({ kind: 'limit', count })),
    record({
      kind: fc.constant('sort' as const),
      column: fc.constantFrom(...columns),
      descending: fc.boolean(),
    }),
    record({
      kind: fc.constant('sort' as const),
      column: fc.constantFrom(...columns),
      descending: fc.boolean(),
      limit: limits,
    }),
    record({
      kind: fc.constant('sort' as const),
      column: fc.constantFrom(...columns),
      descending: fc.boolean(),
      top: canTop ? limits : fc.constant(undefined),
    }).map(({ top, ...sort }): ask.Ending => ({ ...sort, ...(top !== undefined && { top }) })),
  );
}

export function withEnding<R extends ask.Reading | undefined>(
  readings: fc.Arbitrary<R>,
  listColumns: readonly string[],
): fc.Arbitrary<Read<Exclude<R, undefined>>> {
  return readings.chain((reading) => {
    const isAggregate = reading?.kind === 'aggregate';
    const columns = isAggregate
      ? [...reading.by.map(groupColumn), METRICS[reading.aggregate.kind], ...addedColumns(reading)]
      : reading === undefined
        ? []
        : listColumns;
    // `sort` requires a reading before it.
    const ending = columns.length === 0 ? fc.constant(undefined) : endings(columns, isAggregate);
    const isPlain = isAggregate && reading.having === undefined && !reading.window && !reading.share && !reading.each;
    const hasTexts = isPlain && canHaveOther(reading.by);
    return fc.tuple(ending, fc.boolean()).map(([plain, isOther]) => {
      const drawn = isOther && hasTexts ? addOther(plain) : plain;
      return {
        ...(reading === undefined ? {} : { reading: reading as Exclude<R, undefined> }),
        ...(drawn === undefined ? {} : { ending: drawn }),
      };
    });
  });
}

const canHaveOther = (by: readonly ask.Group[]): boolean =>
  by.some(({ kind }) => kind === 'field') &&
  by.every(({ kind }) => kind !== 'bucket') &&
  by.filter(({ kind }) => kind === 'time').length < 2;

const addOther = (ending: ask.Ending | undefined): ask.Ending | undefined =>
  ending?.kind === 'top' || (ending?.kind === 'sort' && ending.top !== undefined) ? { ...ending, other: true } : ending;

/** Own ranges of calls. */
export const CALL_RANGES = fc.constantFrom<ask.Span[]>(
  { count: 90, unit: 'm' },
  { count: 36, unit: 'h' },
  { count: 3, unit: 'd' },
  { count: 28, unit: 'd' },
  { count: 2, unit: 'w' },
  { count: 1, unit: 'mo' },
);

/** The expression with calls over the range of the question. */
export function withoutRanges(expression: ask.Expression): ask.Expression {
  if (expression.kind === 'number') return expression;
  if (expression.kind === 'term') {
    const { last: _, ...term } = expression;
    return term;
  }
  return { ...expression, left: withoutRanges(expression.left), right: withoutRanges(expression.right) };
}
