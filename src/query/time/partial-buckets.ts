// The first and the last time bucket of an answer, where its range begins or ends inside of them,
// or the present does: their numbers are not to be compared with those of whole buckets.
import type { TimeRange } from '../analyze/resolved.js';
import type { OutputColumn } from '../plan/plan.js';
import { listBuckets, PERIODS_OF_TIME, type Period } from './bucket-list.js';
import { wallTimeAt } from './timezone.js';

export interface PartialBuckets {
  /** The column of the buckets, which has the name of its period. */
  readonly column: string;
  /** As cells of the column are parsed: instants, and dates as midnight in UTC; milliseconds. */
  readonly startsMs: readonly number[];
}

interface Options {
  readonly timezone: string;
  readonly nowMs: number;
  /** Whether the first bucket has all of its events: it looks back before the range. */
  readonly isFirstWhole: boolean;
}

/** Undefined without a column of buckets, and when all of them are whole. */
export function findPartialBuckets(
  columns: readonly Pick<OutputColumn, 'name' | 'type'>[],
  range: TimeRange,
  { timezone, nowMs, isFirstWhole }: Options,
): PartialBuckets | undefined {
  const found = columns.find(({ name, type }) => isTime(type) && isPeriod(name));
  if (found === undefined || !isPeriod(found.name)) return undefined;
  const period = found.name;
  // The present cuts nothing of a range that is ahead.
  const endMs = range.fromMs > nowMs ? range.toMs : Math.min(range.toMs, nowMs);
  const bucketAt = (ms: number) => listBuckets({ fromMs: ms, toMs: ms }, period, timezone).slice(0, 1);
  const starts = [
    ...bucketAt(range.fromMs).filter((bucket) => !isFirstWhole && bucket.fromMs < range.fromMs),
    ...bucketAt(Math.max(range.fromMs, endMs - 1)).filter((bucket) => bucket.toMs > endMs),
  ].map(({ fromMs }) => (found.type === 'time' ? fromMs : midnightOf(fromMs, timezone)));
  return starts.length === 0 ? undefined : { column: found.name, startsMs: [...new Set(starts)] };
}

const isTime = (type: string): boolean => type === 'time' || type === 'date';
const isPeriod = (name: string): name is Period => PERIODS_OF_TIME.some((period) => period === name);

/** Midnight in UTC of the date that the bucket begins on. */
function midnightOf(instantMs: number, timezone: string): number {
  const { year, month, day } = wallTimeAt(instantMs, timezone);
  return Date.UTC(year, month - 1, day);
}
