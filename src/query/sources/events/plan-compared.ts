// Plan of `compare` over an aggregate: the groups of both ranges, with the metric of each and its change.

import { isPositioned } from '../../analyze/compared.js';
import { groupAlias, METRIC } from '../../analyze/grouped-columns.js';
import type { Group } from '../../analyze/resolved.js';
import { passThrough } from '../../plan/answer.js';
import {
  comparedColumns,
  comparedValues,
  earlierBucket,
  joinRanges,
  type Position,
  positionOf,
} from '../../plan/compared.js';
import { type OutputColumn, type Select, select, step } from '../../plan/plan.js';
import { bucketType } from '../../time/buckets.js';
import { type AggregateQuery, fillOfBuckets } from './group-order.js';

interface Sides {
  readonly current: Select;
  readonly earlier: Select;
}

/** Unordered. */
export function compareGroups(query: AggregateQuery, { current, earlier }: Sides): Select {
  const { groups, measure } = query;
  const isZero = measure.kind !== 'numeric' || measure.function === 'sum';
  const keys = groups.map((_, index) => groupAlias(index));
  const position = positionOfGroups(query);
  const joined = joinRanges({ current, earlier, keys, position, values: { [METRIC]: isZero ? 'zero' : 'null' } });
  return select({
    columns: {
      ...passThrough(...keys),
      ...(position && { previous_bucket: earlierBucket(position) }),
      ...comparedValues([METRIC], position),
    },
    from: step('compared', { ...joined, ...fillOfBuckets(query) }),
  });
}

/** The columns of the answer behind those of its groups. */
export const columnsOfCompared = ({ groups, metric }: AggregateQuery): OutputColumn[] => [
  ...earlierBuckets(groups),
  ...comparedColumns([{ name: metric.column, type: 'number' }], [metric.column]),
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
