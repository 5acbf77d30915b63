// Checks that an aggregate can be compared with `compare` (at most one time bucket, of the range),
// and names the added columns.
import { isRecurring } from '../fields.js';
import type { GroupKey, StageOf } from '../parse/syntax.js';
import { checkBuckets, spanOfKey } from './groups.js';
import type { Group, TimeRange } from './resolved.js';
import { report, type Scope } from './scope.js';

interface Compared {
  readonly groups: readonly Group[];
  readonly keys: readonly GroupKey[];
  readonly size: StageOf<'limit' | 'top'> | undefined;
  /** The earlier range. */
  readonly range: TimeRange;
}

export function checkCompared(scope: Scope, { groups, keys, size, range }: Compared): void {
  checkBuckets(scope, keys, range);
  if (size?.kind === 'top' && size.withOther) {
    report(scope, size.span, 'top … other does not go with compare', 'remove other, or ask in two queries');
  }
  // Two buckets of one time would have two positions.
  const [first, second] = groups.filter(isPositioned);
  const key = keys.find((candidate) => candidate.kind === 'name' && candidate.name.written === second?.name);
  if (!first || !second || !key) return;
  const message = `compare goes with one time bucket, and by has ${first.name} already`;
  report(scope, spanOfKey(key), message, 'remove one of them');
}

/** The columns of `compare` beside the metric, and those of the plan. */
export function columnsOfEarlier(groups: readonly Group[]): Readonly<Record<string, string>> {
  const bucket = groups.find(isPositioned);
  return {
    ...(bucket && { [`previous_${bucket.granularity}`]: 'previous_bucket' }),
    previous: 'previous_metric',
    change: 'change_metric',
  };
}

/** Whether the bucket is of the time that the range selects. */
export const isPositioned = (group: Group): group is Extract<Group, { kind: 'bucket' }> =>
  group.kind === 'bucket' && !isRecurring(group.granularity) && !group.of;
