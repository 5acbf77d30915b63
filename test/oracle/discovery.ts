// Reference implementation of `fields` and `inspect`. The specification fixes little of either, so
// the oracle covers properties and counts; types, samples and top properties are not compared.
import { ratio } from './aggregate.js';
import { intervalOf, toRfc3339 } from './calendar.js';
import { eventsOf } from './events.js';
import { eventField } from './fields.js';
import type { Event } from './history.js';
import type { FieldsQuestion, InspectQuestion } from './question.js';
import { type Answer, ascending, descending, inAnyOrder, inOrder, ordered, type Row } from './table.js';
import { fieldText } from './to-query-text.js';
import { hasValue, textOf } from './values.js';
import { byPerson, type World } from './world.js';

const BUCKETS = ['event_properties', 'user_properties'] as const;

/**
 * Properties with a value (present, not null, not empty) in any of the events, with those events.
 */
function propertiesOf(events: readonly Event[]): Map<string, Event[]> {
  const found = new Map<string, Event[]>();
  for (const event of events) {
    for (const bucket of BUCKETS) {
      for (const [key, value] of Object.entries(event[bucket])) {
        if (!hasValue(value)) continue;
        const field = `${bucket}.${key}`;
        found.set(field, [...(found.get(field) ?? []), event]);
      }
    }
  }
  return found;
}

const percent = (part: number, whole: number): number => (ratio(part, whole) ?? 0) * 100;

/**
 * Reading: `events` counts events in which the field has a value; `coverage` is their share of all
 * events in the range.
 */
export function answerFields(question: FieldsQuestion, world: World): Answer {
  const interval = intervalOf(question.range, { count: 30, unit: 'd' }, world.clock);
  const events = eventsOf(world, null, interval, question.where);
  const rows = [...propertiesOf(events)].map(([field, having]) => ({
    field: fieldText(field),
    type: null,
    category: field.slice(0, field.indexOf('.')),
    events: having.length,
    coverage: percent(having.length, events.length),
  }));
  const concerns = (row: Row) =>
    BUCKETS.some((bucket) => row.category === bucket) && typeof row.events === 'number' && row.events > 0;
  const columns = ['field', 'type', 'category', 'events', 'coverage'];
  return { mode: 'fields', columns, open: ['type'], concerns, ...inAnyOrder(rows) };
}

export function answerInspect(question: InspectQuestion, world: World): Answer {
  const interval = intervalOf(question.range, { count: 30, unit: 'd' }, world.clock);
  const events = eventsOf(world, question.event, interval, question.where);
  return question.event === null ? inspectAll(events, world) : inspectOne(events, world);
}

function inspectAll(events: readonly Event[], world: World): Answer {
  const rows = [...new Set(events.map((event) => event.event_type))].map((event_type) => {
    const own = events.filter((event) => event.event_type === event_type);
    const times = own.map((event) => event.time);
    return {
      event_type,
      count: own.length,
      users: byPerson(world, own).size,
      first_seen: toRfc3339(Math.min(...times)),
      last_seen: toRfc3339(Math.max(...times)),
      top_properties: null,
    };
  });
  const columns = ['event_type', 'count', 'users', 'first_seen', 'last_seen', 'top_properties'];
  const table = ordered(rows, inOrder(descending('count'), ascending('event_type')));
  return { mode: 'inspect', columns, open: ['top_properties'], ...table };
}

/**
 * Reading: a property has the name that a query uses, and `distinct` counts the text forms of its
 * values.
 */
function inspectOne(events: readonly Event[], world: World): Answer {
  const read = eventField(world);
  const rows = [...propertiesOf(events)].map(([field, having]) => ({
    property: fieldText(field),
    coverage: percent(having.length, events.length),
    types: null,
    distinct: new Set(having.map((event) => textOf(read(event, field)))).size,
    samples: null,
  }));
  const columns = ['property', 'coverage', 'types', 'distinct', 'samples'];
  const concerns = (row: Row) =>
    BUCKETS.some((bucket) => String(row.property).startsWith(`${bucket}.`)) && Number(row.coverage) > 0;
  return { mode: 'inspect', columns, open: ['types', 'samples'], concerns, ...inAnyOrder(rows) };
}
