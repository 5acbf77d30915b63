// Plan of `order strict`: all events of a person in order. Each step is the next event, at a time
// at which there is no other. Two events of equal time may be steps 1 and 2, whichever begins;
// three or more are always between two steps.

import { isIn } from '../../conditions/plan-events.js';
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
  hasMembership,
  isOfStep,
  membershipsOf,
  numbersTo,
  packMoment,
  timeOfPacked,
} from './funnel.js';
import { bySteps, planBest } from './plan-counted.js';

// A moment is packed; with a breakdown it is a tuple: its time, insert_id, the steps that it is of,
// and the value.
const timeOf = ({ breakdown }: Funnel, moment: Expression): Expression =>
  breakdown ? tupleElement(moment, 1) : timeOfPacked(moment);
const isMember = ({ breakdown }: Funnel, moment: Expression, number: number): Expression =>
  hasMembership(breakdown ? tupleElement(moment, 3) : moment, number);
const valueAt = (moment: Expression): Expression => tupleElement(moment, 4);

/**
 * One row per person with a first step: all events, how many are at the time of each, and its
 * number among those.
 */
function planPeople(funnel: Funnel, context: PlanContext): Step {
  const { query, breakdown, subject } = funnel;
  const { steps, exclude, selection } = query;
  const isExcluded = exclude.map((events) => fn.not(isIn(events, context.projectId)));
  // An excluded event may begin an attempt, and ends one as any other step.
  const isStep = (number: number): Expression =>
    allOf([isOfStep(funnel, number, context), ...(number === 1 ? [] : isExcluded)]);
  const memberships = membershipsOf(numbersTo(steps.length), isStep);
  const moment = breakdown
    ? fn.tuple(eventMs, column('insert_id'), memberships, breakdown.value)
    : packMoment(eventMs, memberships);
  const rows = selectEvents(context, {
    selection,
    columns: {
      person: subject.value,
      ...(query.people && idColumn),
      moments: fn.arraySort(fn.groupArray(moment)),
    },
    filter: [subject.isPresent],
    groupBy: ['person'],
    having: infix('>', fn.countIf(isStep(1)), constant(0)),
  });
  const times = map(alias('moments'), 'moment', (of) => timeOf(funnel, of));
  const counted = fn.arrayEnumerateUniq(times);
  const backwards = fn.arrayReverse(fn.arrayEnumerateUniq(fn.arrayReverse(times)));
  const among = lambda(['number', 'number_from_end'], (number, fromEnd) =>
    infix('-', infix('+', number, fromEnd), constant(1)),
  );
  const columns = { numbers: counted, counts: fn.arrayMap(among, counted, backwards) };
  return step('people_with_counts', extend(step('people', rows), columns));
}

/**
 * An attempt for each event that may begin one: the times of the steps that follow each other
 * without another event.
 */
function planAttempts(funnel: Funnel): Expression {
  const { query, breakdown } = funnel;
  const { steps, windowMs } = query;
  const isOf = (moment: Expression, number: number): Expression => isMember(funnel, moment, number);
  const later = numbersTo(steps.length).slice(1);
  const names = ['number', 'moment', 'count', ...later.flatMap((step) => [`moment_${step}`, `count_${step}`])];
  const attempt = lambda(names, (...items) => {
    const [number, moment, count, ...following] = items as readonly Expression[];
    if (number === undefined || moment === undefined || count === undefined) return fn.array();
    const momentAt = (step: number): Expression => following[2 * (step - 2)] ?? moment;
    const countAt = (step: number): Expression => following[2 * (step - 2) + 1] ?? count;
    const end = infix('+', timeOf(funnel, moment), integer(windowMs));
    const isAlone = (step: number): Expression =>
      allOf([
        isOf(momentAt(step), step),
        equals(countAt(step), constant(1)),
        infix('<=', timeOf(funnel, momentAt(step)), end),
      ]);
    const second = momentAt(2);
    const isPair = allOf([equals(count, integer(2)), equals(number, constant(1))]);
    const [inOrder, reversed] = [allOf([isOf(moment, 1), isOf(second, 2)]), allOf([isOf(second, 1), isOf(moment, 2)])];
    const isFollowed = fn.if(equals(count, constant(1)), isAlone(2), allOf([isPair, anyOf([inOrder, reversed])]));
    const beginsHere = allOf([isOf(moment, 1), anyOf([fn.not(isPair), inOrder, fn.not(reversed)])]);
    const isSecondOfPair = allOf([equals(count, integer(2)), infix('!=', number, constant(1))]);
    const begins = allOf([fn.not(isSecondOfPair), anyOf([isOf(moment, 1), allOf([isPair, isOf(second, 1)])])]);
    const ends = later.flatMap((step) => [fn.not(step === 2 ? isFollowed : isAlone(step)), integer(step - 1)]);
    const reached = fn.multiIf(fn.not(begins), integer(0), ...ends, integer(steps.length));
    const times = fn.array(timeOf(funnel, moment), ...later.map((step) => timeOf(funnel, momentAt(step))));
    const value = breakdown ? [fn.if(beginsHere, valueAt(moment), valueAt(second))] : [];
    return fn.tuple(fn.arraySlice(times, integer(1), reached), ...value);
  });
  const shifted = later.flatMap((step) =>
    [alias('moments'), alias('counts')].map((array) => fn.arrayShiftLeft(array, integer(step - 1))),
  );
  const attempts = fn.arrayMap(attempt, alias('numbers'), alias('moments'), alias('counts'), ...shifted);
  return filter(attempts, 'attempt', (of) => fn.notEmpty(tupleElement(of, 1)));
}

export function countStrictly(funnel: Funnel, context: PlanContext): Counted {
  const people = planPeople(funnel, context);
  const attempts = step('attempts_of_people', extend(people, { attempts: planAttempts(funnel) }));
  return planBest(funnel, attempts, bySteps(alias('attempts'), funnel.query.steps.length));
}
