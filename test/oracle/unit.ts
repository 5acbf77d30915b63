// Reference implementation of `unit`: values of fields are counted instead of people.
import { intervalOf } from './calendar.js';
import { withCallsBound } from './calls.js';
import { eventsOf } from './events.js';
import { eventField } from './fields.js';
import type { Event } from './history.js';
import type { Events, Expression, Question } from './question.js';
import type { Answer } from './table.js';
import { fieldText } from './to-query-text.js';
import { textOf } from './values.js';
import type { World } from './world.js';

/** Reading: values of equal text are one unit, as `unique` counts them; an empty text is none. */
export function withUnit(world: World, { unit }: Question): World {
  if (unit === undefined) return world;
  const read = eventField(world);
  const subjectOf = (event: Event): string | null => {
    const values = unit.map((field) => textOf(read(event, field)) ?? '');
    return values.includes('') ? null : JSON.stringify(values);
  };
  return { ...world, subjectOf };
}

/** Adds the unit, and how many events of the question do not have it. */
export function withEventsLeftOut(answer: Answer, question: Question, world: World): Answer {
  const { unit } = question;
  if (unit === undefined) return answer;
  const events = eventsOfQuestion(withCallsBound(question, world), world);
  const metadata = {
    ...(answer.beside?.metadata as object | undefined),
    unit: unit.map(fieldText).join(', '),
    without_unit: events.filter((event) => world.subjectOf(event) === null).length,
  };
  return { ...answer, beside: { ...answer.beside, metadata } };
}

const DEFAULT_DAYS: Readonly<Partial<Record<Question['source'], number>>> = {
  user: 30,
  retention: 84,
  lifecycle: 30,
  stickiness: 30,
};

/** Of the steps, the source or the calls that count units; in the range of the question. */
function eventsOfQuestion(question: Question, world: World): Event[] {
  const { source, range, where } = question;
  const isInMonths = source === 'retention' && range?.kind === 'last' && range.span.unit === 'm';
  const asked = isInMonths ? { kind: 'last' as const, span: { ...range.span, unit: 'mo' as const } } : range;
  const interval = intervalOf(asked, { count: DEFAULT_DAYS[source] ?? 7, unit: 'd' }, world.clock);
  const found = setsOf(question).flatMap((events) => eventsOf(world, events, interval, where));
  const isAsked = (event: Event): boolean => {
    if (question.source !== 'user') return true;
    const person = world.distinctIdOf(event);
    return person !== null && (person === question.id || world.profileOf(person)?.email === question.id);
  };
  return [...new Set(found)].filter(isAsked);
}

function setsOf(question: Question): readonly Events[] {
  switch (question.source) {
    case 'funnel':
      return question.steps;
    case 'retention': {
      const { event, returning = 'any' } = question;
      return [event, returning === 'any' ? null : returning];
    }
    case 'formula':
      return question.columns.flatMap(({ expression }) => setsOfUnits(expression));
    case 'events':
    case 'paths':
    case 'lifecycle':
    case 'stickiness':
      return [question.event];
    default:
      return [null];
  }
}

function setsOfUnits(expression: Expression): Events[] {
  if (expression.kind === 'number') return [];
  if (expression.kind === 'binary') return [...setsOfUnits(expression.left), ...setsOfUnits(expression.right)];
  return expression.function === 'unique' && expression.field === undefined ? [expression.event] : [];
}

/** Whether the question counts people, and may thus count units. */
export function countsPeople(question: Question): boolean {
  switch (question.source) {
    case 'events':
    case 'user': {
      const { reading } = question;
      if (reading?.kind !== 'aggregate') return false;
      return reading.aggregate.kind === 'unique' && reading.aggregate.field === undefined;
    }
    case 'formula':
      return setsOf(question).length > 0;
    default:
      return ['funnel', 'retention', 'paths', 'lifecycle', 'stickiness'].includes(question.source);
  }
}
