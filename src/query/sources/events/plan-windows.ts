// Plan of `rolling` and `cumulative`: events are aggregated per day, every day counts from itself
// until the last day of the windows that it is in, and each bucket sums up the days that count at
// its end. For distinct values the days of each value are joined to spans first, so that a value
// counts once in a window.

import { groupAlias, METRIC } from '../../analyze/grouped-columns.js';
import type { Group, Measure, MetricWindow, TimeRange } from '../../analyze/resolved.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { passThrough } from '../../plan/answer.js';
import { ratio } from '../../plan/behaviour.js';
import { distinctValue, hasUnit } from '../../plan/distinct.js';
import {
  alias,
  allOf,
  column,
  constant,
  type Expression,
  infix,
  integer,
  integers,
  lambda,
  NULL,
  tupleElement,
} from '../../plan/expressions.js';
import { readNumber } from '../../plan/field-expressions.js';
import { fn } from '../../plan/functions.js';
import { type Columns, extend, type Select, type Step, select, step } from '../../plan/plan.js';
import { bucketOf } from '../../time/buckets.js';
import { EARLIEST_MS } from '../../time/range.js';
import { dateOfDayNumber, instantOf } from '../../time/timezone.js';
import { windowEnds } from '../../time/window-ends.js';
import type { AggregateQuery } from './group-order.js';

/** Longer than all days of the calendar. */
const EVER_DAYS = 100_000;

interface Windows {
  readonly query: AggregateQuery;
  readonly ends: readonly number[];
  readonly days: number;
  /** The groups that are fields. */
  readonly fields: Columns;
}

/** Groups with their metric, unordered. */
export function groupWindows(
  query: AggregateQuery,
  window: MetricWindow,
  context: PlanContext,
  groupOf: (group: Group) => Expression,
): Select {
  const { groups, selection, timezone } = query;
  const bucketIndex = groups.findIndex((group) => group.kind === 'bucket');
  const bucket = groups[bucketIndex] as Extract<Group, { kind: 'bucket' }>;
  const { granularity } = bucket;
  const ends = windowEnds(selection.range, granularity, timezone);
  const days = window.kind === 'rolling' ? window.days : EVER_DAYS;
  const fields = Object.fromEntries(
    groups.flatMap((group, index) => (index === bucketIndex ? [] : [[groupAlias(index), groupOf(group)]])),
  );
  const windows: Windows = { query, ends, days, fields };
  const range = window.kind === 'rolling' ? rangeOfDays(windows) : selection.range;
  const spans =
    query.measure.kind === 'unique' ? spansOfValues(windows, range, context) : spansOfDays(windows, range, context);
  const counts = lambda(['end'], (end) =>
    allOf([infix('>=', end, alias('first_day')), infix('<', end, alias('end_day'))]),
  );
  const inWindows = step(
    'days_of_windows',
    extend(spans, { window_end: fn.arrayJoin(fn.arrayFilter(counts, integers(ends))) }),
  );
  const bucketStart = bucketOf(fn.toDate(alias('window_end')), { granularity, timezone: 'UTC' });
  return select({
    columns: {
      ...Object.fromEntries(
        groups.map((_, index) => [groupAlias(index), index === bucketIndex ? bucketStart : alias(groupAlias(index))]),
      ),
      [METRIC]: totalOf(query.measure),
    },
    from: inWindows,
    groupBy: groups.map((_, index) => groupAlias(index)),
  });
}

/** The days of all windows, up to the end of the range. */
function rangeOfDays({ query, ends, days }: Windows): TimeRange {
  const { selection, timezone } = query;
  const start = instantOf(dateOfDayNumber((ends[0] ?? 0) - days + 1), timezone);
  return { fromMs: Math.max(EARLIEST_MS, start), toMs: selection.range.toMs };
}

const dayOf = ({ query }: Windows, time: Expression = column('time')): Expression =>
  fn.toInt64(fn.toRelativeDayNum(bucketOf(time, { granularity: 'day', timezone: query.timezone })));

const until = ({ days }: Windows, day: Expression): Expression => infix('+', day, integer(days));

/** One row per day and group, with the parts of the metric. */
function spansOfDays(windows: Windows, range: TimeRange, context: PlanContext): Step {
  const { query, fields } = windows;
  const rows = selectEvents(context, {
    selection: { ...query.selection, range },
    columns: { ...fields, first_day: dayOf(windows), ...partsOf(query.measure) },
    groupBy: [...Object.keys(fields), 'first_day'],
  });
  return step('spans', extend(step('days', rows), { end_day: until(windows, alias('first_day')) }));
}

/** One row per group and span of days, with the number of values that count in it. */
function spansOfValues(windows: Windows, range: TimeRange, context: PlanContext): Step {
  const groupBy = Object.keys(windows.fields);
  const { from, firstDay, lastDay } =
    windows.query.window?.kind === 'cumulative'
      ? firstDaysOfValues(windows, range, context)
      : spansOfEachValue(windows, range, context);
  const rows = select({
    columns: {
      ...passThrough(...groupBy),
      first_day: firstDay,
      end_day: until(windows, lastDay),
      part: fn.countIf(fn.isNotNull(alias('counted'))),
    },
    from,
    groupBy: [...groupBy, 'first_day', 'end_day'],
  });
  return step('spans', rows);
}

/** One row per group and value. */
function selectValues({ query, fields }: Windows, range: TimeRange, context: PlanContext, columns: Columns): Select {
  if (query.measure.kind !== 'unique') throw new Error('distinct values are of unique');
  const { value, isPresent } = distinctValue(query.measure.field);
  const groupBy = Object.keys(fields);
  // A group without a value has a row of the answer. Where there are no groups, all buckets are
  // filled, and a key that is never null takes three quarters of the time.
  const hasGroups = groupBy.length > 0;
  return selectEvents(context, {
    selection: { ...query.selection, range },
    columns: { ...fields, counted: isPresent && hasGroups ? fn.if(isPresent, value, NULL) : value, ...columns },
    filter: isPresent && !hasGroups ? [isPresent] : hasUnit(query.measure),
    groupBy: [...groupBy, 'counted'],
  });
}

interface ValueSpans {
  readonly from: Step;
  readonly firstDay: Expression;
  readonly lastDay: Expression;
}

/** A value counts from its first day on. */
function firstDaysOfValues(windows: Windows, range: TimeRange, context: PlanContext): ValueSpans {
  const values = selectValues(windows, range, context, { first_at: fn.min(column('time')) });
  const day = dayOf(windows, alias('first_at'));
  return { from: step('first_times_of_values', values), firstDay: day, lastDay: alias('first_day') };
}

function spansOfEachValue(windows: Windows, range: TimeRange, context: PlanContext): ValueSpans {
  const values = selectValues(windows, range, context, { days: fn.arraySort(fn.groupUniqArray(dayOf(windows))) });
  // A day at which no earlier span counts begins one; it ends where the days after its last one no
  // longer count.
  const days = alias('days');
  const starts = fn.arrayFilter(
    lambda(['day', 'before'], (day, before) => infix('>=', day, until(windows, before))),
    days,
    fn.arrayShiftRight(days, constant(1), integer(-EVER_DAYS)),
  );
  const lasts = fn.arrayFilter(
    lambda(['day', 'after'], (day, after) => infix('>=', after, until(windows, day))),
    days,
    fn.arrayShiftLeft(days, constant(1), integer(2 * EVER_DAYS)),
  );
  const spans = extend(step('days_of_values', values), { span: fn.arrayJoin(fn.arrayZip(starts, lasts)) });
  return {
    from: step('spans_of_values', spans),
    firstDay: tupleElement(alias('span'), 1),
    lastDay: tupleElement(alias('span'), 2),
  };
}

function partsOf(measure: Measure): Columns {
  if (measure.kind !== 'numeric') return { part: fn.count() };
  const number = readNumber(measure.field);
  if (measure.function === 'min') return { part: fn.min(number) };
  if (measure.function === 'max') return { part: fn.max(number) };
  return { part: fn.sum(number), numbers: fn.countIf(fn.isNotNull(number)) };
}

function totalOf(measure: Measure): Expression {
  const part = alias('part');
  if (measure.kind !== 'numeric') return fn.sum(part);
  switch (measure.function) {
    case 'min':
      return fn.min(part);
    case 'max':
      return fn.max(part);
    case 'avg':
      return ratio(fn.sum(part), fn.sum(alias('numbers')));
    default:
      return fn.ifNull(fn.sum(part), constant(0));
  }
}
