// Shared types and expressions of the funnel plans: the resolved query, its distinct steps, step
// memberships of an event, and the rows of counted attempts.
import type { EventSet, ResolvedQuery } from '../../analyze/resolved.js';
import { areDisjoint } from '../../conditions/events.js';
import { isIn } from '../../conditions/plan-events.js';
import { passPerson } from '../../people/list-people.js';
import type { PlanContext } from '../../people/scan.js';
import { type BreakdownPlan, planBreakdown } from '../../plan/behaviour.js';
import { type Subject, subjectOf } from '../../plan/distinct.js';
import { anyOf, constant, type Expression, infix, integer } from '../../plan/expressions.js';
import { fn } from '../../plan/functions.js';
import type { Columns, Step } from '../../plan/plan.js';
import type { FunnelQuery } from './analyze.js';

export type ResolvedFunnel = FunnelQuery & ResolvedQuery;

export interface Funnel {
  readonly query: ResolvedFunnel;
  /** Numbers of the steps whose events are not those of an earlier step. */
  readonly distinct: readonly number[];
  /** Whether one event may be of several steps. */
  readonly doOverlap: boolean;
  readonly breakdown: BreakdownPlan | undefined;
  /** Who does the steps. */
  readonly subject: Subject;
  /** Columns of the person in the rows of attempts, where people are listed. */
  readonly person: Columns;
}

/**
 * One row per counted attempt: `started`, `times` of its steps, and `bucket` where the funnel has
 * buckets.
 */
export interface Counted {
  readonly from: Step;
  /** Milliseconds of a time in these columns. */
  readonly msOf: (time: Expression) => Expression;
  /** The value by which the funnel is broken down. */
  readonly value: Expression | undefined;
}

export const numbersTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** The first step with the same events as this one. */
export const firstOfEvents = (steps: readonly EventSet[], stepNumber: number): number =>
  steps.findIndex(({ name }) => name === steps[stepNumber - 1]?.name) + 1;

export function funnelOf(query: ResolvedFunnel): Funnel {
  const { steps, by } = query;
  const distinct = numbersTo(steps.length).filter((number) => firstOfEvents(steps, number) === number);
  const doOverlap = distinct.some((number, index) =>
    distinct.slice(index + 1).some((other) => mayShareEvents(query, number, other)),
  );
  return {
    query,
    distinct,
    doOverlap,
    breakdown: by && planBreakdown(by),
    subject: subjectOf(query.unit),
    person: query.people ? passPerson : {},
  };
}

/** Whether one event may be of both steps. */
export function mayShareEvents({ steps }: FunnelQuery, number: number, other: number): boolean {
  const [one, two] = [steps[number - 1], steps[other - 1]];
  return one !== undefined && two !== undefined && !areDisjoint(one, two);
}

/** Whether the event is of the step. */
export const isOfStep = ({ query }: Funnel, number: number, { projectId }: PlanContext): Expression =>
  anyOf(query.steps.slice(number - 1, number).map((events) => isIn(events, projectId)));

// ---- Memberships: one number with a bit for each step that an event is of ----

const membership = (number: number): Expression => integer(2 ** (number - 1));

export const membershipsOf = (numbers: readonly number[], isOf: (number: number) => Expression): Expression =>
  infix('+', ...numbers.map((number) => infix('*', isOf(number), membership(number))));

const MEMBERSHIP_BITS = integer(20);

/**
 * A time with memberships as one number, which sorts faster than a tuple. Its memberships are
 * tested as they are alone.
 */
export const packMoment = (ms: Expression, memberships: Expression): Expression =>
  infix('+', fn.bitShiftLeft(ms, MEMBERSHIP_BITS), memberships);
export const timeOfPacked = (moment: Expression): Expression => fn.bitShiftRight(moment, MEMBERSHIP_BITS);

export const hasMembership = (memberships: Expression, number: number): Expression =>
  infix('!=', fn.bitAnd(memberships, membership(number)), constant(0));

/** The bit of the first step: the only one that a number shares with its negative. */
export const lowestMembership = (memberships: Expression): Expression =>
  fn.bitAnd(memberships, infix('-', constant(0), memberships));
