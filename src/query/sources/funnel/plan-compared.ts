// Plan of `compare` over a funnel: of each group the people who reached the steps in both ranges,
// and the metrics of each.
import type { TimeRange } from '../../analyze/resolved.js';
import { passThrough } from '../../plan/answer.js';
import {
  comparedColumns,
  earlierBucket,
  earlierOf,
  joinRanges,
  ofEarlier,
  type Position,
  positionOf,
  withChange,
} from '../../plan/compared.js';
import { alias, element } from '../../plan/expressions.js';
import type { OutputColumn, Select } from '../../plan/plan.js';
import { bucketType } from '../../time/buckets.js';
import { METRICS } from './analyze.js';
import type { Counted, Funnel } from './funnel.js';
import {
  BUCKET,
  COLUMNS_OF_STEPS,
  fillGroups,
  groupNames,
  groupOutputs,
  mediansOf,
  type Rows,
  ratesOf,
  rowsOfSteps,
  selectGroups,
} from './plan-rows.js';

interface Sides {
  readonly current: Counted;
  readonly earlier: Counted;
  /** The earlier range. */
  readonly range: TimeRange;
}

export function planComparedSteps(funnel: Funnel, { current, earlier, range }: Sides): Rows {
  const { granularity } = funnel.query;
  const position = positionIn(funnel, range);
  const groupsOf = (counted: Counted): Select => selectGroups(funnel, counted, { medians: mediansOf(funnel, counted) });
  const groups = joinRanges({
    current: groupsOf(current),
    earlier: groupsOf(earlier),
    keys: groupNames(funnel),
    position,
    values: { reached: 'zero', medians: 'zero' },
  });
  const [reached, before] = [alias('reached'), alias(earlierOf('reached'))];
  const { rate, step_rate } = ratesOf(reached, alias('users'));
  const previous = ratesOf(before, alias('previous_users'));
  const buckets: OutputColumn[] = granularity
    ? [{ name: `previous_${granularity}`, type: bucketType(granularity) }]
    : [];
  return {
    select: rowsOfSteps(funnel, fillGroups(funnel, groups), {
      ofGroups: {
        ...passThrough(...groupNames(funnel)),
        ...(position && { previous_bucket: earlierBucket(position) }),
      },
      metrics: {
        ...withChange('users', element(reached, alias('step')), ofEarlier(element(before, alias('step')), position)),
        ...withChange('rate', rate, ofEarlier(previous.rate, position)),
        ...withChange('step_rate', step_rate, ofEarlier(previous.step_rate, position)),
      },
    }),
    columns: [...groupOutputs(funnel), ...buckets, ...comparedColumns(COLUMNS_OF_STEPS, METRICS)],
  };
}

function positionIn({ query }: Funnel, earlier: TimeRange): Position | undefined {
  const { granularity, selection, timezone } = query;
  return granularity && positionOf(BUCKET, { current: selection.range, earlier }, { granularity, timezone });
}
