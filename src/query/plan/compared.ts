// `compare`: runs the select of a source over two ranges, and joins the rows of both by the values
// of their groups and by the position of their time bucket in the range.
import type { TimeRange } from '../analyze/resolved.js';
import { changeName, previousName } from '../compared-names.js';
import { shiftBetween } from '../time/bucket-shift.js';
import { type Bucketing, lastBucketOf } from '../time/buckets.js';
import { passThrough } from './answer.js';
import { ratio } from './behaviour.js';
import { alias, type Expression, equals, FALSE, infix, NULL, TRUE } from './expressions.js';
import { fn } from './functions.js';
import { type Columns, type OutputColumn, type Select, type Step, select, step } from './plan.js';

export interface Ranges {
  readonly current: TimeRange;
  readonly earlier: TimeRange;
}

/** The time bucket of rows: those at the same position of both ranges belong together. */
export interface Position {
  /** Column of the bucket. */
  readonly bucket: string;
  /** The current bucket at the position of an earlier one. */
  readonly fromEarlier: (bucket: Expression) => Expression;
  readonly toEarlier: (bucket: Expression) => Expression;
  readonly last: Expression;
  readonly lastEarlier: Expression;
}

export function positionOf(bucket: string, { current, earlier }: Ranges, bucketing: Bucketing): Position {
  const shift = shiftBetween(earlier, current, bucketing);
  return {
    bucket,
    fromEarlier: (of) => shift(of, 1),
    toEarlier: (of) => shift(of, -1),
    last: lastBucketOf(current, bucketing),
    lastEarlier: lastBucketOf(earlier, bucketing),
  };
}

interface Matching {
  /** Groups: rows with equal values belong together. */
  readonly keys: readonly string[];
  readonly position?: Position | undefined;
  /**
   * The other columns. On the side that has no row, `zero` is 0 or an empty array, and `null` is
   * null.
   */
  readonly values: Readonly<Record<string, 'zero' | 'null'>>;
}

interface Compared extends Matching {
  /** Rows with the same columns over each range. */
  readonly current: Select;
  readonly earlier: Select;
}

export const IS_EARLIER = 'is_earlier';
const inRange = (value: string): string => `${value}_in_range`;
export const earlierOf = (value: string): string => `earlier_${value}`;

/**
 * The groups of either range, with the values of the current one and, as `earlier_…`, those of the
 * earlier one.
 */
export function joinRanges({ current, earlier, ...matching }: Compared): Select {
  const { position } = matching;
  const columns = columnsInRange(matching);
  const moved = position && { [position.bucket]: position.fromEarlier(alias(position.bucket)) };
  const selects = [
    select({ columns: { [IS_EARLIER]: FALSE, ...columns }, from: step('current_range', current) }),
    select({ columns: { [IS_EARLIER]: TRUE, ...columns, ...moved }, from: step('earlier_range', earlier) }),
  ];
  return matchRanges(step('both_ranges', { kind: 'union', selects }), matching);
}

/** The same, of one select with the groups of both ranges, which `is_earlier` tells. */
export function splitRanges(groups: Select, matching: Matching): Select {
  const { position } = matching;
  const moved = position && {
    [position.bucket]: fn.if(alias(IS_EARLIER), position.fromEarlier(alias(position.bucket)), alias(position.bucket)),
  };
  const columns = { ...passThrough(IS_EARLIER), ...columnsInRange(matching), ...moved };
  return matchRanges(step('both_ranges', select({ columns, from: step('groups_of_ranges', groups) })), matching);
}

const columnsInRange = ({ keys, values }: Matching): Columns => ({
  ...passThrough(...keys),
  ...Object.fromEntries(Object.keys(values).map((value) => [inRange(value), alias(value)])),
});

function matchRanges(from: Step, { keys, position, values }: Matching): Select {
  const valuesWhen = (isEarlier: Expression, nameOf: (value: string) => string): Columns =>
    Object.fromEntries(
      Object.entries(values).map(([value, missing]) => {
        const read = missing === 'null' ? fn.toNullable(alias(inRange(value))) : alias(inRange(value));
        return [nameOf(value), fn.anyIf(read, equals(alias(IS_EARLIER), isEarlier))];
      }),
    );
  return select({
    columns: {
      ...passThrough(...keys),
      ...valuesWhen(FALSE, (value) => value),
      ...valuesWhen(TRUE, earlierOf),
    },
    from,
    groupBy: keys,
    // Later buckets of a longer earlier range have no partner.
    ...(position && { having: infix('<=', alias(position.bucket), position.last) }),
  });
}

/** Null in a bucket that the earlier range does not have. */
export const ofEarlier = (value: Expression, position: Position | undefined): Expression =>
  position ? fn.if(infix('<=', position.toEarlier(alias(position.bucket)), position.lastEarlier), value, NULL) : value;

/** The earlier bucket at the same position. */
export const earlierBucket = (position: Position): Expression =>
  ofEarlier(position.toEarlier(alias(position.bucket)), position);

/**
 * A metric, its earlier value, and the relative change, which is null when the earlier value is 0
 * or missing.
 */
export function withChange(name: string, metric: Expression, earlier: Expression): Columns {
  const previous = alias(previousName(name));
  return {
    [name]: metric,
    [previousName(name)]: earlier,
    [changeName(name)]: ratio(infix('-', alias(name), previous), previous),
  };
}

/** Each of the joined values as a metric. */
export const comparedValues = (names: readonly string[], position: Position | undefined): Columns =>
  Object.assign({}, ...names.map((name) => withChange(name, alias(name), ofEarlier(alias(earlierOf(name)), position))));

/** The columns of an answer: those of each metric behind it. */
export const comparedColumns = (columns: readonly OutputColumn[], metrics: readonly string[]): OutputColumn[] =>
  columns.flatMap((column): OutputColumn[] => {
    const { name, type, isComputed } = column;
    if (!metrics.includes(name)) return [column];
    const isOnly = metrics.length === 1;
    const previous: OutputColumn = { name: previousName(name, isOnly), type, ...(isComputed && { isComputed }) };
    return [column, previous, { name: changeName(name, isOnly), type: 'rate', isComputed: true }];
  });
