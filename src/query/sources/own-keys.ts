// Whether the events of a query have the properties that it names. A sum of a property that they
// never have is 0, and a condition on it matches none: the answer then says so. The catalog lists
// the properties of the whole project, and does not say which events have them.
import type { MentionedProperty } from '../analyze/mentions.js';
import type { Condition, EventSet, Measure, PropertyField, ResolvedQuery, TimeRange } from '../analyze/resolved.js';
import { fieldsOf } from '../conditions/fields-of.js';
import { type PlanContext, selectEvents } from '../people/scan.js';
import { orderBy } from '../plan/answer.js';
import { column, type Expression } from '../plan/expressions.js';
import { isPresentField, readNumber } from '../plan/field-expressions.js';
import { fn } from '../plan/functions.js';
import type { Select } from '../plan/plan.js';
import { termsOf } from './formula/plan.js';

/** Whether any event has a property, or has a number in it. */
export interface AskedKey<S> {
  /** The property, as the query has it. */
  readonly written: string;
  readonly as: 'value' | 'number';
  /** One row for each of the most frequent event types that have it: the type, and its events. */
  readonly others: S;
}

export interface OwnKeys<S> {
  readonly event: string;
  readonly asked: readonly AskedKey<S>[];
  /** One row: the number of events of the range, and 1 or 0 for each of `asked`. */
  readonly statement: S;
}

const OTHERS_MAX = 3;

/** Of aggregates and lists of one event, of the steps of a funnel, of the terms of a formula. */
export function planOwnKeys(query: ResolvedQuery, context: PlanContext): OwnKeys<Select>[] {
  return eventsOf(query).map(({ event, range, tests }) => {
    const all = { range, condition: undefined, eventTypes: undefined };
    const othersWith = (test: Expression): Select => ({
      ...selectEvents(context, {
        selection: all,
        columns: { type: column('event_type'), events: fn.count() },
        filter: [test],
        groupBy: ['type'],
      }),
      orderBy: [orderBy('events', 'desc'), orderBy('type')],
      limit: OTHERS_MAX,
    });
    const columns = Object.fromEntries(tests.map(({ test }, index) => [`key${index}`, fn.max(test)]));
    return {
      event,
      asked: tests.map(({ written, as, test }) => ({ written, as, others: othersWith(test) })),
      statement: selectEvents(context, {
        selection: { ...all, eventTypes: [event] },
        columns: { events: fn.count(), ...columns },
      }),
    };
  });
}

interface Test extends Omit<AskedKey<Select>, 'others'> {
  readonly test: Expression;
}

interface TestedEvent {
  readonly event: string;
  readonly range: TimeRange;
  readonly tests: readonly Test[];
}

function eventsOf(query: ResolvedQuery): TestedEvent[] {
  switch (query.kind) {
    case 'aggregate':
      return eventOf(query, query.measure);
    case 'list':
      return eventOf(query);
    case 'funnel':
      return query.steps.flatMap((step) => ofSet(step, query.selection.range));
    case 'formula':
      return query.columns
        .flatMap(({ expression }) => termsOf(expression))
        .flatMap(({ events, measure }) => ofSet(events, query.selection.range, measure));
    default:
      return [];
  }
}

/** Empty when the query names several events: a property may be one of the others. */
function eventOf(
  { selection, mentions, rows }: Extract<ResolvedQuery, { kind: 'aggregate' | 'list' }>,
  measure?: Measure,
): TestedEvent[] {
  const { eventTypes = [], range } = selection;
  const [event, ...others] = mentions.events;
  const isOfOne = others.length === 0 && eventTypes.length === 1 && eventTypes[0] === event;
  if (event === undefined || !isOfOne || rows !== undefined) return [];
  return tested(event, range, testsOf(mentions.properties, measure));
}

function ofSet({ eventTypes = [], condition }: EventSet, range: TimeRange, measure?: Measure): TestedEvent[] {
  const [event, ...others] = eventTypes;
  if (event === undefined || others.length > 0) return [];
  return tested(event, range, testsOf(condition ? propertiesIn(condition) : [], measure));
}

const tested = (event: string, range: TimeRange, tests: readonly Test[]): TestedEvent[] =>
  tests.length === 0 ? [] : [{ event, range, tests }];

const propertiesIn = (condition: Condition): MentionedProperty[] =>
  fieldsOf(condition).flatMap((field) => (field.kind === 'property' ? [mentionOf(field)] : []));

const mentionOf = ({ name: written, bag, key }: PropertyField): MentionedProperty => ({ written, bag, key });

/** Each property once; that of the measure also as a number. */
function testsOf(properties: readonly MentionedProperty[], measure?: Measure): Test[] {
  const measured = measure?.kind === 'numeric' && measure.field.kind === 'property' ? [measure.field] : [];
  const own = [...properties, ...measured.map(mentionOf)].filter(isOfEvent);
  const byKey = new Map(own.map((property) => [property.key, property]));
  const values = [...byKey.values()].map(({ written, bag, key }): Test => {
    const field = { kind: 'property', name: written, bag, key, guess: 'anything' } as const;
    return { written, as: 'value', test: isPresentField(field) };
  });
  const numbers = measured.filter(isOfEvent).map((field): Test => {
    return { written: field.name, as: 'number', test: fn.isNotNull(readNumber(field)) };
  });
  return [...values, ...numbers];
}

const isOfEvent = ({ bag }: Pick<PropertyField, 'bag'>): boolean => bag === 'event_properties';
