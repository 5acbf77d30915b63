// The events of a project and the types of their properties, read over HTTP: the catalog names the
// events, and `inspect` the properties of each.
import { z } from 'zod';

export type PropertyType = 'string' | 'number' | 'boolean' | 'null';

export interface EventType {
  readonly name: string;
  /** Undefined without an event in the range: it may have any. */
  readonly properties: readonly Property[] | undefined;
}

interface Property {
  readonly key: string;
  readonly types: readonly PropertyType[];
}

export interface ProjectTypes {
  /** Event types in the order of their names. */
  readonly events: readonly EventType[];
  /** Names that its definitions give to queries. */
  readonly metrics: readonly string[];
  readonly cohorts: readonly string[];
}

/** Sends a request of the project; the answer is JSON. */
export type Ask = (path: string, body?: object) => Promise<unknown>;

const named = z.array(z.object({ name: z.string() }));
const catalogSchema = z.object({
  events: z.array(z.object({ event_type: z.string() })),
  definitions: z.object({ metrics: named, cohorts: named }),
});
const inspectedSchema = z.object({
  rows: z.array(z.object({ property: z.string(), types: z.array(z.enum(['string', 'number', 'boolean', 'null'])) })),
});

const countedSchema = z.object({ rows: z.array(z.object({ event_type: z.string() })) });

/** Known types in order, null last. Empty when only null was seen: it may be anything. */
export function orderTypes(types: readonly PropertyType[]): readonly PropertyType[] {
  const known = types.filter((type) => type !== 'null').sort();
  return known.length === 0 || !types.includes('null') ? known : [...known, 'null'];
}

/** Properties that an event may have are those of this time. */
const RANGE = 'last 90d';
const PREFIX = 'event_properties.';

/** Events of the service itself, which clients record by other calls. */
const isOwn = (name: string): boolean => name.startsWith('service.');

export async function readProjectTypes(ask: Ask): Promise<ProjectTypes> {
  const { events, definitions } = catalogSchema.parse(await ask('/catalog'));
  // The catalog may be some seconds behind.
  const recent = await readRecentNames(ask);
  const names = new Set([...events.map(({ event_type: name }) => name), ...recent]);
  const read: EventType[] = [];
  for (const name of [...names].filter((each) => !isOwn(each)).sort()) {
    read.push({ name, properties: recent.has(name) ? await readProperties(ask, name) : undefined });
  }
  return {
    events: read,
    metrics: definitions.metrics.map(({ name }) => name).sort(),
    cohorts: definitions.cohorts.map(({ name }) => name).sort(),
  };
}

/** Rows of one answer: the most that a query returns. */
const ROWS_PER_ANSWER = 10_000;

async function readRows<Row>(ask: Ask, q: string, schema: z.ZodType<{ rows: Row[] }>): Promise<Row[]> {
  const all: Row[] = [];
  for (;;) {
    const page = { limit: ROWS_PER_ANSWER, offset: all.length };
    const { rows } = schema.parse(await ask('/query', { q, format: 'json', ...page }));
    for (const row of rows) all.push(row);
    if (rows.length < ROWS_PER_ANSWER) return all;
  }
}

async function readRecentNames(ask: Ask): Promise<ReadonlySet<string>> {
  const rows = await readRows(ask, `* | ${RANGE} | count by event_type`, countedSchema);
  return new Set(rows.map(({ event_type: name }) => name));
}

async function readProperties(ask: Ask, name: string): Promise<readonly Property[]> {
  return (await readRows(ask, `inspect ${JSON.stringify(name)} | ${RANGE}`, inspectedSchema))
    .filter(({ property }) => property.startsWith(PREFIX))
    .map(({ property, types }) => ({ key: toKey(property.slice(PREFIX.length)), types }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** `plan`, or `"Button Name"`: the names of queries are quoted like JSON. */
const toKey = (name: string): string => (name.startsWith('"') ? String(JSON.parse(name)) : name);
