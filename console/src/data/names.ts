// Event types and fields of a project, joined from the catalog, which knows all names, and the last
// 30 days, which have figures.
import { propertyName } from '../../../src/query/parse/strings.js';
import type { Answer } from '../api/answer.js';

/** Answer of GET /api/projects/{id}/catalog. */
export interface Catalog {
  /** Whether every name of the stored events is known. */
  readonly complete: boolean;
  readonly events: readonly { readonly event_type: string; readonly count: number }[];
  readonly properties: readonly { readonly field: string; readonly types: readonly string[] }[];
  readonly profile: readonly { readonly field: string; readonly types: readonly string[] }[];
}

/** Rows of a table; the search finds the names behind them. */
export const SHOWN_MAX = 300;

export const INSPECT = 'inspect * | last 30d';
export const FIELDS = 'fields | last 30d';

export interface EventName {
  readonly name: string;
  /** Events of the last 30 days; 0 for a name that was not sent since. */
  readonly count: number;
  readonly people: number;
  readonly lastSeen: string | undefined;
}

export function toEvents(catalog: Catalog, inspected: Answer): readonly EventName[] {
  const recent = inspected.rows.map((row) => ({
    name: String(row.event_type),
    count: Number(row.count),
    people: Number(row.users),
    lastSeen: String(row.last_seen),
  }));
  const known = new Set(recent.map(({ name }) => name));
  const older = catalog.events.filter(({ event_type: name }) => !known.has(name));
  return [...recent, ...older.map(({ event_type: name }) => ({ name, count: 0, people: 0, lastSeen: undefined }))];
}

export interface FieldName {
  readonly name: string;
  readonly type: string;
  /**
   * Percent of the events of the last 30 days; undefined where counting would read all profiles.
   */
  readonly coverage: number | undefined;
}

/**
 * Properties first: they are what a project chose to send. Fields of sessions last: they repeat
 * those of events.
 */
export function toFields(catalog: Catalog, listed: Answer): readonly FieldName[] {
  const recent = listed.rows.map((row) => ({
    name: String(row.field),
    type: String(row.type),
    coverage: typeof row.coverage === 'number' ? row.coverage : undefined,
  }));
  const known = new Set(recent.map(({ name }) => name));
  const older = [...catalog.properties, ...catalog.profile]
    .map(({ field, types }) => ({ field: writtenField(field), types }))
    .filter(({ field }) => !known.has(field));
  const all = [
    ...recent,
    ...older.map(({ field, types }) => ({
      name: field,
      type: types.join(', '),
      coverage: field.startsWith('user.') ? undefined : 0,
    })),
  ];
  return all.sort((a, b) => rankOf(a) - rankOf(b));
}

/** The catalog has the keys of properties as they are, `fields` as a query writes them. */
function writtenField(field: string): string {
  const [bag = '', ...key] = field.split('.');
  return propertyName(bag, key.join('.'));
}

const RANKS = ['event_properties.', 'user.'];

const rankOf = ({ name }: FieldName): number => {
  const own = RANKS.findIndex((prefix) => name.startsWith(prefix));
  return own >= 0 ? own : name.startsWith('session.') ? 3 : 2;
};

export const matching = <T extends { readonly name: string }>(names: readonly T[], words: string): readonly T[] => {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return names.filter(({ name }) => wanted.every((word) => name.toLowerCase().includes(word)));
};
