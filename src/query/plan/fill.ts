// Rows for the time buckets of a range that have no events.
import type { TimeRange } from '../analyze/resolved.js';
import { type Bucketing, fillOf, unevenFillOf } from '../time/buckets.js';
import { orderBy } from './answer.js';
import { alias } from './expressions.js';
import { type Select, select, step } from './plan.js';

interface Filled extends Bucketing {
  readonly range: TimeRange;
}

/** The rows, and one for each other bucket of the range; `bucket` is the column of its start. */
export function fillBuckets(rows: Select, bucket: string, { range, ...bucketing }: Filled): Select {
  const ordered = { ...rows, orderBy: [orderBy(bucket)] };
  const uneven = unevenFillOf(range, bucketing, alias(bucket));
  if (!uneven) return { ...ordered, fill: fillOf(range, bucketing) };
  const from = step('evenly_filled', { ...ordered, fill: uneven.fill });
  return select({ keeps: 'all', columns: {}, from, where: uneven.where });
}
