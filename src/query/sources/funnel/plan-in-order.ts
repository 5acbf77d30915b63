// Plan of funnels in order. ClickHouse's windowFunnel returns how far a person came, but neither
// the times of the steps nor the value at the start. So the times of each step are collected per
// person, and all attempts advance step by step: an attempt is (deadline, time of step 1, …, time
// of step k), and each level takes the earliest remaining event of the next step, which is never
// worse than a later one. Attempts start in order and stay in order, so a level is one merge of two
// sorted arrays, and the first attempt of the last non-empty level counts. Lambdas capture no
// arrays, because ClickHouse would copy them per element.
import { areOfTypes, isIn } from '../../conditions/plan-events.js';
import { idColumn } from '../../people/list-people.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { passThrough } from '../../plan/answer.js';
import { eventMs, filter, first, map } from '../../plan/behaviour.js';
import {
  alias,
  allOf,
  anyOf,
  column,
  constant,
  type Expression,
  equals,
  infix,
  integer,
  lambda,
  textValue,
  tupleElement,
} from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { extend, type Step, select, step } from '../../plan/plan.js';
import type { FunnelQuery } from './analyze.js';
import {
  type Counted,
  type Funnel,
  firstOfEvents,
  hasMembership,
  isOfStep,
  lowestMembership,
  membershipsOf,
  numbersTo,
} from './funnel.js';
import { planBest } from './plan-counted.js';
import { positionsOf, RANK_MAX, timeOfPosition } from './positions.js';

// ---- Moments in one number ----

/**
 * Packs a time with its tie-breakers into one number, so that one sorted array holds two kinds: the
 * time, then the rank among events of equal time, then one bit for the kind.
 */
const RANK_AND_KIND_BITS = constant(6);
type Kind = 0 | 1;

const packed = (ms: Expression, ...rest: readonly Expression[]): Expression =>
  infix('+', fn.bitShiftLeft(ms, RANK_AND_KIND_BITS), ...rest);
const unpacked = (moment: Expression): Expression => fn.bitShiftRight(moment, RANK_AND_KIND_BITS);
const rank = (value: Expression): Expression => fn.bitShiftLeft(value, constant(1));
const isOfKind = (moment: Expression, kind: Kind): Expression => equals(fn.bitAnd(moment, constant(1)), constant(kind));

/**
 * For each moment of this kind in the sorted array: the next moment of the other kind, or itself.
 */
function nextOfOtherKind(moments: Expression, kind: Kind): Expression {
  const isOther = lambda(['moment'], (moment) => isOfKind(moment, kind === 0 ? 1 : 0));
  const isOfThis = lambda(['next', 'moment'], (_, moment) => isOfKind(moment, kind));
  return fn.arrayFilter(isOfThis, fn.arrayReverseFill(isOther, moments), moments);
}

const merge = (left: Expression, right: Expression): Expression => fn.arraySort(fn.arrayConcat(left, right));

// ---- Attempts ----

/**
 * An attempt is a tuple: its deadline, the times of its steps, and where it carries one, the value
 * at its start.
 */
const deadlineOf = (attempt: Expression): Expression => tupleElement(attempt, 1);
const timeOf = (attempt: Expression, stepNumber: number): Expression => tupleElement(attempt, stepNumber + 1);

const valueAt = (attempt: Expression, reached: number): Expression => tupleElement(attempt, reached + 2);

/**
 * Attempts of several buckets have several values; else the value of the counted one is looked up
 * by its start.
 */
const carriesValue = ({ query, breakdown }: Funnel): boolean =>
  breakdown !== undefined && query.granularity !== undefined;

const attemptsAt = (stepNumber: number): Expression => alias(`attempts_${stepNumber}`);

/** Sorted times of the events of a step. Steps of the same events share those of the first. */
const timesName = ({ steps }: FunnelQuery, stepNumber: number): string =>
  `step_${firstOfEvents(steps, stepNumber)}_times`;
const timesOf = (query: FunnelQuery, stepNumber: number): Expression => alias(timesName(query, stepNumber));

// ---- Events of people ----

/**
 * One row per person with a first step: sorted times per step with events of its own, and of
 * excluded events.
 */
function planPeople(funnel: Funnel, context: PlanContext): Step {
  const { query, distinct, doOverlap, breakdown, subject } = funnel;
  const { steps, exclude } = query;
  const isOf = (number: number): Expression => isOfStep(funnel, number, context);
  const isExcluded = anyOf(exclude.map((events) => isIn(events, context.projectId)));
  const gather = (value: Expression, isGathered: Expression): Expression =>
    fn.arraySort(fn.groupArrayIf(value, isGathered));
  const started = breakdown && fn.tuple(eventMs, column('insert_id'), breakdown.value);
  const times = distinct.map((number) => [timesName(query, number), gather(eventMs, isOf(number))]);
  const memberships = membershipsOf(distinct, isOf);
  const moment = fn.tuple(eventMs, memberships, ...(breakdown ? [column('insert_id'), breakdown.value] : []));
  const moments = fn.arraySort(inStepOrder, fn.groupArrayIf(moment, anyOf(distinct.map(isOf))));
  const rows = selectEvents(context, {
    selection: query.selection,
    columns: {
      person: subject.value,
      ...(query.people && idColumn),
      ...(doOverlap ? { moments } : Object.fromEntries(times)),
      ...(exclude.length > 0 && { excluded_times: gather(eventMs, isExcluded) }),
      ...(started && !doOverlap && { starts: gather(started, isOf(1)) }),
    },
    filter: [...areOfTypes([...steps, ...exclude]), subject.isPresent],
    groupBy: ['person'],
    having: doOverlap ? infix('>', fn.countIf(isOf(1)), constant(0)) : fn.notEmpty(timesOf(query, 1)),
  });
  return doOverlap ? planPositions(funnel, step('people', rows)) : step('people', rows);
}

/**
 * Sort key of a moment: its time, then the first step that the event is of. Of two events with the
 * same first step, the one with further steps comes later, because it can serve those.
 */
const inStepOrder = lambda(['moment'], (moment) =>
  fn.tuple(tupleElement(moment, 1), lowestMembership(tupleElement(moment, 2)), moment),
);

/**
 * A moment of a person is a tuple: its time, its memberships, and with a breakdown insert_id and
 * the value.
 *
 * When one event may be of several steps, steps are compared by positions instead of times, so that
 * no event serves two steps: each step is at a later position than the one before. Of equal times,
 * events of earlier steps come first.
 */
function planPositions({ query, distinct, breakdown }: Funnel, people: Step): Step {
  const [moments, positions] = [alias('moments'), alias('positions')];
  const positioned = step(
    'positioned',
    extend(people, { positions: positionsOf(moments, (moment) => tupleElement(moment, 1)) }),
  );
  const ofStep = (values: Expression, number: number): Expression =>
    fn.arrayFilter(
      lambda(['value', 'moment'], (_, moment) => hasMembership(tupleElement(moment, 2), number)),
      values,
      moments,
    );
  const start = lambda(['position', 'moment'], (position, moment) =>
    fn.tuple(position, textValue(''), tupleElement(moment, 4)),
  );
  const columns = {
    ...Object.fromEntries(distinct.map((number) => [timesName(query, number), ofStep(positions, number)])),
    ...(breakdown && { starts: ofStep(fn.arrayMap(start, positions, moments), 1) }),
  };
  return step('positions_by_step', extend(positioned, columns));
}

/** Milliseconds of a time or a position. */
const msOf = ({ doOverlap }: Funnel, value: Expression): Expression => (doOverlap ? timeOfPosition(value) : value);

// ---- Attempts, step by step ----

/** Attempts at step 1 with their values: `starts` has one for each, in the same order. */
function withValues(funnel: Funnel, attempts: Expression): Expression {
  if (!carriesValue(funnel)) return attempts;
  const valued = lambda(['attempt', 'start'], (attempt, start) =>
    fn.tuple(deadlineOf(attempt), timeOf(attempt, 1), tupleElement(start, 3)),
  );
  return fn.arrayMap(valued, attempts, alias('starts'));
}

/** Attempts at step 1. An excluded event ends the attempts that started before it. */
function planStarts(funnel: Funnel, people: Step): Step {
  const { query } = funnel;
  const starts = timesOf(query, 1);
  const endOf = (start: Expression): Expression => infix('+', msOf(funnel, start), integer(query.windowMs));
  if (query.exclude.length === 0) {
    const attempts = map(starts, 'start', (start) => fn.tuple(endOf(start), start));
    return step('after_step_1', extend(people, { attempts_1: withValues(funnel, attempts) }));
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
  return step('after_step_1', extend(withMoments, { attempts_1: withValues(funnel, attempts) }));
}

/**
 * The events of a step as moments. The second of two equal times has a higher rank, for steps that
 * repeat events.
 */
function momentsOf({ query, doOverlap }: Funnel, stepNumber: number): Expression {
  const times = timesOf(query, stepNumber);
  if (doOverlap || firstOfEvents(query.steps, stepNumber) === stepNumber) {
    return map(times, 'time', (time) => packed(time, constant(1)));
  }
  const ranked = lambda(['time', 'count'], (time, count) =>
    packed(time, rank(fn.least(infix('-', count, constant(1)), RANK_MAX)), constant(1)),
  );
  return fn.arrayMap(ranked, times, fn.arrayEnumerateUniq(times));
}

/**
 * Where an attempt waits for its next step. One event serves one step: events of equal time that it
 * has used are skipped.
 */
function waiting({ query, doOverlap }: Funnel, stepNumber: number, attempt: Expression): Expression {
  const { steps } = query;
  const lastTime = timeOf(attempt, stepNumber - 1);
  if (doOverlap) return packed(infix('+', lastTime, constant(1)));
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
    const value = carriesValue(funnel) ? [valueAt(attempt, stepNumber - 1)] : [];
    return fn.tuple(deadlineOf(attempt), ...earlier, fn.if(isInTime, unpacked(next), constant(0)), ...value);
  });
  const advanced = fn.arrayMap(advance, attempts, nextOfOtherKind(alias(moments), 0));
  const alive = filter(advanced, 'attempt', (attempt) => infix('>', timeOf(attempt, stepNumber), constant(0)));
  return step(`after_step_${stepNumber}`, extend(withMoments, { [`attempts_${stepNumber}`]: alive }));
}

/** The counted attempt of each person: the times of its steps. */
function planCounted({ query, breakdown, person }: Funnel, from: Step): Step {
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
    ...person,
    ...(breakdown && passThrough('starts')),
    started: ofCounted((attempt) => timeOf(attempt, 1)),
    times,
  };
  return step('counted_attempts', select({ columns, from }));
}

/** Attempts by the steps that they reached, most first. */
function ranked(funnel: Funnel): Expression {
  const levels = numbersTo(funnel.query.steps.length).reverse();
  return fn.arrayConcat(
    ...levels.map((reached) =>
      map(attemptsAt(reached), 'attempt', (attempt) => {
        const times = numbersTo(reached).map((number) => msOf(funnel, timeOf(attempt, number)));
        return fn.tuple(fn.array(...times), ...(carriesValue(funnel) ? [valueAt(attempt, reached)] : []));
      }),
    ),
  );
}

export function countInOrder(funnel: Funnel, context: PlanContext): Counted {
  const { query, breakdown } = funnel;
  let attempts = planStarts(funnel, planPeople(funnel, context));
  for (let number = 2; number <= query.steps.length; number++) attempts = planNextStep(funnel, number, attempts);
  if (query.granularity !== undefined) return planBest(funnel, attempts, ranked(funnel));
  const isCounted = lambda(['start'], (start) => equals(tupleElement(start, 1), alias('started')));
  return {
    from: planCounted(funnel, attempts),
    msOf: (time) => msOf(funnel, time),
    value: breakdown && tupleElement(fn.arrayFirst(isCounted, alias('starts')), 3),
  };
}
