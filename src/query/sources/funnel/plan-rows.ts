// Rows of a funnel from the counted attempts: users and rates of the steps, their times, or a
// histogram of the times.
import { orderBy, passThrough } from '../../plan/answer.js';
import { BREAKDOWN, filter, first, map, ratio } from '../../plan/behaviour.js';
import {
  alias,
  allOf,
  constant,
  type Expression,
  element,
  equals,
  infix,
  integer,
  lambda,
  NULL,
  textValues,
  tupleElement,
} from '../../plan/expressions.js';
import { fillBuckets } from '../../plan/fill.js';
import { fn, quantileForEach, quantilesForEach } from '../../plan/functions.js';
import {
  type Columns,
  extend,
  type OrderBy,
  type OutputColumn,
  type Select,
  type Step,
  select,
  step,
} from '../../plan/plan.js';
import { bucketType } from '../../time/buckets.js';
import type { Counted, Funnel } from './funnel.js';

export interface Rows {
  readonly select: Select;
  readonly columns: readonly OutputColumn[];
}

export const BUCKET = 'bucket';

// ---- Groups ----

/** Names of the group columns, as the query has them. */
export function groupNames({ query, breakdown }: Funnel): string[] {
  const names = [...(query.granularity ? [BUCKET] : []), ...(breakdown ? [BREAKDOWN] : [])];
  return query.isFieldFirst ? names.reverse() : names;
}

export function groupOutputs({ query, breakdown }: Funnel): OutputColumn[] {
  const { granularity } = query;
  const time: OutputColumn[] = granularity ? [{ name: granularity, type: bucketType(granularity) }] : [];
  const outputs = [...time, ...(breakdown ? [breakdown.output] : [])];
  return query.isFieldFirst ? outputs.reverse() : outputs;
}

/**
 * One row per group: of the people who reached each step their number, and other values, as arrays.
 */
export function selectGroups(funnel: Funnel, { from, value }: Counted, values: Columns): Select {
  const columns: Columns = {
    ...(funnel.query.granularity && passThrough(BUCKET)),
    ...(value && { [BREAKDOWN]: value }),
    reached: fn.sumForEach(map(alias('times'), 'time', () => constant(1))),
    ...values,
  };
  return select({ columns, from, groupBy: groupNames(funnel) });
}

/** With every bucket of the range, when time is the only group. */
export function fillGroups({ query, breakdown }: Funnel, groups: Select): Step {
  const { granularity, timezone, selection } = query;
  if (granularity === undefined || breakdown) return step('reached_steps', groups);
  return step('reached_steps', fillBuckets(groups, BUCKET, { range: selection.range, granularity, timezone }));
}

const planGroups = (funnel: Funnel, counted: Counted, values: Columns): Step =>
  fillGroups(funnel, selectGroups(funnel, counted, values));

const orderOfGroups = ({ query, breakdown }: Funnel): OrderBy[] => [
  ...(query.granularity ? [orderBy(BUCKET)] : []),
  ...(breakdown ? [orderBy(first(alias('reached')), 'desc'), ...breakdown.order] : []),
];

// ---- Steps ----

const namesOf = ({ query }: Funnel): Expression => textValues(query.steps.map(({ name }) => name));

/** Name of the step; null with `order any`, where a row belongs to no event. */
const eventAt = (funnel: Funnel, number: Expression): Expression =>
  funnel.query.order === 'any' ? NULL : element(namesOf(funnel), number);

/** Milliseconds from the first step to each. */
const durations = ({ msOf }: Counted): Expression =>
  map(alias('times'), 'time', (time) => infix('-', msOf(time), msOf(alias('started'))));

const MS_PER_SECOND = constant(1000);

/** Durations of the steps after the first, which most people do not reach. */
const laterDurations = (funnel: Funnel, counted: Counted): Expression =>
  fn.arraySlice(durations(counted), integer(2), integer(funnel.query.steps.length - 1));

/** The element of a step in an array of the steps after the first. */
const ofLater = (array: Expression, number: Expression): Expression => element(array, infix('-', number, constant(1)));

/** Milliseconds in seconds; null for a step without users. */
function secondsOf(ms: Expression, number: Expression): Expression {
  const seconds = infix('/', ms, MS_PER_SECOND);
  const hasPeople = allOf([infix('>', number, constant(1)), infix('>', alias('users'), constant(0))]);
  return fn.if(hasPeople, seconds, NULL);
}

const STEP_COLUMNS: readonly OutputColumn[] = [
  { name: 'step', type: 'number' },
  { name: 'event', type: 'nullable_text' },
  { name: 'users', type: 'number' },
];

/** The rates of a step, from its users and the array of the people who reached each. */
export function ratesOf(reached: Expression, users: Expression) {
  const number = alias('step');
  const before = element(reached, infix('-', number, constant(1)));
  return {
    rate: ratio(users, first(reached)),
    step_rate: fn.if(equals(number, constant(1)), constant(1), ratio(users, before)),
  };
}

/** Median times of the steps after the first. */
export const mediansOf = (funnel: Funnel, counted: Counted): Expression =>
  quantileForEach(0.5, laterDurations(funnel, counted));

/** One row per group and step. */
export function rowsOfSteps(
  funnel: Funnel,
  groups: Step,
  { ofGroups, metrics }: Record<'ofGroups' | 'metrics', Columns>,
): Select {
  const number = alias('step');
  return select({
    columns: {
      ...ofGroups,
      ...passThrough('step'),
      event: eventAt(funnel, number),
      ...metrics,
      median_seconds: secondsOf(ofLater(alias('medians'), number), number),
    },
    from: step('steps', extend(groups, { step: fn.arrayJoin(fn.arrayEnumerate(namesOf(funnel))) })),
    orderBy: [...orderOfGroups(funnel), orderBy('step')],
  });
}

/** Columns that follow those of the groups. */
export const COLUMNS_OF_STEPS: readonly OutputColumn[] = [
  ...STEP_COLUMNS,
  { name: 'rate', type: 'rate' },
  { name: 'step_rate', type: 'rate' },
  { name: 'median_seconds', type: 'number', isComputed: true },
];

export function planSteps(funnel: Funnel, counted: Counted): Rows {
  const groups = planGroups(funnel, counted, { medians: mediansOf(funnel, counted) });
  const reached = alias('reached');
  return {
    select: rowsOfSteps(funnel, groups, {
      ofGroups: passThrough(...groupNames(funnel)),
      metrics: { users: element(reached, alias('step')), ...ratesOf(reached, alias('users')) },
    }),
    columns: [...groupOutputs(funnel), ...COLUMNS_OF_STEPS],
  };
}

// ---- Times ----

const QUANTILES = { p10: 0.1, median: 0.5, p90: 0.9 } as const;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const LIMITS_MS = {
  within_1m: MINUTE_MS,
  within_1h: 60 * MINUTE_MS,
  within_1d: DAY_MS,
  within_7d: 7 * DAY_MS,
  within_30d: 30 * DAY_MS,
} as const;

/** The steps after the first. */
const laterSteps = (funnel: Funnel): Expression =>
  fn.arrayJoin(fn.arraySlice(fn.arrayEnumerate(namesOf(funnel)), integer(2), integer(funnel.query.steps.length - 1)));

export function planTimes(funnel: Funnel, counted: Counted): Rows {
  const later = laterDurations(funnel, counted);
  const counts = Object.entries(LIMITS_MS).map(([name, ms]) => [
    `${name}_by_step`,
    fn.sumForEach(map(later, 'duration', (duration) => infix('<=', duration, integer(ms)))),
  ]);
  const quantiles = quantilesForEach(Object.values(QUANTILES), later);
  const groups = planGroups(funnel, counted, { quantiles_by_step: quantiles, ...Object.fromEntries(counts) });
  const number = alias('step');
  const quantileAt = (index: number): Expression =>
    element(ofLater(alias('quantiles_by_step'), number), integer(index + 1));
  const columns: Columns = {
    ...passThrough(...groupNames(funnel)),
    ...passThrough('step'),
    event: eventAt(funnel, number),
    users: element(alias('reached'), number),
    ...Object.fromEntries(Object.keys(QUANTILES).map((name, index) => [name, secondsOf(quantileAt(index), number)])),
    ...Object.fromEntries(
      Object.keys(LIMITS_MS).map((name) => [name, ratio(ofLater(alias(`${name}_by_step`), number), alias('users'))]),
    ),
  };
  return {
    select: select({
      columns,
      from: step('steps', extend(groups, { step: laterSteps(funnel) })),
      orderBy: [...orderOfGroups(funnel), orderBy('step')],
    }),
    columns: [
      ...groupOutputs(funnel),
      ...STEP_COLUMNS,
      ...Object.keys(QUANTILES).map((name): OutputColumn => ({ name, type: 'number', isComputed: true })),
      ...Object.keys(LIMITS_MS).map((name): OutputColumn => ({ name, type: 'rate' })),
    ],
  };
}

// ---- Histogram ----

/** A step and one of its bins as one number. */
const BINS_MAX = integer(2 ** 32);
const codeOf = (stepNumber: Expression, bin: Expression): Expression =>
  infix('+', infix('*', stepNumber, BINS_MAX), bin);

/** Every bin from 0 to the last with people, of each step with users. */
export function planHistogram(funnel: Funnel, counted: Counted, widthMs: number): Rows {
  const { times, number, bin } = { times: alias('times'), number: alias('step'), bin: alias('bin') };
  const code = lambda(['duration', 'number'], (duration, of) => codeOf(of, fn.intDiv(duration, integer(widthMs))));
  const codes = fn.arrayMap(code, durations(counted), fn.arrayEnumerate(times));
  const ones = map(times, 'time', () => constant(1));
  const groups = planGroups(funnel, counted, { totals: fn.sumMap(codes, ones) });
  const [coded, counts] = [tupleElement(alias('totals'), 1), tupleElement(alias('totals'), 2)];
  const ofStep = filter(coded, 'code', (of) => equals(fn.intDiv(of, BINS_MAX), number));
  const lastBin = infix('-', fn.arrayMax(ofStep), codeOf(number, constant(0)));
  const hasPeople = infix('>', element(alias('reached'), number), constant(0));
  const bins = fn.if(hasPeople, infix('+', lastBin, constant(1)), constant(0));
  const steps = step('steps', extend(groups, { step: laterSteps(funnel) }));
  return {
    select: select({
      columns: {
        ...passThrough(...groupNames(funnel)),
        ...passThrough('step'),
        from_seconds: infix('*', bin, integer(widthMs / 1000)),
        users: element(counts, fn.indexOf(coded, codeOf(number, bin))),
      },
      from: step('bins', extend(steps, { bin: fn.arrayJoin(fn.range(bins)) })),
      orderBy: [...orderOfGroups(funnel), orderBy('step'), orderBy('bin')],
    }),
    columns: [
      ...groupOutputs(funnel),
      { name: 'step', type: 'number' },
      { name: 'from_seconds', type: 'number' },
      { name: 'users', type: 'number' },
    ],
  };
}
