// Whether the events of a query have the properties that it names. A sum of a property that they
// never have is 0, and a condition on it matches none: the answer then says so. The names of the
// catalog are of the whole project, so that they cannot tell.
import type { MentionedProperty } from '../analyze/mentions.js';
import type { Measure, ResolvedQuery } from '../analyze/resolved.js';
import { orderBy } from '../plan/answer.js';
import { column, type Expression } from '../plan/expressions.js';
import { isPresentField, readNumber } from '../plan/field-expressions.js';
import { fn } from '../plan/functions.js';
import type { Select } from '../plan/plan.js';
import { type PlanContext, selectEvents } from './scan.js';

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

/** Undefined unless the query reads events of one type, and names properties of theirs alone. */
export function planOwnKeys(query: ResolvedQuery, context: PlanContext): OwnKeys<Select> | undefined {
  if ((query.kind !== 'aggregate' && query.kind !== 'list') || query.rows !== undefined) return undefined;
  const { selection, mentions } = query;
  const [event, ...others] = mentions.events;
  const isOfOne = others.length === 0 && selection.eventTypes?.length === 1 && selection.eventTypes[0] === event;
  if (event === undefined || !isOfOne) return undefined;
  const asked = askedOf(mentions.properties, query.kind === 'aggregate' ? query.measure : undefined);
  if (asked.length === 0) return undefined;
  const columns = Object.fromEntries(asked.map(({ test }, index) => [`key${index}`, fn.max(test)]));
  const all = { ...selection, condition: undefined };
  const othersWith = (test: Expression): Select => ({
    ...selectEvents(context, {
      selection: { ...all, eventTypes: undefined },
      columns: { type: column('event_type'), events: fn.count() },
      filter: [test],
      groupBy: ['type'],
    }),
    orderBy: [orderBy('events', 'desc'), orderBy('type')],
    limit: OTHERS_MAX,
  });
  return {
    event,
    asked: asked.map(({ written, as, test }) => ({ written, as, others: othersWith(test) })),
    statement: selectEvents(context, { selection: all, columns: { events: fn.count(), ...columns } }),
  };
}

interface Tested extends Omit<AskedKey<Select>, 'others'> {
  readonly test: Expression;
}

function askedOf(properties: readonly MentionedProperty[], measure: Measure | undefined): Tested[] {
  const own = properties.filter(({ bag }) => bag === 'event_properties');
  const byKey = new Map(own.map((property) => [property.key, property]));
  const present = [...byKey.values()].map(({ written, bag, key }): Tested => {
    const field = { kind: 'property', name: written, bag, key, guess: 'anything' } as const;
    return { written, as: 'value', test: isPresentField(field) };
  });
  if (measure?.kind !== 'numeric' || measure.field.kind !== 'property') return present;
  const { name, bag } = measure.field;
  if (bag !== 'event_properties') return present;
  return [...present, { written: name, as: 'number', test: fn.isNotNull(readNumber(measure.field)) }];
}
