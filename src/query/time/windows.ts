// Windows that end with a time bucket and may begin long before it, such as the last 28 days of
// every day. Their starts and ends cut time into slices: a scan aggregates each slice once, and
// every window combines the slices in it.
import type { TimeRange } from '../analyze/resolved.js';
import { listBuckets, type Period } from './bucket-list.js';
import { type CalendarSpan, startOfDay, startOfSpan } from './range.js';

export interface Windows {
  /** All windows together. */
  readonly range: TimeRange;
  /** The buckets within the range of the query. */
  readonly buckets: readonly TimeRange[];
  readonly spans: readonly { readonly span: CalendarSpan; readonly starts: readonly number[] }[];
  /** First instants of the slices, ascending. */
  readonly slices: readonly number[];
  /**
   * Per slice, the numbers of the first bucket with a window that has it, and of the first behind
   * them; counted from 1.
   */
  readonly firstBuckets: readonly number[];
  readonly pastBuckets: readonly number[];
  /** Slices of all windows together. */
  readonly pairs: number;
}

interface Asked {
  readonly range: TimeRange;
  readonly period: Period;
  readonly timezone: string;
  readonly spans: readonly CalendarSpan[];
}

/** A window is a whole span: it ends with the bucket, or with the range where that ends earlier. */
export function planWindows({ range, period, timezone, spans: asked }: Asked): Windows {
  const whole = listBuckets(range, period, timezone);
  const buckets = whole.map((bucket) => ({
    fromMs: Math.max(range.fromMs, bucket.fromMs),
    toMs: Math.min(range.toMs, bucket.toMs),
  }));
  const spans = asked.map((span) => ({ span, starts: startsOf(whole, span, { range, period, timezone }) }));
  const firsts = buckets.map(({ fromMs }, index) =>
    Math.min(fromMs, ...spans.map(({ starts }) => starts[index] ?? fromMs)),
  );
  const cuts = [...buckets.flatMap(({ fromMs, toMs }) => [fromMs, toMs]), ...spans.flatMap(({ starts }) => starts)];
  const slices = [...new Set(cuts)].filter((cut) => cut < range.toMs || cut === range.fromMs).sort((a, b) => a - b);
  const ends = buckets.map(({ toMs }) => toMs);
  const firstBuckets = slices.map((slice) => 1 + countUpTo(ends, slice));
  const pastBuckets = slices.map((slice) => 1 + countUpTo(firsts, slice));
  const pairs = slices.reduce(
    (sum, _, index) => sum + Math.max(0, (pastBuckets[index] ?? 0) - (firstBuckets[index] ?? 0)),
    0,
  );
  const fromMs = Math.min(range.fromMs, ...firsts);
  return { range: { fromMs, toMs: range.toMs }, buckets, spans, slices, firstBuckets, pastBuckets, pairs };
}

/**
 * Days and months before the end of a day begin at the beginning of a day, which is not midnight
 * everywhere. The day in which the range ends is a whole one.
 */
function startsOf(
  buckets: readonly TimeRange[],
  span: CalendarSpan,
  { range, period, timezone }: Pick<Asked, 'range' | 'period' | 'timezone'>,
): number[] {
  const isOfDays = period !== 'minute' && period !== 'hour' && span.unit !== 'millisecond';
  const endMs = isOfDays ? startOfDay(range.toMs - 1, timezone, 1) : range.toMs;
  const starts = buckets.map(({ toMs }) => startOfSpan(Math.min(toMs, endMs), span, timezone));
  return isOfDays ? starts.map((start) => startOfDay(start, timezone)) : starts;
}

/** The number of values in the ascending list that are not above the limit. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
