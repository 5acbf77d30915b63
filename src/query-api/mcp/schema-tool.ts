// The tool schema: what the project has sent. Events and the properties of one with their counts
// come from queries, names, types and frequent values from the catalog.
import { z } from 'zod';
import type { Catalog } from '../../catalog/catalog.js';
import { hasAllEvents } from '../../catalog/catalog.js';
import { PublicError } from '../../platform/errors.js';
import { SESSION_PREFIXES } from '../../query/analyze/resolve-field.js';
import { type Definitions, writtenDefinition } from '../../query/definitions/definitions.js';
import { findNearest, quote } from '../../query/errors.js';
import { EVENT_FIELD_NAMES, findEventField, PROPERTY_BAGS } from '../../query/fields.js';
import { propertyName, quoteText } from '../../query/parse/strings.js';
import { PROFILE_KEYS } from '../../query/profile-fields.js';
import { isSessionKey, longSessionKey, SESSION_KEYS } from '../../query/session-fields.js';
import { ask, type Call, describeRows, type ToolDeps } from './call.js';
import type { CutAnswer } from './cut-answer.js';
import { listRows, textColumns } from './list-rows.js';
import { DATA_NOTE, noteEscapes } from './tool-answer.js';

export const schemaInput = z.strictObject({
  event: z.string().optional(),
  field: z.string().optional(),
  search: z.string().optional().describe('part of a name or value'),
  days: z.int32().min(1).max(3_650).default(30),
  limit: z.int32().min(1).max(200).default(50),
  offset: z.int32().min(0).default(0),
});
export type SchemaInput = z.infer<typeof schemaInput>;

/** Length of the parts of an answer; the rest is for headings. */
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
  return [DATA_NOTE, ...noteEscapes(...parts), ...parts].join('\n\n');
}

interface Shown {
  readonly input: SchemaInput;
  readonly catalog: Catalog;
  readonly definitions: Definitions;
}

function partsFor(deps: ToolDeps, call: Call, shown: Shown): Promise<string[]> | string[] {
  const { search, event, field } = shown.input;
  if (search !== undefined && (event ?? field) !== undefined)
    throw new PublicError('bad_request', 'search looks in all events and fields; leave out event and field');
  if (search !== undefined) return searchNames(search.trim().toLowerCase(), shown);
  const defined = shown.definitions.filter(({ kind, name }) => kind === 'event' && name === event);
  if (defined.length > 0 && field === undefined) return definitionsOf(defined, shown);
  if (event !== undefined && defined.length === 0) requireEvent(event, shown.catalog);
  const named = field === undefined ? [] : definitionsNamed(field, shown);
  if (named.length > 0) return definitionsOf(named, shown);
  if (field !== undefined) return showField(deps, call, { ...shown, field });
  return event === undefined ? showAll(deps, call, shown) : showEvent(deps, call, { ...shown, event });
}

async function showAll(deps: ToolDeps, call: Call, shown: Shown): Promise<string[]> {
  const { input, catalog, definitions } = shown;
  const asked = { source: 'inspect *', lengthMax: PART_LENGTH_MAX };
  const { cut, span } = await askRecent(deps, call, { ...shown, asked });
  const fields = [...catalog.properties.keys()];
  return [
    `Events of ${span}: ${describeRows(cut, input.offset)}\n${cut.text}`,
    `Properties and their frequent values; ask for an event, a field or search for others.\n${tableOf(fields, shown)}`,
    ...definitionsOf(definitions, shown),
    ALWAYS,
  ];
}

const ALWAYS =
  `Fields of every event: ${EVENT_FIELD_NAMES.join(', ')}.\n` +
  `Of its person: ${PROFILE_KEYS.map((key) => `user.${key}`).join(', ')}. ` +
  `Of its session: ${SESSION_KEYS.map((key) => `session.${key}`).join(', ')}.`;

interface RecentQuery {
  readonly source: string;
  /** Behind the range. */
  readonly stages?: string;
  readonly lengthMax: number;
}

/** The answer of the last days or, where they have no such event, of all time. */
async function askRecent(
  deps: ToolDeps,
  call: Call,
  { asked: { source, stages = '', lengthMax }, input, catalog }: Shown & { readonly asked: RecentQuery },
): Promise<{ readonly cut: CutAnswer; readonly span: string }> {
  const { days, limit, offset } = input;
  const askIn = (range: string) =>
    ask(deps, call, { asked: { q: `${source} | ${range}${stages}`, limit, offset }, form: 'markdown', lengthMax });
  const recent = await askIn(`last ${days}d`);
  const span = `the last ${days} days`;
  if (recent.total > 0 || catalog.events.size === 0) return { cut: recent, span };
  return { cut: await askIn('since 1970-01-01'), span: `all time, because ${span} have none` };
}

async function showEvent(
  deps: ToolDeps,
  call: Call,
  { event, ...shown }: Shown & { readonly event: string },
): Promise<string[]> {
  const asked = { source: `inspect ${quoteText(event)}`, lengthMax: 2 * PART_LENGTH_MAX };
  const { cut, span } = await askRecent(deps, call, { ...shown, asked });
  return [`Properties of ${quote(event)} in ${span}: ${describeRows(cut, shown.input.offset)}\n${cut.text}`];
}

async function showField(
  deps: ToolDeps,
  call: Call,
  { field, ...shown }: Shown & { readonly field: string },
): Promise<string[]> {
  const { event, offset } = shown.input;
  const known = findField(field, shown.catalog) ?? refuseField(field, shown.catalog);
  const source = event === undefined ? '*' : quoteText(event);
  const asked = { source, stages: ` | count by ${known.written}`, lengthMax: 2 * PART_LENGTH_MAX };
  const { cut, span } = await askRecent(deps, call, { ...shown, asked });
  const types = known.types.length > 0 ? ` (${known.types.join(', ')})` : '';
  return [`Values of ${known.written}${types} in ${span}: ${describeRows(cut, offset)}\n${cut.text}`];
}

const DEFINITIONS_LENGTH_MAX = 4_000;

/** Cohorts and metrics, which stand where a field or a source does. A property comes first. */
function definitionsNamed(written: string, { catalog, definitions }: Shown): Definitions {
  if (findField(written, catalog) !== undefined) return [];
  return definitions.filter((definition) => [definition.name, writtenDefinition(definition)].includes(written));
}

/** None without definitions. Their texts are those of members of the organization. */
function definitionsOf(definitions: Definitions, { input: { offset } }: Pick<Shown, 'input'>): string[] {
  const total = definitions.length;
  if (total === 0) return [];
  const columns = textColumns('write', 'means', 'about');
  const rows = definitions.slice(offset).map((definition) => {
    const { query, about = '', unit } = definition;
    return [writtenDefinition(definition), query, [about, unit].filter(Boolean).join('; ') || null];
  });
  const listed = listRows({ columns, rows, total, offset, lengthMax: DEFINITIONS_LENGTH_MAX });
  return [`Definitions, use them in place of their text: ${listed}`];
}

/** Names and values that contain the text. */
function searchNames(text: string, shown: Shown): string[] {
  const { input, catalog } = shown;
  const { limit, offset } = input;
  const contains = (name: string): boolean => name.toLowerCase().includes(text);
  const events = [...catalog.events].filter(([name]) => contains(name));
  const inValues = [...catalog.values].filter(([, values]) => values.some(contains)).map(([field]) => field);
  const fields = [...new Set([...[...catalog.properties.keys()].filter(contains), ...inValues])];
  const builtIn = ALL_FIELDS.filter(contains);
  const defined = shown.definitions.filter(({ name, query, about = '' }) => [name, query, about].some(contains));
  if (events.length + fields.length + builtIn.length + defined.length === 0) return [`nothing contains ${quote(text)}`];
  const rows = events.slice(offset, offset + limit);
  const columns = [
    { name: 'event', type: 'text' },
    { name: 'events, about', type: 'number' },
  ] as const;
  const lengthMax = PART_LENGTH_MAX / 2;
  const named = builtIn.slice(offset, offset + limit);
  const namedRows = describeRows({ shown: named.length, total: builtIn.length }, offset);
  return [
    ...(events.length > 0 ? [`Events: ${listRows({ columns, rows, total: events.length, offset, lengthMax })}`] : []),
    ...(fields.length > 0 ? [`Properties: ${tableOf(fields, shown, contains)}`] : []),
    ...definitionsOf(defined, shown),
    ...(builtIn.length > 0 ? [`Fields: ${namedRows}\n${named.join(', ')}`.trimEnd()] : []),
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
  const { limit, offset } = input;
  const columns = textColumns('field', 'types', 'values');
  const rows = fields.slice(offset, offset + limit).map((field) => {
    const all = catalog.values.get(field) ?? [];
    const values = isWanted === undefined ? all : [...all].sort((a, b) => Number(isWanted(b)) - Number(isWanted(a)));
    const shown = values.slice(0, VALUES_SHOWN).map(showValue);
    const more = all.length > VALUES_SHOWN ? `, … ${all.length} in all` : '';
    return [writtenField(field), (catalog.properties.get(field) ?? []).join(', '), shown.join(', ') + more];
  });
  return listRows({ columns, rows, total: fields.length, offset, lengthMax: PART_LENGTH_MAX / 2 });
}

/** A text of a query. The beginning of a long one has the dots outside, which are no part of it. */
const showValue = (value: string): string =>
  value.length <= VALUE_LENGTH_MAX
    ? quoteText(value)
    : `${quoteText(value.slice(0, VALUE_LENGTH_MAX).replace(/[\uD800-\uDBFF]$/, ''))}…`;

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

/** Whether a query knows the name without the catalog. */
function isBuiltIn(name: string): boolean {
  const [prefix = '', ...key] = name.split('.');
  if (SESSION_PREFIXES.some((known) => known === prefix)) return isSessionKey(longSessionKey(key.join('.')));
  return ALL_FIELDS.includes(name) || findEventField(name) !== undefined;
}

/** By its name in queries, or by the key of a property alone. */
function findField(name: string, catalog: Catalog): KnownField | undefined {
  if (isBuiltIn(name)) return { written: name, types: [] };
  const bags = [...Object.keys(PROPERTY_BAGS), 'user'];
  const names = ['', ...bags.map((bag) => `${bag}.`)].map((prefix) => prefix + name);
  const found = [...catalog.properties.keys()].find((field) => names.includes(field) || writtenField(field) === name);
  if (found === undefined) return undefined;
  return { written: writtenField(found), types: catalog.properties.get(found) ?? [] };
}

function refuseField(name: string, catalog: Catalog): never {
  const keys = [...catalog.properties.keys()];
  const nearest = findNearest(name, [...ALL_FIELDS, ...keys, ...keys.map((key) => key.slice(key.indexOf('.') + 1))]);
  const hint = nearest === undefined ? 'call schema without field for all' : `nearest: ${quote(nearest)}`;
  throw new PublicError('bad_request', `no field ${quote(name)} in this project; ${hint}`);
}
