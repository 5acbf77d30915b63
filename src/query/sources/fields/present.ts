// Answers of `fields` and `inspect`, whose rows differ from the engine's: names as a query writes
// them, types by frequency.

import type { Cell } from '../../cell.js';
import { type DefinitionKind, type Definitions, writtenDefinition } from '../../definitions/definitions.js';
import { DISTINCT_ID, EVENT_FIELD_NAMES, findEventField } from '../../fields.js';
import { propertyName } from '../../parse/strings.js';
import { PROFILE_FIELDS, PROFILE_KEYS } from '../../profile-fields.js';
import { SESSION_KEYS, sessionRowOf } from '../../session-fields.js';
import { eventsWith } from './counted-fields.js';
import { toKey } from './key-sets.js';

/** Keys and their counts, as ClickHouse returns them: two arrays. */
type KeyCounts = readonly [readonly string[], readonly number[]];

const entriesOf = ([keys, counts]: KeyCounts): [string, number][] =>
  keys.map((key, index) => [key, Number(counts[index] ?? 0)]);

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const byCount = (entries: readonly [string, number][]): string[] =>
  [...entries].sort(([a, m], [b, n]) => n - m || compareText(a, b)).map(([name]) => name);

export const toTypes = (value: unknown): string[] => byCount(entriesOf(value as KeyCounts));

const TOP_KEYS = 5;
const BAG_NAMES = ['event_properties', 'user_properties'] as const;

export function toTopKeys(value: unknown): string[] {
  const bags = value as readonly KeyCounts[];
  const named = bags.flatMap((counts, index) =>
    entriesOf(counts).map(([key, count]): [string, number] => [
      propertyName(BAG_NAMES[index] ?? '', toKey(key)),
      count,
    ]),
  );
  return byCount(named).slice(0, TOP_KEYS);
}

interface FieldRow {
  readonly field: string;
  readonly type: string;
  readonly category: string;
  /** Undefined where counting would require reading every session or profile. */
  readonly events: number | undefined;
}

const CATEGORIES = [
  'core',
  'page',
  'referrer',
  'device',
  'geo',
  'other',
  'event_properties',
  'user_properties',
  'user',
  'session',
  'definition',
];

const TYPE_NAMES = {
  text: 'string',
  id: 'string',
  number: 'number',
  time: 'time',
  optional_number: 'number',
  optional_time: 'time',
} as const;

const PROPERTY_TYPES = ['string', 'number', 'boolean'] as const;

/** The keys of a property map by number of events, for all types. */
function propertyRows(bag: string, byType: readonly KeyCounts[]): FieldRow[] {
  const found = new Map<string, [string, number][]>();
  for (const [index, counts] of byType.entries()) {
    for (const [escaped, count] of entriesOf(counts)) {
      const key = toKey(escaped);
      found.set(key, [...(found.get(key) ?? []), [PROPERTY_TYPES[index] ?? 'string', count]]);
    }
  }
  return [...found].map(([key, types]) => ({
    field: propertyName(bag, key),
    type: byCount(types).join(', '),
    category: bag,
    events: types.reduce((sum, [, count]) => sum + count, 0),
  }));
}

function profileRows(keysByType: readonly (readonly string[])[]): FieldRow[] {
  const columns = PROFILE_KEYS.map((key) => ({ key, types: [TYPE_NAMES[PROFILE_FIELDS[key].type]] as string[] }));
  const found = new Map(columns.map(({ key, types }): [string, string[]] => [key, types]));
  const [texts = [], numbers = [], booleans = []] = keysByType;
  const isText = new Set(texts);
  const add = (key: string, type: string): void => {
    if (PROFILE_KEYS.some((known) => known === key)) return;
    found.set(key, [...(found.get(key) ?? []), type]);
  };
  for (const key of texts) add(key, 'string');
  // The number map also contains numeric texts, so only a key without text values is certainly a
  // number.
  for (const key of numbers) if (!isText.has(key)) add(key, 'number');
  for (const key of booleans) add(key, 'boolean');
  return [...found].map(([key, types]) => ({
    field: propertyName('user', key),
    type: types.join(', '),
    category: 'user',
    events: undefined,
  }));
}

/** Fields that every session has, with the number of events that have a session. */
function sessionRows(inSessions: number): FieldRow[] {
  return SESSION_KEYS.map((key) => {
    const { of, type } = sessionRowOf(key);
    const isOfAll = ['start', 'end', 'duration', 'count', 'first_event', 'last_event'].includes(of);
    const events = isOfAll ? inSessions : undefined;
    return { field: `session.${key}`, type: TYPE_NAMES[type], category: 'session', events };
  });
}

const DEFINED_TYPES = { event: 'event', cohort: 'boolean', metric: 'number' } as const satisfies Record<
  DefinitionKind,
  string
>;

const definedRows = (definitions: Definitions): FieldRow[] =>
  definitions.map((definition) => ({
    field: writtenDefinition(definition),
    type: DEFINED_TYPES[definition.kind],
    category: 'definition',
    events: undefined,
  }));

export function toFieldRows([row = []]: readonly (readonly unknown[])[], definitions: Definitions = []): Cell[][] {
  const [total, counts, ...rest] = row as [number, number[], ...unknown[]];
  const known = EVENT_FIELD_NAMES.map((name): FieldRow => {
    const field = findEventField(name);
    return {
      field: name,
      type: name === DISTINCT_ID || !field ? 'string' : TYPE_NAMES[field.type],
      category: field?.category ?? 'core',
      events: eventsWith(name, { total, counts }),
    };
  });
  const rows = [
    ...known,
    ...propertyRows('event_properties', rest.slice(0, 3) as KeyCounts[]),
    ...propertyRows('user_properties', rest.slice(3, 6) as KeyCounts[]),
    ...profileRows(rest.slice(6, 9) as (readonly string[])[]),
    ...sessionRows(eventsWith('session_id', { total, counts })),
    ...definedRows(definitions),
  ];
  const rank = ({ category }: FieldRow): number => CATEGORIES.indexOf(category);
  const amount = ({ events }: FieldRow): number => events ?? -1;
  rows.sort((a, b) => rank(a) - rank(b) || amount(b) - amount(a) || compareText(a.field, b.field));
  return rows.map(({ field, type, category, events }) => [
    field,
    type,
    category,
    events ?? null,
    events === undefined ? null : toPercent(events, Number(total)),
  ]);
}

const toPercent = (part: number, whole: number): number => (whole === 0 ? 0 : (part / whole) * 100);
