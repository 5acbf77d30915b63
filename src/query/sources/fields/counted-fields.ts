// The fields of events that `fields` counts: an alias has the count of its field, and a field that
// every event has is not counted.
import { EVENT_FIELD_NAMES, findEventField } from '../../fields.js';

const OF_EVERY_EVENT: ReadonlySet<string> = new Set(['event_type', 'time', 'insert_id']);

/** The column, or the name of a field without one. */
const sourceOf = (name: string): string => findEventField(name)?.column ?? name;

const SOURCES = [...new Set(EVENT_FIELD_NAMES.filter((name) => !OF_EVERY_EVENT.has(name)).map(sourceOf))];

/** One name for each count of the engine, in their order. */
export const COUNTED_FIELDS: readonly string[] = SOURCES.map(
  (source) => EVENT_FIELD_NAMES.find((name) => sourceOf(name) === source) ?? source,
);

/** Events with the field; `counts` are of COUNTED_FIELDS. */
export const eventsWith = (name: string, { total, counts }: { total: number; counts: readonly number[] }): number =>
  Number(OF_EVERY_EVENT.has(name) ? total : (counts[SOURCES.indexOf(sourceOf(name))] ?? 0));
