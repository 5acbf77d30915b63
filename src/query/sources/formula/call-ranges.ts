// The ranges of a formula's calls: `unique(* last 28d)` counts the 28 days that end with each
// bucket.
import type { Group, TimeRange } from '../../analyze/resolved.js';
import { report, type Scope } from '../../analyze/scope.js';
import type { Span } from '../../errors.js';
import { isRecurring } from '../../fields.js';
import type { Duration, Expression, FormulaColumn } from '../../parse/syntax.js';
import { estimateBuckets, type Period } from '../../time/bucket-list.js';
import { type CalendarSpan, resolveSpan } from '../../time/range.js';
import { planWindows, type Windows } from '../../time/windows.js';

/** For hours about 12 weeks, for days more than 5 years. */
const BUCKETS_MAX = 2_000;
/** Times in the statement: about 300 kB, of the 1 MB that ClickHouse accepts in an address. */
const SLICES_MAX = 6_000;
/** Slices of all windows: they are combined after the scan. */
const PAIRS_MAX = 1_000_000;

interface Of {
  readonly groups: readonly Group[];
  readonly range: TimeRange;
}

/**
 * Undefined when no call has a range of its own, or the answer has no time buckets; problems are
 * reported.
 */
export function findWindows(
  scope: Scope,
  columns: readonly FormulaColumn[],
  { groups, range }: Of,
): Windows | undefined {
  const durations = columns.flatMap(({ expression }) => durationsIn(expression));
  const [first] = durations;
  const times = groups.flatMap((group) => (group.kind === 'bucket' && !group.of ? [group] : []));
  const [bucket, second] = times;
  if (first === undefined || bucket === undefined) return undefined;
  if (second || isRecurring(bucket.granularity)) {
    return report(
      scope,
      first.span,
      `a range of its own does not fit by ${(second ?? bucket).name}`,
      'it ends with the bucket, so that by takes one of minute, hour, day, week, month, quarter, year, and fields',
    );
  }
  if (estimateBuckets(range, bucket.granularity as Period) > BUCKETS_MAX) return refuse(scope, first.span, bucket.name);
  const spans = distinct(durations.flatMap((duration) => resolveSpan({ ...scope, problems: [] }, duration) ?? []));
  const windows = planWindows({ range, period: bucket.granularity as Period, timezone: scope.timezone, spans });
  const isTooMuch = windows.slices.length > SLICES_MAX || windows.pairs > PAIRS_MAX;
  return isTooMuch ? refuse(scope, first.span, bucket.name) : windows;
}

const refuse = (scope: Scope, span: Span, granularity: string): undefined =>
  report(
    scope,
    span,
    `calls with their own ranges have too many buckets by ${granularity}`,
    `group by a longer period, or shorten the ranges; the limit is ${BUCKETS_MAX} buckets, and ${PAIRS_MAX} with overlaps`,
  );

const distinct = (spans: readonly CalendarSpan[]): CalendarSpan[] => [
  ...new Map(spans.map((span) => [JSON.stringify(span), span])).values(),
];

function durationsIn(expression: Expression): Duration[] {
  switch (expression.kind) {
    case 'number':
      return [];
    case 'call':
      return expression.last ? [expression.last] : [];
    case 'negative':
      return durationsIn(expression.operand);
    case 'binary':
      return [...durationsIn(expression.left), ...durationsIn(expression.right)];
  }
}
