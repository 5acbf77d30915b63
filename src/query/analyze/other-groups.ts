// Resolves `top 5 other`: the groups behind the largest are summed up, one row for each value of a
// kept group.
import type { StageOf } from '../parse/syntax.js';
import { isTimeField } from './resolve-field.js';
import type { AggregateOrder, Group } from './resolved.js';
import { report, type Scope } from './scope.js';

/** The name of the groups that are summed up. */
export const OTHER = '(other)';

export interface OtherGroups {
  /** Groups that are shown themselves. */
  readonly rows: number;
  /** The order by which they are the first. */
  readonly order: readonly AggregateOrder[];
  /** Position of the group that keeps its values: the time bucket, else the first of several. */
  readonly kept: number | undefined;
}

export function findOther(
  scope: Scope,
  { span }: StageOf<'top'>,
  groups: readonly Group[],
): Pick<OtherGroups, 'kept'> | undefined {
  const bucket = groups.findIndex((group) => group.kind === 'bucket');
  const kept = bucket >= 0 ? bucket : groups.length > 1 ? 0 : undefined;
  const summed = groups.filter((_, index) => index !== kept);
  const untextual = summed.find((group) => !isText(group));
  const example =
    'it goes with fields of text: count by _country | top 5 other, or count by day, _country | top 5 other';
  if (summed.length === 0) return report(scope, span, 'top … other has no field in by to sum up', example);
  if (untextual)
    return report(scope, span, `top … other does not fit by ${untextual.name}, which has no texts`, example);
  return { kept };
}

function isText(group: Group): boolean {
  if (group.kind !== 'field' || isTimeField(group.field)) return false;
  if (group.field.kind === 'column') return group.field.field.type !== 'number';
  return group.field.kind !== 'computed' || group.field.type !== 'number';
}
