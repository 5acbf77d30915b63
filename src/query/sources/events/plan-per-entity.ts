// Plan of an aggregate of an aggregate: one scan aggregates the events of each entity in each
// group, and the metric of a group is an aggregate of those values.
import { groupAlias, METRIC, VALUE_OF_ENTITY } from '../../analyze/grouped-columns.js';
import type { EachEntity, Group } from '../../analyze/resolved.js';
import { planCondition } from '../../conditions/plan.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { passThrough } from '../../plan/answer.js';
import { planEntity } from '../../plan/entity.js';
import { type Expression, isTrue } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { planMeasure } from '../../plan/measure.js';
import { type Select, select, step } from '../../plan/plan.js';
import type { AggregateQuery } from './group-order.js';

/** Groups with their metric, unordered. */
export function groupEntities(
  query: AggregateQuery,
  each: EachEntity,
  context: PlanContext,
  groupOf: (group: Group) => Expression,
): Select {
  const { key, isThere } = planEntity(each.entity);
  const groupBy = query.groups.map((_, index) => groupAlias(index));
  const values = selectEvents(context, {
    selection: query.selection,
    columns: {
      ...Object.fromEntries(query.groups.map((group, index) => [groupAlias(index), groupOf(group)])),
      entity_key: key,
      // Null instead of 0 in time buckets without entities.
      [VALUE_OF_ENTITY]: fn.toNullable(planMeasure(each.measure)),
    },
    filter: isTrue(isThere) ? [] : [isThere],
    groupBy: [...groupBy, 'entity_key'],
    ...(each.having && { having: planCondition(each.having, context.projectId) }),
  });
  return select({
    columns: { ...passThrough(...groupBy), [METRIC]: planMeasure(query.measure) },
    from: step('values_of_entities', values),
    groupBy,
  });
}
