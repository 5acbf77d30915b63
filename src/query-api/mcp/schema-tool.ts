// The tool schema: what the project has sent. Events and the properties of one with their counts
// come from queries, names, types and frequent values from the catalog.
import { z } from 'zod';
import type { Catalog } from '../../catalog/catalog.js';
import { hasAllEvents } from '../../catalog/catalog.js';
import { PublicError } from '../../platform/errors.js';
import { type Definitions, writtenDefinition } from '../../query/definitions/definitions.js';
import { findNearest, quote } from '../../query/errors.js';
import { EVENT_FIELD_NAMES, PROPERTY_BAGS } from '../../query/fields.js';
import { quoteText } from '../../query/parse/strings.js';
import { PROFILE_KEYS } from '../../query/profile-fields.js';
import { SESSION_KEYS } from '../../query/session-fields.js';
import { propertyName } from '../../query/sources/fields/present.js';
import { formatTable } from '../formats/llm.js';
import { ask, type Call, describeRows, type ToolDeps } from './call.js';
import { fence } from './cut-answer.js';
import { DATA_NOTE } from './tool-answer.js';

export const schemaInput = z.object({
  event: z.string().optional(),
  field: z.string().optional(),
  search: z.string().optional().describe('part of a name or value'),
  days: z.int32().min(1).max(3_650).default(30),
  limit: z.int32().min(1).max(200).default(50),
});
export type SchemaInput = z.infer<typeof schemaInput>;

/** Of the parts of an answer; the rest is for headings. */
const PART_LENGTH_MAX = 11_000;
const VALUES_SHOWN = 8;
const VALUE_LENGTH_MAX = 40;

export async function showSchema(deps: ToolDeps, call: Call, input: SchemaInput): Promise<string> {
  const { projectId } = call.credential;
  const [catalog, { definitions }] = await Promise.all([
    deps.catalogs.read(projectId),
    deps.definitions.read(projectId),
  ]);
  const parts = await partsFor(deps, call, { input, catalog, definitions });
  return [DATA_NOTE, ...parts].join('\n\n');
}

interface Shown {
  readonly input: SchemaInput;
  readonly catalog: Catalog;
  readonly definitions: Definitions;
}

function partsFor(deps: ToolDeps, call: Call, shown: Shown): Promise<string[]> | string[] {
  const { search, event, field } = shown.input;
  if (search !== undefined) return searchNames(search.trim().toLowerCase(), shown);
  const defined = shown.definitions.filter(({ kind, name }) => kind === 'event' && name === event);
  if (defined.length > 0 && field === undefined) return definitionsOf(defined);
  if (event !== undefined && defined.length === 0) requireEvent(event, shown.catalog);
  if (field !== undefined) return showField(deps, call, { ...shown, field });
  return event === undefined ? showAll(deps, call, shown) : showEvent(deps, call, { ...shown, event });
}

async function showAll(deps: ToolDeps, call: Call, shown: Shown): Promise<string[]> {
  const { input, catalog, definitions } = shown;
  const { days, limit } = input;
  const q = `inspect * | last ${days}d`;
  const cut = await ask(deps, call, { asked: { q, limit }, form: 'markdown', lengthMax: PART_LENGTH_MAX });
  const fields = [...catalog.properties.keys()];
  return [
    `Events of the last ${days} days: ${describeRows(cut)}\n${cut.text}`,
    `Properties and their frequent values; ask for an event, a field or search for others.\n${tableOf(fields, shown)}`,
    ...definitionsOf(definitions),
    ALWAYS,
  ];
}

const ALWAYS =
  `Fields of every event: ${EVENT_FIELD_NAMES.join(', ')}.\n` +
  `Of its person: ${PROFILE_KEYS.map((key) => `user.${key}`).join(', ')}. ` +
  `Of its session: ${SESSION_KEYS.map((key) => `session.${key}`).join(', ')}.`;

async function showEvent(
  deps: ToolDeps,
  call: Call,
  { event, input }: Shown & { readonly event: string },
): Promise<string[]> {
  const { days, limit } = input;
  const q = `inspect ${quoteText(event)} | last ${days}d`;
  const cut = await ask(deps, call, { asked: { q, limit }, form: 'markdown', lengthMax: 2 * PART_LENGTH_MAX });
  return [`Properties of ${quote(event)} in the last ${days} days: ${describeRows(cut)}\n${cut.text}`];
}

async function showField(
  deps: ToolDeps,
  call: Call,
  { field, input, catalog }: Shown & { readonly field: string },
): Promise<string[]> {
  const { event, days, limit } = input;
  const known = findField(field, catalog);
  const source = event === undefined ? '*' : quoteText(event);
  const q = `${source} | last ${days}d | count by ${known.written}`;
  const cut = await ask(deps, call, { asked: { q, limit }, form: 'markdown', lengthMax: 2 * PART_LENGTH_MAX });
  const types = known.types.length > 0 ? ` (${known.types.join(', ')})` : '';
  return [`Values of ${known.written}${types} in the last ${days} days: ${describeRows(cut)}\n${cut.text}`];
}

const DEFINITIONS_LENGTH_MAX = 4_000;

/** None without definitions. Their texts are those of members of the organization. */
function definitionsOf(definitions: Definitions): string[] {
  if (definitions.length === 0) return [];
  const columns = ['write', 'means', 'about'].map((name) => ({ name, type: 'text' }) as const);
  const rows: (string | null)[][] = [];
  let length = 0;
  for (const definition of definitions) {
    const { query, about = '', unit } = definition;
    const row = [writtenDefinition(definition), query, [about, unit].filter(Boolean).join('; ') || null];
    length += row.join('').length;
    if (length > DEFINITIONS_LENGTH_MAX && rows.length > 0) break;
    rows.push(row);
  }
  const text = fence('text', formatTable({ columns, rows }, { isCompact: true }));
  return [`Definitions, use them in place of their text: rows ${rows.length} of ${definitions.length}\n${text}`];
}

/** Names and values that contain the text. */
function searchNames(text: string, shown: Shown): string[] {
  const { input, catalog } = shown;
  const { limit } = input;
  const contains = (name: string): boolean => name.toLowerCase().includes(text);
  const events = [...catalog.events].filter(([name]) => contains(name)).slice(0, limit);
  const inValues = [...catalog.values].filter(([, values]) => values.some(contains)).map(([field]) => field);
  const fields = [...new Set([...[...catalog.properties.keys()].filter(contains), ...inValues])];
  const builtIn = ALL_FIELDS.filter(contains).slice(0, limit);
  const defined = shown.definitions.filter(({ name, query, about = '' }) => [name, query, about].some(contains));
  if (events.length + fields.length + builtIn.length + defined.length === 0) return [`nothing contains ${quote(text)}`];
  const rows = events.map(([name, count]) => [name, count] as const);
  const columns = [
    { name: 'event', type: 'text' },
    { name: 'events, about', type: 'number' },
  ] as const;
  return [
    ...(rows.length > 0 ? [`Events\n${fence('text', formatTable({ columns, rows }, { isCompact: true }))}`] : []),
    ...(fields.length > 0 ? [`Properties\n${tableOf(fields, shown, contains)}`] : []),
    ...definitionsOf(defined),
    ...(builtIn.length > 0 ? [`Fields: ${builtIn.join(', ')}`] : []),
  ];
}

const ALL_FIELDS = [
  ...EVENT_FIELD_NAMES,
  ...PROFILE_KEYS.map((key) => `user.${key}`),
  ...SESSION_KEYS.map((key) => `session.${key}`),
];

/** A row for each field of the catalog, as many as fit. Values that are wanted come first. */
function tableOf(
  fields: readonly string[],
  { input, catalog }: Omit<Shown, 'definitions'>,
  isWanted?: (value: string) => boolean,
): string {
  const columns = ['field', 'types', 'values'].map((name) => ({ name, type: 'text' }) as const);
  const rows: string[][] = [];
  let length = 0;
  for (const field of fields.slice(0, input.limit)) {
    const all = catalog.values.get(field) ?? [];
    const values = isWanted === undefined ? all : [...all].sort((a, b) => Number(isWanted(b)) - Number(isWanted(a)));
    const shown = values.slice(0, VALUES_SHOWN).map((value) => quoteText(clip(value)));
    const more = all.length > VALUES_SHOWN ? `, … ${all.length} in all` : '';
    const row = [writtenField(field), (catalog.properties.get(field) ?? []).join(', '), shown.join(', ') + more];
    length += row.join('').length;
    if (length > PART_LENGTH_MAX / 2) break;
    rows.push(row);
  }
  const text = fence('text', formatTable({ columns, rows }, { isCompact: true }));
  return `rows ${rows.length} of ${fields.length}\n${text}`;
}

const clip = (value: string): string =>
  value.length <= VALUE_LENGTH_MAX ? value : `${value.slice(0, VALUE_LENGTH_MAX).toWellFormed()}…`;

/** As a query writes it: quoted if its key has other characters. */
function writtenField(field: string): string {
  const [bag = '', ...rest] = field.split('.');
  return rest.length === 0 ? field : propertyName(bag, rest.join('.'));
}

function requireEvent(event: string, catalog: Catalog): void {
  if (catalog.events.has(event) || !hasAllEvents(catalog)) return;
  const nearest = findNearest(event, catalog.events.keys());
  const hint = nearest === undefined ? 'call schema without event for all' : `nearest: ${quote(nearest)}`;
  throw new PublicError('bad_request', `no event ${quote(event)} in this project; ${hint}`);
}

interface KnownField {
  readonly written: string;
  readonly types: readonly string[];
}

/** By its name in queries, or by the key of a property alone. Throws bad_request for others. */
function findField(name: string, catalog: Catalog): KnownField {
  if (ALL_FIELDS.includes(name)) return { written: name, types: [] };
  const bags = [...Object.keys(PROPERTY_BAGS), 'user'];
  const names = ['', ...bags.map((bag) => `${bag}.`)].map((prefix) => prefix + name);
  const found = [...catalog.properties.keys()].find((field) => names.includes(field) || writtenField(field) === name);
  if (found !== undefined) return { written: writtenField(found), types: catalog.properties.get(found) ?? [] };
  const keys = [...catalog.properties.keys()];
  const nearest = findNearest(name, [...ALL_FIELDS, ...keys, ...keys.map((key) => key.slice(key.indexOf('.') + 1))]);
  const hint = nearest === undefined ? 'call schema without field for all' : `nearest: ${quote(nearest)}`;
  throw new PublicError('bad_request', `no field ${quote(name)} in this project; ${hint}`);
}
