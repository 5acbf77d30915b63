// In-memory form of a project's catalog: event types, property keys and values by frequency, and
// which of them are complete.
import type { AnyBag } from '../query/fields.js';
import { type CatalogName, EVENT_TYPES, type PropertyType } from './names.js';

export interface Catalog {
  /** Whether every name of the stored events is known. */
  readonly isComplete: boolean;
  /** Event types with their events, about. */
  readonly events: ReadonlyMap<string, number>;
  /** Types of properties, by field; `null` is none. */
  readonly properties: ReadonlyMap<string, readonly string[]>;
  /** Values by field, of fields that have few. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** Fields with more values, and groups with more names, than are kept. */
  readonly many: ReadonlySet<string>;
}

/** `names` are ordered by frequency. */
export function toCatalog(names: readonly CatalogName[], isComplete: boolean): Catalog {
  const many = new Set(names.filter(({ kind }) => kind === 'many').map(({ field }) => field));
  const events = new Map<string, number>();
  const properties = new Map<string, string[]>();
  const values = new Map<string, string[]>();
  for (const { kind, field, name, events: count } of names) {
    if (kind === 'event') events.set(name, count);
    else if (kind === 'key') append(properties, field, name);
    else if (kind === 'value' && !many.has(field)) append(values, field, name);
  }
  return { isComplete, events, properties, values, many };
}

function append(lists: Map<string, string[]>, field: string, name: string): void {
  const list = lists.get(field);
  if (list) list.push(name);
  else lists.set(field, [name]);
}

/** Keys of the properties, the most frequent first. */
export const keysOfBag = ({ properties }: Catalog, bag: AnyBag): string[] =>
  [...properties.keys()].filter((field) => field.startsWith(`${bag}.`)).map((field) => field.slice(bag.length + 1));

export const hasAllEvents = ({ isComplete, many }: Catalog): boolean => isComplete && !many.has(EVENT_TYPES);
export const hasAllProperties = ({ isComplete, many }: Catalog, bag: AnyBag): boolean => isComplete && !many.has(bag);

/** Whether the values of the field are all known, and are texts only. */
export const hasAllTexts = ({ isComplete, many, properties }: Catalog, field: string): boolean =>
  isComplete && !many.has(field) && (properties.get(field) ?? []).every((type) => TEXTS.has(type));
const TEXTS: ReadonlySet<string> = new Set(['string', 'null'] satisfies PropertyType[]);
