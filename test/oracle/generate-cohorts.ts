// Generators of cohorts, and the questions that group by one.
import fc from 'fast-check';
import { calls, withCalls } from './generate-calls.js';
import { wheres } from './generate-conditions.js';
import type * as ask from './question.js';
import { COHORT } from './question.js';

const OF_PEOPLE = ['user.plan', 'user.seats', 'user.email_domain'];
const GROUPS_MAX = 3;

/** Mostly none. */
export function cohorts(events: fc.Arbitrary<ask.Events>): fc.Arbitrary<readonly ask.Condition[] | undefined> {
  const conditions = withCalls(wheres(OF_PEOPLE), calls(events, false)).filter((where) => where.length > 0);
  const withCall = fc.tuple(calls(events, false), wheres(OF_PEOPLE)).map(([call, where]) => [call, ...where]);
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, withCall, conditions);
}

/** The question by the cohort, where it takes one: instead of its field, or as the last group. */
export function byCohort(question: ask.Question, cohort: readonly ask.Condition[] | undefined): ask.Question {
  if (cohort === undefined) return question;
  const by = [{ kind: 'field', field: COHORT }] as const;
  switch (question.source) {
    case 'funnel':
    case 'retention':
      return { ...question, by: COHORT, cohort };
    case 'lifecycle':
    case 'stickiness':
    case 'paths':
      return { ...question, cohort };
    case 'formula':
      return (question.by ?? []).length >= GROUPS_MAX
        ? question
        : { ...question, by: [...(question.by ?? []), ...by], cohort };
    case 'events':
    case 'user':
    case 'users': {
      const { reading, ending } = question;
      const hasOther = ending !== undefined && 'other' in ending && ending.other;
      if (reading?.kind !== 'aggregate' || hasOther || reading.by.length >= GROUPS_MAX) return question;
      return { ...question, reading: { ...reading, by: [...reading.by, ...by] }, cohort };
    }
    default:
      return question;
  }
}
