// Reference implementation of calls in conditions: before a question is answered, each of its calls
// becomes a test of an event (or a profile), which aggregates the events of the same person, or of
// the same value of `per`.
import { measured } from './aggregate.js';
import { type Interval, intervalOf, isWithin, startOfSpan } from './calendar.js';
import { isOneOf } from './events.js';
import { eventField, matchesAll } from './fields.js';
import type { Event, Profile } from './history.js';
import type { Aggregate, CallCondition, Condition, Question, Span } from './question.js';
import { readProfile } from './users.js';
import { textOf } from './values.js';
import type { World } from './world.js';

/** Of a question without a time range. */
const DEFAULT_DAYS: Readonly<Record<Question['source'], number>> = {
  events: 7,
  latest: 7,
  funnel: 7,
  paths: 7,
  sessions: 7,
  formula: 7,
  retention: 84,
  lifecycle: 30,
  stickiness: 30,
  user: 30,
  users: 30,
  fields: 30,
  inspect: 30,
  choice: 30,
};

export function withCallsBound(question: Question, asked: World, isOfCohort = false): Question {
  // A call is of the person, also where units are counted.
  const world: World = { ...asked, subjectOf: asked.distinctIdOf };
  const { where } = { where: undefined, ...question };
  if (where === undefined) return question;
  const interval = rangeOfQuestion(question, world);
  return {
    ...question,
    where: where.map((condition) => bound(condition, question.source, { world, interval, isOfCohort })),
  } as Question;
}

/** The world with the cohort of the question, whose calls count over the range of the question. */
export function withCohort(world: World, question: Question): World {
  const { cohort } = question;
  if (cohort === undefined) return world;
  const { where = [] } = withCallsBound({ ...question, where: cohort } as Question, world, true);
  const read = eventField(world);
  const isInCohort = (item: Event | Profile): boolean =>
    question.source === 'users'
      ? matchesAll(where, item as Profile, readProfile)
      : matchesAll(where, item as Event, read);
  return { ...world, isInCohort };
}

function rangeOfQuestion({ source, range }: Question, { clock }: World): Interval {
  const read = range?.kind === 'last' ? { ...range, span: spanIn(source, range.span) } : range;
  return intervalOf(read, { count: DEFAULT_DAYS[source], unit: 'd' }, clock);
}

/** In retention `m` means months. */
const spanIn = (source: Question['source'], span: Span): Span =>
  source === 'retention' && span.unit === 'm' ? { ...span, unit: 'mo' } : span;

interface Given {
  readonly world: World;
  /** Of the question. */
  readonly interval: Interval;
  /** A cohort is a query of its own: its `m` means minutes in every question. */
  readonly isOfCohort: boolean;
}

function bound(condition: Condition, source: Question['source'], given: Given): Condition {
  if (condition.kind === 'and' || condition.kind === 'or') {
    return { ...condition, terms: condition.terms.map((term) => bound(term, source, given)) };
  }
  if (condition.kind !== 'call') return condition;
  const { last } = condition;
  const read = last && !given.isOfCohort ? { ...condition, last: spanIn(source, last) } : condition;
  const valueFor = valuesOf(read, given);
  const keyOf = keyReader(condition, given.world);
  return {
    kind: 'bound',
    holds: (item) => passes(valueFor(source === 'users' ? (item as Profile).user_id : keyOf(item as Event)), condition),
  };
}

/** The person of an event, or its value of `per`. */
function keyReader({ per }: CallCondition, world: World): (event: Event) => string | null {
  const read = eventField(world);
  return (event) => (per === undefined ? world.distinctIdOf(event) : (textOf(read(event, per)) ?? null));
}

/** The value of a call by key. Nothing has a key that is missing or empty. */
function valuesOf(call: CallCondition, { world, interval }: Given): (key: string | null) => number | null {
  const keyOf = keyReader(call, world);
  const isAsked = isOneOf(world, call.event);
  const range = { start: call.last ? startOf(interval.end, call.last) : interval.start, end: interval.end };
  const events = world.events.filter((event) => isWithin(event.time, range) && isAsked(event));
  const known = new Map<string | null, number | null>();
  return (key) => {
    if (!known.has(key)) {
      const own = key === null || key === '' ? [] : events.filter((event) => keyOf(event) === key);
      known.set(key, measured(aggregateOf(call), own, eventField(world)));
    }
    return known.get(key) ?? null;
  };
}

/** Reading: as `last` of a query, independent of the time zone. */
const startOf = (end: number, last: Span): number => startOfSpan(end, last, { timezone: 'UTC', isOfDays: false });

function aggregateOf({ function: kind, field }: CallCondition): Aggregate {
  if (kind === 'count') return { kind };
  if (kind === 'unique') return field === undefined ? { kind } : { kind, field };
  return { kind, field: field ?? '' };
}

/** Null is equal to nothing, and neither more nor less. */
function passes(value: number | null, { operator, value: wanted }: CallCondition): boolean {
  switch (operator) {
    case '=':
      return value === wanted;
    case '!=':
      return value !== wanted;
    case '<':
      return value !== null && value < wanted;
    case '<=':
      return value !== null && value <= wanted;
    case '>':
      return value !== null && value > wanted;
    case '>=':
      return value !== null && value >= wanted;
  }
}
