// Plan of `order any`: every event of a step begins an attempt, and the steps take events in their
// written order: each the earliest one from the start on that no step before it has taken. That is
// what the events do in the order of time, when each goes to the first of its steps that is not
// done.
import { areOfTypes } from '../../conditions/plan-events.js';
import { idColumn } from '../../people/list-people.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { eventMs, filter, map } from '../../plan/behaviour.js';
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
  tupleElement,
} from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { extend, type Step, step } from '../../plan/plan.js';
import {
  type Counted,
  type Funnel,
  firstOfEvents,
  hasMembership,
  isOfStep,
  mayShareEvents,
  membershipsOf,
  numbersTo,
  packMoment,
  timeOfPacked,
} from './funnel.js';
import { areApart, countApart } from './plan-apart.js';
import { bySteps, planBest } from './plan-counted.js';
import { positionsOf, RANK_BITS, timeOfPosition } from './positions.js';

/** Steps before this one that may have taken an event of it. */
const rivalsOf = ({ query }: Funnel, number: number): number[] =>
  numbersTo(number - 1).filter((other) => mayShareEvents(query, other, number));

/** Bits of a rank and of the kind: of a start or a position. */
const RANK_AND_KIND = 6;

const takenBy = (number: number): Expression => alias(`taken_${number}`);

/**
 * One row per person with an event of a step: the moments of events of steps in order, and the
 * starts of attempts.
 */
function planPeople(funnel: Funnel, context: PlanContext): Step {
  const { query, distinct, breakdown, subject } = funnel;
  const isOf = (number: number): Expression => isOfStep(funnel, number, context);
  const isOfAny = anyOf(distinct.map(isOf));
  const gather = (value: Expression): Expression => fn.arraySort(fn.groupArrayIf(value, isOfAny));
  const rows = selectEvents(context, {
    selection: query.selection,
    columns: {
      person: subject.value,
      ...(query.people && idColumn),
      moments: gather(packMoment(eventMs, membershipsOf(distinct, isOf))),
      ...(breakdown && { starts: gather(fn.tuple(eventMs, column('insert_id'), breakdown.value)) }),
    },
    filter: [...areOfTypes(query.steps), subject.isPresent],
    groupBy: ['person'],
    having: infix('>', fn.countIf(isOfAny), constant(0)),
  });
  const people = step('people', rows);
  // Of events at the same time, the first one begins the attempt.
  const isFirst = lambda(['start', 'number'], (_, number) => equals(number, constant(1)));
  const times = map(alias('moments'), 'moment', timeOfPacked);
  const counts = fn.arrayEnumerateUniq(map(alias('starts'), 'start', (start) => tupleElement(start, 1)));
  const starts = breakdown
    ? fn.arrayFilter(isFirst, alias('starts'), counts)
    : map(fn.arrayDistinct(times), 'time', (time) => fn.tuple(time));
  return step(
    'people_with_starts',
    extend(people, { positions: positionsOf(alias('moments'), timeOfPacked), beginnings: starts }),
  );
}

/** The next position for each start. Sorted as numbers: a position is odd, a start even. */
function nextOf(positions: Expression): Expression {
  const isOdd = (of: Expression): Expression => equals(fn.bitAnd(of, constant(1)), constant(1));
  const asked = map(alias('beginnings'), 'start', (start) =>
    fn.bitShiftLeft(tupleElement(start, 1), integer(RANK_AND_KIND)),
  );
  const offered = map(positions, 'position', (of) => infix('+', fn.bitShiftLeft(of, constant(1)), constant(1)));
  const merged = fn.arraySort(fn.arrayConcat(asked, offered));
  const next = fn.arrayReverseFill(lambda(['of'], isOdd), merged);
  const isAsked = lambda(['next', 'of'], (_, of) => fn.not(isOdd(of)));
  return map(fn.arrayFilter(isAsked, next, merged), 'next', (of) =>
    fn.tuple(integer(0), fn.if(isOdd(of), fn.bitShiftRight(of, constant(1)), constant(0))),
  );
}

/**
 * For each start, in order: the next positions of the step, as many as rivals may leave none of.
 * Zero where there is none.
 */
function nextPositions(funnel: Funnel, number: number): Expression {
  const isOf = lambda(['position', 'moment'], (_, moment) =>
    hasMembership(moment, firstOfEvents(funnel.query.steps, number)),
  );
  const own = fn.arrayFilter(isOf, alias('positions'), alias('moments'));
  const depth = rivalsOf(funnel, number).length;
  if (depth === 0) return nextOf(own);
  const names = ['position', ...numbersTo(depth).map((by) => `after_${by}`)];
  const shifted = numbersTo(depth).map((by) => fn.arrayShiftLeft(own, integer(by)));
  // Sorted with the starts: a start comes before a position of its own time, because its second
  // element is 0.
  const asked = map(alias('beginnings'), 'start', (start) => {
    const position = fn.bitShiftLeft(tupleElement(start, 1), RANK_BITS);
    return fn.tuple(position, ...names.map(() => integer(0)));
  });
  const offered = fn.arrayMap(
    lambda(names, (...positions) => {
      const [position = integer(0)] = positions;
      return fn.tuple(position, ...positions);
    }),
    own,
    ...shifted,
  );
  const isOffered = (of: Expression): Expression => infix('>', tupleElement(of, 2), integer(0));
  const merged = fn.arraySort(fn.arrayConcat(asked, offered));
  const next = fn.arrayReverseFill(lambda(['of'], isOffered), merged);
  const isAsked = lambda(['next', 'of'], (_, of) => equals(tupleElement(of, 2), integer(0)));
  return fn.arrayFilter(isAsked, next, merged);
}

/** The position that the step takes: the first that no rival has. */
function planTaken(funnel: Funnel, number: number, before: Step): Step {
  const rivals = rivalsOf(funnel, number);
  const names = ['next', ...rivals.map((rival) => `taken_by_${rival}`)] as const;
  const take = lambda(names, (next, ...taken) => {
    const offered = (index: number): Expression => tupleElement(next as Expression, index + 2);
    const isFree = (position: Expression): Expression => allOf(taken.map((other) => infix('!=', position, other)));
    const cases = taken.flatMap((_, index) => [isFree(offered(index)), offered(index)]);
    return cases.length === 0 ? offered(0) : fn.multiIf(...cases, offered(taken.length));
  });
  const taken = fn.arrayMap(take, nextPositions(funnel, number), ...rivals.map(takenBy));
  return step(`after_step_${number}`, extend(before, { [`taken_${number}`]: taken }));
}

/** For each start: the times of the steps that were done, in order. */
function planAttempts({ query, breakdown }: Funnel): Expression {
  const numbers = numbersTo(query.steps.length);
  const names = ['start', ...numbers.map((number) => `taken_by_${number}`)];
  const attempt = lambda(names, (start, ...taken) => {
    const startMs = tupleElement(start as Expression, 1);
    const end = infix('+', startMs, integer(query.windowMs));
    const times = filter(fn.array(...taken.map(timeOfPosition)), 'time', (time) =>
      allOf([infix('>', time, integer(0)), infix('<=', time, end)]),
    );
    return fn.tuple(fn.arraySort(times), ...(breakdown ? [tupleElement(start as Expression, 3)] : []));
  });
  return fn.arrayMap(attempt, alias('beginnings'), ...numbers.map(takenBy));
}

export function countInAnyOrder(funnel: Funnel, context: PlanContext): Counted {
  if (areApart(funnel)) return countApart(funnel, context);
  const { steps } = funnel.query;
  const done = numbersTo(steps.length).reduce(
    (before, number) => planTaken(funnel, number, before),
    planPeople(funnel, context),
  );
  const attempts = step('attempts_of_people', extend(done, { attempts: planAttempts(funnel) }));
  return planBest(funnel, attempts, bySteps(alias('attempts'), steps.length));
}
