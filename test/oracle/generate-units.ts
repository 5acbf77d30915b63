// Generators of `unit`, and the questions that take one.
import fc from 'fast-check';
import type * as ask from './question.js';
import { countsPeople } from './unit.js';

const FIELDS = [
  'session_id',
  'session_id',
  'user.plan',
  'user.email_domain',
  'user.seats',
  'event_properties.plan',
  'event_properties.amount',
  'device_id',
  'user_id',
  'distinct_id',
  '_platform',
  'session.landing_path',
  'session.event_count',
  'user_last_session.country',
  'user_first_session.country',
];

const UNITS = fc.uniqueArray(fc.constantFrom(...FIELDS), { minLength: 1, maxLength: 2 });

/** Mostly none. */
export const units: fc.Arbitrary<readonly string[] | undefined> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  UNITS,
);

export function counting(question: ask.Question, unit: readonly string[] | undefined): ask.Question {
  return unit === undefined || !countsPeople(question) ? question : ({ ...question, unit } as ask.Question);
}
