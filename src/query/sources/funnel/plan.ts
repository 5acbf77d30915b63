// Plan of funnels. ClickHouse's windowFunnel returns how far a person came, but neither the times of the steps nor the value at
// the start. So the times of each step are collected per person, and all attempts advance step by step: an attempt is
// (deadline, time of step 1, …, time of step k), and each level takes the earliest remaining event of the next step, which
// is never worse than a later one. Attempts start in order and stay in order, so a level is one merge of two sorted arrays,
// and the first attempt of the last non-empty level counts. Lambdas capture no arrays, because ClickHouse would copy them
// per element.
import type { EventSet, ResolvedQuery } from '../../analyze/resolved.js';
import { areDisjoint } from '../../conditions/events.js';
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { orderBy, passThrough, planAnswer } from '../../plan/answer.js';
import {
  BREAKDOWN,
  type BreakdownPlan,
  eventMs,
  filter,
  first,
  hasIdentity,
  map,
  planBreakdown,
  ratio,
} from '../../plan/behaviour.js';
import {
  alias,
  allOf,
  anyOf,
  column,
  constant,
  type Expression,
  element,
  equals,
  infix,
  integer,
  lambda,
  NULL,
  textValue,
  textValues,
  tupleElement,
} from '../../plan/expressions.js';
import { actor } from '../../plan/field-expressions.js';
import { fn, quantileForEach } from '../../plan/functions.js';
import { extend, type OutputColumn, type Plan, type Select, type Step, select, step } from '../../plan/plan.js';
import type { FunnelQuery } from './analyze.js';

type ResolvedFunnel = FunnelQuery & ResolvedQuery;

// ---- Moments in one number ----

/**
 * Packs a time with its tie-breakers into one number, so that one sorted array holds two kinds: the time, then the rank among
 * events of equal time, then one bit for the kind.
 */
const RANK_AND_KIND_BITS = constant(6);
const RANK_MAX = constant(31);
type Kind = 0 | 1;

const packed = (ms: Expression, ...rest: readonly Expression[]): Expression =>
  infix('+', fn.bitShiftLeft(ms, RANK_AND_KIND_BITS), ...rest);
const unpacked = (moment: Expression): Expression => fn.bitShiftRight(moment, RANK_AND_KIND_BITS);
const rank = (value: Expression): Expression => fn.bitShiftLeft(value, constant(1));
const isOfKind = (moment: Expression, kind: Kind): Expression => equals(fn.bitAnd(moment, constant(1)), constant(kind));

/** For each moment of this kind in the sorted array: the next moment of the other kind, or itself. */
function nextOfOtherKind(moments: Expression, kind: Kind): Expression {
  const isOther = lambda(['moment'], (moment) => isOfKind(moment, kind === 0 ? 1 : 0));
  const isOfThis = lambda(['next', 'moment'], (_, moment) => isOfKind(moment, kind));
  return fn.arrayFilter(isOfThis, fn.arrayReverseFill(isOther, moments), moments);
}

const merge = (left: Expression, right: Expression): Expression => fn.arraySort(fn.arrayConcat(left, right));

// ---- Attempts ----

/** An attempt is a tuple: its deadline, and the times of its steps. */
const deadlineOf = (attempt: Expression): Expression => tupleElement(attempt, 1);
const timeOf = (attempt: Expression, stepNumber: number): Expression => tupleElement(attempt, stepNumber + 1);

const numbersTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
const attemptsAt = (stepNumber: number): Expression => alias(`attempts_${stepNumber}`);

/** The first step with the same events as this one. */
const firstOfEvents = (steps: readonly EventSet[], stepNumber: number): number =>
  steps.findIndex(({ name }) => name === steps[stepNumber - 1]?.name) + 1;

/** Sorted times of the events of a step. Steps of the same events share those of the first. */
const timesName = ({ steps }: FunnelQuery, stepNumber: number): string =>
  `step_${firstOfEvents(steps, stepNumber)}_times`;
const timesOf = (query: FunnelQuery, stepNumber: number): Expression => alias(timesName(query, stepNumber));

// ---- Steps of the plan ----

interface Funnel {
  readonly query: ResolvedFunnel;
  /** Numbers of the steps whose events are not those of an earlier step. */
  readonly distinct: readonly number[];
  /** Whether one event may be of several steps: times are then positions, see `planPositions`. */
  readonly isByPosition: boolean;
  readonly breakdown: BreakdownPlan | undefined;
}

/** One row per person with a first step: sorted times per step with events of its own, and of excluded events. */
function planPeople(funnel: Funnel, context: PlanContext): Step {
  const { query, distinct, isByPosition, breakdown } = funnel;
  const { steps, exclude } = query;
  const isOfStep = (number: number): Expression => anyOf(steps.slice(number - 1, number).map(isOf));
  const isOf = (events: EventSet): Expression => isIn(events, context.projectId);
  const gather = (value: Expression, isGathered: Expression): Expression =>
    fn.arraySort(fn.groupArrayIf(value, isGathered));
  const started = breakdown && fn.tuple(eventMs, column('insert_id'), breakdown.value);
  const times = distinct.map((number) => [timesName(query, number), gather(eventMs, isOfStep(number))]);
  const memberships = infix('+', ...distinct.map((number) => infix('*', isOfStep(number), membership(number))));
  const moment = fn.tuple(eventMs, memberships, ...(breakdown ? [column('insert_id'), breakdown.value] : []));
  const rows = selectEvents(context, {
    selection: query.selection,
    columns: {
      person: actor,
      ...(isByPosition ? { moments: gather(moment, anyOf(distinct.map(isOfStep))) } : Object.fromEntries(times)),
      ...(exclude.length > 0 && { excluded_times: gather(eventMs, anyOf(exclude.map(isOf))) }),
      ...(started && !isByPosition && { starts: gather(started, isOfStep(1)) }),
    },
    filter: [...areOfTypes([...steps, ...exclude]), hasIdentity],
    groupBy: ['person'],
    having: isByPosition ? infix('>', fn.countIf(isOfStep(1)), constant(0)) : fn.notEmpty(timesOf(query, 1)),
  });
  return isByPosition ? planPositions(funnel, step('people', rows)) : step('people', rows);
}

// ---- Positions ----

/** A position is a time with the event's rank among the person's events of equal time. */
const RANK_BITS = constant(5);

/** The bit of a step in the memberships of an event. */
const membership = (stepNumber: number): Expression => integer(2 ** (stepNumber - 1));

/** A moment of a person is a tuple: its time, its memberships, and with a breakdown insert_id and the value. */
const timeOfMoment = (moment: Expression): Expression => tupleElement(moment, 1);
const isMember = (moment: Expression, stepNumber: number): Expression =>
  infix('!=', fn.bitAnd(tupleElement(moment, 2), membership(stepNumber)), constant(0));
const valueOfMoment = (moment: Expression): Expression => tupleElement(moment, 4);

/**
 * When one event may be of several steps, steps are compared by positions instead of times, so that no event serves two steps:
 * each step is at a later position than the one before. Of equal times, events of earlier steps come first.
 */
function planPositions({ query, distinct, breakdown }: Funnel, people: Step): Step {
  const [moments, positions] = [alias('moments'), alias('positions')];
  const ranked = lambda(['moment', 'count'], (moment, count) =>
    infix('+', fn.bitShiftLeft(timeOfMoment(moment), RANK_BITS), fn.least(infix('-', count, constant(1)), RANK_MAX)),
  );
  const counts = fn.arrayEnumerateUniq(map(moments, 'moment', timeOfMoment));
  const positioned = step('positioned', extend(people, { positions: fn.arrayMap(ranked, moments, counts) }));
  const ofStep = (values: Expression, number: number): Expression =>
    fn.arrayFilter(
      lambda(['value', 'moment'], (_, moment) => isMember(moment, number)),
      values,
      moments,
    );
  const start = lambda(['position', 'moment'], (position, moment) =>
    fn.tuple(position, textValue(''), valueOfMoment(moment)),
  );
  const columns = {
    ...Object.fromEntries(distinct.map((number) => [timesName(query, number), ofStep(positions, number)])),
    ...(breakdown && { starts: ofStep(fn.arrayMap(start, positions, moments), 1) }),
  };
  return step('positions_by_step', extend(positioned, columns));
}

/** Milliseconds of a time or a position. */
const msOf = ({ isByPosition }: Funnel, value: Expression): Expression =>
  isByPosition ? fn.bitShiftRight(value, RANK_BITS) : value;

// ---- Attempts, step by step ----

/** Attempts at step 1. An excluded event ends the attempts that started before it. */
function planStarts(funnel: Funnel, people: Step): Step {
  const { query } = funnel;
  const starts = timesOf(query, 1);
  const endOf = (start: Expression): Expression => infix('+', msOf(funnel, start), integer(query.windowMs));
  if (query.exclude.length === 0) {
    const attempts = map(starts, 'start', (start) => fn.tuple(endOf(start), start));
    return step('after_step_1', extend(people, { attempts_1: attempts }));
  }
  const moments = merge(
    map(alias('excluded_times'), 'time', (time) => packed(time)),
    map(starts, 'start', (start) => packed(msOf(funnel, start), constant(1))),
  );
  const withMoments = step('before_step_1', extend(people, { moments_1: moments }));
  const attempt = lambda(['start', 'next'], (start, next) => {
    const broken = infix('-', unpacked(next), constant(1));
    return fn.tuple(fn.if(isOfKind(next, 0), fn.least(endOf(start), broken), endOf(start)), start);
  });
  const attempts = fn.arrayMap(attempt, starts, nextOfOtherKind(alias('moments_1'), 1));
  return step('after_step_1', extend(withMoments, { attempts_1: attempts }));
}

/** The events of a step as moments. The second of two equal times has a higher rank, for steps that repeat events. */
function momentsOf({ query, isByPosition }: Funnel, stepNumber: number): Expression {
  const times = timesOf(query, stepNumber);
  if (isByPosition || firstOfEvents(query.steps, stepNumber) === stepNumber) {
    return map(times, 'time', (time) => packed(time, constant(1)));
  }
  const ranked = lambda(['time', 'count'], (time, count) =>
    packed(time, rank(fn.least(infix('-', count, constant(1)), RANK_MAX)), constant(1)),
  );
  return fn.arrayMap(ranked, times, fn.arrayEnumerateUniq(times));
}

/** Where an attempt waits for its next step. One event serves one step: events of equal time that it has used are skipped. */
function waiting({ query, isByPosition }: Funnel, stepNumber: number, attempt: Expression): Expression {
  const { steps } = query;
  const lastTime = timeOf(attempt, stepNumber - 1);
  if (isByPosition) return packed(infix('+', lastTime, constant(1)));
  const used = numbersTo(stepNumber - 1)
    .filter((earlier) => firstOfEvents(steps, earlier) === firstOfEvents(steps, stepNumber))
    .map((earlier) => equals(timeOf(attempt, earlier), lastTime));
  const [one] = used;
  if (one === undefined) return packed(lastTime);
  return packed(lastTime, rank(used.length === 1 ? one : infix('+', ...used)));
}

/** Advances the attempts to this step. */
function planNextStep(funnel: Funnel, stepNumber: number, before: Step): Step {
  const attempts = attemptsAt(stepNumber - 1);
  const moments = `moments_${stepNumber}`;
  const merged = merge(
    map(attempts, 'attempt', (attempt) => waiting(funnel, stepNumber, attempt)),
    momentsOf(funnel, stepNumber),
  );
  const withMoments = step(`before_step_${stepNumber}`, extend(before, { [moments]: merged }));
  const advance = lambda(['attempt', 'next'], (attempt, next) => {
    const isInTime = allOf([isOfKind(next, 1), infix('<=', msOf(funnel, unpacked(next)), deadlineOf(attempt))]);
    const earlier = numbersTo(stepNumber - 1).map((number) => timeOf(attempt, number));
    return fn.tuple(deadlineOf(attempt), ...earlier, fn.if(isInTime, unpacked(next), constant(0)));
  });
  const advanced = fn.arrayMap(advance, attempts, nextOfOtherKind(alias(moments), 0));
  const alive = filter(advanced, 'attempt', (attempt) => infix('>', timeOf(attempt, stepNumber), constant(0)));
  return step(`after_step_${stepNumber}`, extend(withMoments, { [`attempts_${stepNumber}`]: alive }));
}

/** The counted attempt of each person: the times of its steps. */
function planCounted({ query, breakdown }: Funnel, from: Step): Step {
  const ofCounted = (read: (attempt: Expression, reached: number) => Expression): Expression => {
    const later = numbersTo(query.steps.length).slice(1).reverse();
    const cases = later.flatMap((reached) => [
      fn.notEmpty(attemptsAt(reached)),
      read(first(attemptsAt(reached)), reached),
    ]);
    return fn.multiIf(...cases, read(first(attemptsAt(1)), 1));
  };
  const times = ofCounted((attempt, reached) =>
    fn.array(...numbersTo(reached).map((number) => timeOf(attempt, number))),
  );
  const columns = {
    ...(breakdown && passThrough('starts')),
    started: ofCounted((attempt) => timeOf(attempt, 1)),
    times,
  };
  return step('counted_attempts', select({ columns, from }));
}

/** People and medians per step as arrays: one row, or one per breakdown value. */
function planArrays(funnel: Funnel, from: Step): Step {
  const { breakdown } = funnel;
  const [times, started] = [alias('times'), alias('started')];
  const isFirst = lambda(['start'], (start) => equals(tupleElement(start, 1), started));
  const rows = select({
    columns: {
      ...(breakdown && { [BREAKDOWN]: tupleElement(fn.arrayFirst(isFirst, alias('starts')), 3) }),
      reached: fn.sumForEach(map(times, 'time', () => constant(1))),
      medians: quantileForEach(
        0.5,
        map(times, 'time', (time) => infix('-', msOf(funnel, time), msOf(funnel, started))),
      ),
    },
    from,
    groupBy: breakdown ? [BREAKDOWN] : [],
  });
  return step('reached_steps', rows);
}

const MS_PER_SECOND = constant(1000);

/** One row per step. */
function planRows({ query, breakdown }: Funnel, from: Step): Select {
  const names = textValues(query.steps.map(({ name }) => name));
  const [number, reached] = [alias('step'), alias('reached')];
  const users = alias('users');
  const isFirst = equals(number, constant(1));
  const hasMedian = allOf([infix('>', number, constant(1)), infix('>', users, constant(0))]);
  const seconds = infix('/', element(alias('medians'), number), MS_PER_SECOND);
  return select({
    columns: {
      ...(breakdown && passThrough(BREAKDOWN)),
      ...passThrough('step'),
      event: element(names, number),
      users: element(reached, number),
      rate: ratio(users, first(reached)),
      step_rate: fn.if(isFirst, constant(1), ratio(users, element(reached, infix('-', number, constant(1))))),
      median_seconds: fn.if(hasMedian, seconds, NULL),
    },
    from: step('steps', extend(from, { step: fn.arrayJoin(fn.arrayEnumerate(names)) })),
    orderBy: [...(breakdown ? [orderBy(first(reached), 'desc'), ...breakdown.order] : []), orderBy('step')],
  });
}

const COLUMNS: readonly OutputColumn[] = [
  { name: 'step', type: 'number' },
  { name: 'event', type: 'nullable_text' },
  { name: 'users', type: 'number' },
  { name: 'rate', type: 'rate' },
  { name: 'step_rate', type: 'rate' },
  { name: 'median_seconds', type: 'number' },
];

export function planFunnel(query: ResolvedFunnel, context: PlanContext): Plan {
  const breakdown = query.by && planBreakdown(query.by);
  const { steps } = query;
  const distinct = numbersTo(steps.length).filter((number) => firstOfEvents(steps, number) === number);
  const sets = distinct.flatMap((number) => steps.slice(number - 1, number));
  const isByPosition = sets.some((set, index) => sets.slice(index + 1).some((other) => !areDisjoint(set, other)));
  const funnel: Funnel = { query, distinct, isByPosition, breakdown };
  let attempts = planStarts(funnel, planPeople(funnel, context));
  for (let number = 2; number <= steps.length; number++) attempts = planNextStep(funnel, number, attempts);
  return planAnswer({
    query,
    range: query.selection.range,
    context,
    mode: 'funnel',
    select: planRows(funnel, planArrays(funnel, planCounted(funnel, attempts))),
    columns: [...(breakdown ? [breakdown.output] : []), ...COLUMNS],
    metadata: { funnel_steps: steps.map(({ name }) => name) },
  });
}
