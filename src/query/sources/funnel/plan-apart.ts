// Plan of `order any` where no event is of two steps and no step repeats: an attempt takes of each
// step the earliest event from its start on. The moments of all steps are one sorted array, in
// which those events are found by one pass for each step. Only the attempt that counts gets an
// array of times.
import { areOfTypes } from '../../conditions/plan-events.js';
import { idColumn } from '../../people/list-people.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { eventMs } from '../../plan/behaviour.js';
import {
  alias,
  allOf,
  anyOf,
  constant,
  type Expression,
  element,
  infix,
  integer,
  lambda,
} from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import { extend, type Step, select, step } from '../../plan/plan.js';
import {
  type Counted,
  type Funnel,
  hasMembership,
  isOfStep,
  membershipsOf,
  numbersTo,
  packMoment,
  timeOfPacked,
} from './funnel.js';
import { bySteps, planBest } from './plan-counted.js';

/** Whether the steps are apart, and attempts carry no value of their first event. */
export const areApart = ({ query, distinct, doOverlap, breakdown }: Funnel): boolean =>
  !doOverlap && distinct.length === query.steps.length && breakdown === undefined;

const nextName = (number: number): string => `next_${number}`;

/**
 * One row per person: the moments of all steps in order, and for each step the next of its moments
 * from there on.
 */
function planMoments(funnel: Funnel, context: PlanContext): Step {
  const { query, distinct, subject } = funnel;
  const isOf = (number: number): Expression => isOfStep(funnel, number, context);
  const haveConditions = query.steps.some(({ condition }) => condition !== undefined);
  const moments = selectEvents(context, {
    selection: query.selection,
    columns: {
      person: subject.value,
      ...(query.people && idColumn),
      moments: fn.arraySort(fn.groupArray(packMoment(eventMs, membershipsOf(distinct, isOf)))),
    },
    filter: [...areOfTypes(query.steps), ...(haveConditions ? [anyOf(distinct.map(isOf))] : []), subject.isPresent],
    groupBy: ['person'],
  });
  const nexts = distinct.map((number) => {
    const isOfThis = lambda(['moment'], (moment) => hasMembership(moment, number));
    return [nextName(number), fn.arrayReverseFill(isOfThis, alias('moments'))];
  });
  return step('next_moments', extend(step('people', moments), Object.fromEntries(nexts)));
}

/**
 * Whether the attempt did the step. Behind the last moment of the step, the next one is of another.
 */
const isDone = ({ query }: Funnel, number: number, start: Expression, next: Expression): Expression =>
  allOf([
    hasMembership(next, number),
    infix('<=', timeOfPacked(next), infix('+', timeOfPacked(start), integer(query.windowMs))),
  ]);

/** Times of the done steps, in order. */
function timesOf(funnel: Funnel, start: Expression, nexts: readonly Expression[]): Expression {
  const times = nexts.map((next, index) =>
    fn.if(isDone(funnel, index + 1, start, next), timeOfPacked(next), constant(0)),
  );
  const isTime = lambda(['time'], (time) => infix('>', time, constant(0)));
  return fn.arraySort(fn.arrayFilter(isTime, fn.array(...times)));
}

export function countApart(funnel: Funnel, context: PlanContext): Counted {
  const { query, person } = funnel;
  const numbers = numbersTo(query.steps.length);
  const moments = planMoments(funnel, context);
  const ofAttempts = (read: (start: Expression, nexts: readonly Expression[]) => Expression): Expression => {
    const attempt = lambda(['start', ...numbers.map((number) => `next_of_${number}`)], (...[start, ...nexts]) =>
      read(start as Expression, nexts),
    );
    return fn.arrayMap(attempt, alias('moments'), ...numbers.map((number) => alias(nextName(number))));
  };
  if (query.granularity !== undefined) {
    const attempts = ofAttempts((start, nexts) => fn.tuple(timesOf(funnel, start, nexts)));
    const from = step('attempts_of_people', extend(moments, { attempts }));
    return planBest(funnel, from, bySteps(alias('attempts'), query.steps.length));
  }
  const done = ofAttempts((start, nexts) =>
    infix('+', ...nexts.map((next, index) => isDone(funnel, index + 1, start, next)), constant(0)),
  );
  const counted = step('steps_of_attempts', extend(moments, { done }));
  const best = step('best_attempts', extend(counted, { best: fn.indexOf(alias('done'), fn.arrayMax(alias('done'))) }));
  const atBest = (array: string): Expression => element(alias(array), alias('best'));
  const columns = {
    ...person,
    started: timeOfPacked(atBest('moments')),
    times: timesOf(
      funnel,
      atBest('moments'),
      numbers.map((number) => atBest(nextName(number))),
    ),
  };
  return { from: step('counted_attempts', select({ columns, from: best })), msOf: (time) => time, value: undefined };
}
