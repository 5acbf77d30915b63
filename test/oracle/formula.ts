// Reference implementation of arithmetic over aggregates.
import { groupKey, isRowKept, measured } from './aggregate.js';
import {
  bucketAfter,
  bucketOf,
  type Interval,
  intervalOf,
  isWithin,
  startOfDate,
  startOfSpan,
  timeGroupEnd,
  timeGroupsOf,
} from './calendar.js';
import { EVER, eventsOf, isOneOf } from './events.js';
import { eventField } from './fields.js';
import type { Event } from './history.js';
import type { Aggregate, Expression, FormulaQuestion, Group } from './question.js';
import { type Answer, ascending, descending, ended, inOrder, ordered, type Row, type RowOrder } from './table.js';
import { groupColumn } from './to-query-text.js';
import type { World } from './world.js';

type Term = Extract<Expression, { kind: 'term' }>;
type Keys = readonly (string | number | null)[];

export function answerFormula(question: FormulaQuestion, world: World): Answer {
  const { columns, by = [] } = question;
  const interval: Interval = intervalOf(question.range, { count: 7, unit: 'd' }, world.clock);
  const events = eventsOf(world, null, EVER, question.where);
  const groupsOf = groupReader(by, world);
  const names = columns.map(({ name }) => name ?? 'value');
  const rows = groupKeys(question, interval, { events, world }).map((keys): Row => {
    const ofFields = events.filter((event) =>
      groupsOf(event).every((value, index) => isOwnTime(by[index]) || value === keys[index]),
    );
    const given: Given = {
      events: ofFields,
      ownEvents: ofFields.filter((event) => isIn(event, keys)),
      interval,
      world,
    };
    function isIn(event: Event, of: Keys): boolean {
      return isWithin(event.time, interval) && groupsOf(event).every((value, index) => value === of[index]);
    }
    const end = rangeEnd(by, keys, { interval, world });
    return Object.fromEntries([
      ...by.map((group, index) => [groupColumn(group), keys[index] ?? null]),
      ...columns.map(({ expression }, index) => [names[index], evaluated(expression, { ...given, ...end })]),
    ]);
  });
  const [first = 'value'] = names;
  const table = ordered(rows.filter(isKeptRow(question)), formulaOrder(by, first));
  return { mode: 'formula', columns: [...by.map(groupColumn), ...names], ...ended(table, question.ending, first) };
}

/** Whether the filter of rows keeps the row. */
export const isKeptRow =
  ({ having }: FormulaQuestion) =>
  (row: Row): boolean =>
    isRowKept(row[having?.column ?? ''], having);

/** Times and numbers, then the largest of the first column. */
export function formulaOrder(by: readonly Group[], first: string): RowOrder {
  const times = by.filter(({ kind }) => kind !== 'field').map((group) => ascending(groupColumn(group)));
  const fields = by.filter(({ kind }) => kind === 'field').map((group) => ascending(groupColumn(group)));
  return inOrder(...times, descending(first), ...fields);
}

/** The value where no call has an event. */
export function valueOfNothing(expression: Expression): number | null {
  switch (expression.kind) {
    case 'number':
      return expression.value;
    case 'term':
      return expression.function === 'avg' ? null : 0;
    case 'binary': {
      const [left, right] = [valueOfNothing(expression.left), valueOfNothing(expression.right)];
      return left === null || right === null ? null : calculated(expression.operator, left, right);
    }
  }
}

const groupReader = (by: readonly Group[], world: World) => {
  const of = { read: eventField(world), timeOf: ({ time }: Event) => time, timezone: world.clock.timezone };
  return (event: Event): Keys => by.map((group) => groupKey(event, group, of));
};

const isOwnTime = (group: Group | undefined): boolean => group?.kind === 'time' && group.of === undefined;

/**
 * Without fields every bucket; with fields the groups with an event of any call in the range of the
 * query.
 */
function groupKeys(
  { by = [], columns }: FormulaQuestion,
  interval: Interval,
  { events, world }: { events: readonly Event[]; world: World },
): Keys[] {
  const [only] = by;
  if (only === undefined) return [[]];
  if (by.length === 1 && only.kind === 'time' && only.of === undefined) {
    return timeGroupsOf(interval, only.unit, world.clock.timezone).map((bucket) => [bucket]);
  }
  const terms = columns.flatMap(({ expression }) => termsOf(expression));
  const own = events.filter(
    (event) => isWithin(event.time, interval) && terms.some((term) => isOf(term, event, world)),
  );
  const keys = own.map(groupReader(by, world));
  return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()];
}

interface Given {
  /** Of the group's fields, at any time. */
  readonly events: readonly Event[];
  /** Of the group, in the range of the query. */
  readonly ownEvents: readonly Event[];
  readonly interval: Interval;
  readonly world: World;
}

interface Ending {
  /** The end of the bucket; a call's own range ends earlier where the query's does. */
  readonly end: number;
  /** The unit of the bucket; undefined without buckets. */
  readonly isOfDays?: boolean;
}

function rangeEnd(by: readonly Group[], keys: Keys, { interval, world }: Pick<Given, 'interval' | 'world'>): Ending {
  const index = by.findIndex(isOwnTime);
  const group = by[index];
  if (group?.kind !== 'time') return { end: interval.end };
  const { unit } = group;
  if (unit === 'weekday' || unit === 'hour_of_day') return { end: interval.end };
  return { end: timeGroupEnd(String(keys[index]), unit, world.clock.timezone), isOfDays: unit !== 'hour' };
}

/** Operations with null, and division by zero, are null. */
function evaluated(expression: Expression, given: Given & Ending): number | null {
  switch (expression.kind) {
    case 'number':
      return expression.value;
    case 'term':
      return measured(aggregateOf(expression), eventsOfTerm(expression, given), eventField(given.world));
    case 'binary': {
      const left = evaluated(expression.left, given);
      const right = evaluated(expression.right, given);
      return left === null || right === null ? null : calculated(expression.operator, left, right);
    }
  }
}

function eventsOfTerm(term: Term, { events, ownEvents, interval, world, end, isOfDays }: Given & Ending): Event[] {
  if (term.last === undefined) return ownEvents.filter((event) => isOf(term, event, world));
  const { timezone } = world.clock;
  const isWholeDays = isOfDays === true && term.last.unit !== 'm' && term.last.unit !== 'h';
  // Reading: the day in which the range of the query ends is a whole one.
  const lastDay = bucketAfter(bucketOf(interval.end - 1, 'day', timezone), 'day');
  const start = startOfSpan(Math.min(end, isWholeDays ? startOfDate(lastDay, timezone) : interval.end), term.last, {
    timezone: isOfDays === undefined ? 'UTC' : timezone,
    isOfDays: isOfDays ?? false,
  });
  const range = { start, end: Math.min(end, interval.end) };
  return events.filter((event) => isWithin(event.time, range) && isOf(term, event, world));
}

const isOf = ({ event: events }: Term, event: Event, world: World): boolean => isOneOf(world, events)(event);

function termsOf(expression: Expression): Term[] {
  if (expression.kind === 'term') return [expression];
  return expression.kind === 'number' ? [] : [...termsOf(expression.left), ...termsOf(expression.right)];
}

function aggregateOf(term: Term): Aggregate {
  const { function: kind, field } = term;
  if (kind === 'count') return { kind };
  if (kind === 'unique') return field === undefined ? { kind } : { kind, field };
  if (field === undefined) throw new Error(`${kind} needs a field`);
  return { kind, field };
}

function calculated(operator: '+' | '-' | '*' | '/', left: number, right: number): number | null {
  if (operator === '+') return left + right;
  if (operator === '-') return left - right;
  if (operator === '*') return left * right;
  return right === 0 ? null : left / right;
}
