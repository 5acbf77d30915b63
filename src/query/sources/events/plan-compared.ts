// Plan of `compare` over an aggregate: the groups of both ranges, with the metric of each and its
// change.

import { isComputed } from '../../analyze/aggregate.js';
import { isPositioned } from '../../analyze/compared.js';
import { groupAlias, METRIC } from '../../analyze/grouped-columns.js';
import type { Group } from '../../analyze/resolved.js';
import { hasCall } from '../../conditions/calls.js';
import { passThrough } from '../../plan/answer.js';
import {
  comparedColumns,
  comparedValues,
  earlierBucket,
  joinRanges,
  type Position,
  positionOf,
  splitRanges,
} from '../../plan/compared.js';
import { column, type Expression, infix, instant } from '../../plan/expressions.js';
import { type OutputColumn, type Select, select, step } from '../../plan/plan.js';
import { bucketType } from '../../time/buckets.js';
import { type AggregateQuery, fillGroups } from './group-order.js';

/** The groups over each range, or of both, with `is_earlier`. */
type Sides = { readonly current: Select; readonly earlier: Select } | { readonly both: Select };

/**
 * The column `is_earlier` of one scan over both ranges, which takes less time than two, because it
 * builds the table of devices once. Undefined when an event may be of both ranges, or when calls in
 * conditions or cohorts count over the range.
 */
export function isOfEarlier({ selection, earlier, groups }: AggregateQuery): Expression | undefined {
  const { range, condition } = selection;
  if (earlier === undefined || hasCall(condition) || groups.some(readsCall)) return undefined;
  const time = column('time');
  if (earlier.toMs <= range.fromMs) return infix('<', time, instant(range.fromMs));
  return range.toMs <= earlier.fromMs ? infix('>=', time, instant(earlier.fromMs)) : undefined;
}

const readsCall = (group: Group): boolean =>
  group.kind === 'field' && group.field.kind === 'cohort' && hasCall(group.field.condition);

/** Unordered. */
export function compareGroups(query: AggregateQuery, sides: Sides): Select {
  const { groups, measure } = query;
  const isZero = measure.kind !== 'numeric' || measure.function === 'sum';
  const keys = groups.map((_, index) => groupAlias(index));
  const position = positionOfGroups(query);
  const matching = { keys, position, values: { [METRIC]: isZero ? 'zero' : 'null' } } as const;
  const joined = 'both' in sides ? splitRanges(sides.both, matching) : joinRanges({ ...sides, ...matching });
  return select({
    columns: {
      ...passThrough(...keys),
      ...(position && { previous_bucket: earlierBucket(position) }),
      ...comparedValues([METRIC], position),
    },
    from: step('compared', fillGroups(query, joined)),
  });
}

export const metricColumn = ({ metric, measure }: AggregateQuery): OutputColumn => ({
  ...{ name: metric.column, type: 'number' },
  isComputed: isComputed(measure),
});

/** The columns of the answer behind those of its groups. */
export const columnsOfCompared = (query: AggregateQuery): OutputColumn[] => [
  ...earlierBuckets(query.groups),
  ...comparedColumns([metricColumn(query)], [query.metric.column]),
];

export const earlierBuckets = (groups: readonly Group[]): OutputColumn[] =>
  groups
    .filter(isPositioned)
    .map(({ granularity }) => ({ name: `previous_${granularity}`, type: bucketType(granularity) }));

type OfGroups = Pick<AggregateQuery, 'groups' | 'selection' | 'earlier' | 'timezone'>;

/** Other groups are matched by value, also parts of a time that repeat. */
export function positionOfGroups({ groups, selection, earlier, timezone }: OfGroups): Position | undefined {
  const index = groups.findIndex(isPositioned);
  const group = groups[index];
  if (group?.kind !== 'bucket' || earlier === undefined) return undefined;
  const ranges = { current: selection.range, earlier };
  return positionOf(groupAlias(index), ranges, { granularity: group.granularity, timezone });
}
