// Changes one card in the text of a dashboard document: each changed field replaces its own span,
// and everything else stays byte by byte, comments included. The text is the only state; a form of
// the console edits it through here.

import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  parse as parseScalar,
  stringify,
  type YAMLMap,
} from 'yaml';
import { z } from 'zod';
import { PublicError } from '../platform/errors.js';
import { addCardTo, newIdOf } from './add-card.js';
import { cardSchema } from './config-schema.js';
import { composeDocument } from './yaml-document.js';

const fields = cardSchema.pick({ title: true, kind: true, viz: true, query: true, markdown: true, layout: true });

/** Null removes a field; an absent one stays. */
export const cardChangeSchema = z.strictObject({
  id: z.string().max(63).optional().meta({ description: 'the card to change; absent for a new one' }),
  section: z.int().min(0).max(49).optional().meta({ description: 'where a new card is added; default: the last' }),
  title: fields.shape.title,
  kind: fields.shape.kind,
  viz: fields.shape.viz,
  query: fields.shape.query.unwrap().nullable().optional(),
  markdown: fields.shape.markdown.unwrap().nullable().optional(),
  layout: fields.shape.layout.unwrap().nullable().optional(),
});
export type CardChange = z.infer<typeof cardChangeSchema>;

type Fields = Readonly<Record<string, unknown>>;

export function changeCard(source: string, { id, section, ...change }: CardChange): string {
  if (id === undefined) {
    const { document } = requireDocument(source);
    const given = Object.entries(change).filter(([, value]) => value !== null && value !== undefined);
    const added = { id: newIdOf(change.title, document), ...Object.fromEntries(given) };
    return addCardTo(source, { section, added });
  }
  let text = source;
  for (const [key, value] of Object.entries(change)) {
    if (value !== undefined) text = setField(text, { id, key, value });
  }
  return text;
}

/** Its lines are removed. The last card of a section leaves an empty list. */
export function removeCard(source: string, id: string): string {
  const { document, path } = requireCard(source, id);
  const list = document.getIn(path.slice(0, -1), true);
  if (!isSeq(list)) throw notEditable(id);
  const index = Number(path.at(-1));
  const node = list.items[index];
  const isAlone = list.items.length === 1;
  if (isMap(node) && node.range && list.range && !list.flow && !isAlone) {
    const start = lineStart(source, node.range[0]);
    if (/^ *- +$/.test(source.slice(start, node.range[0]))) {
      const changed = source.slice(0, start) + source.slice(lineEnd(source, node.range[1]));
      if (isSameBut(source, changed, (config) => removeIn(config, path))) return changed;
    }
  }
  document.deleteIn(path);
  if (isAlone) list.flow = true;
  return document.toString({ lineWidth: 0 });
}

interface FieldChange {
  readonly id: string;
  readonly key: string;
  readonly value: unknown;
}

function setField(source: string, { id, key, value }: FieldChange): string {
  const { document, card, path } = requireCard(source, id);
  const before = (card.toJS(document) as Fields)[key];
  if (isDeepStrictEqual(before, value) || (value === null && before === undefined)) return source;
  const changed = spliceField(source, card, { key, value });
  const apply = (config: unknown): void => setIn(config, [...path, key], value);
  if (changed !== undefined && isSameBut(source, changed, apply)) return changed;
  // The library writes the whole document again: comments stay, blanks and quotes may change.
  if (value === null) document.deleteIn([...path, key]);
  else document.setIn([...path, key], document.createNode(value));
  return document.toString({ lineWidth: 0 });
}

/** Undefined where the field has no span of its own. */
function spliceField(source: string, card: YAMLMap, { key, value }: Omit<FieldChange, 'id'>): string | undefined {
  const index = card.items.findIndex((pair) => isScalar(pair.key) && pair.key.value === key);
  const pair = card.items[index];
  if (pair === undefined) return insertField(source, card, { key, value });
  const [from, to] = spanOf(pair) ?? [];
  if (from === undefined || to === undefined) return undefined;
  if (value === null) return cutField(source, card, { pair, index, to });
  const isBlock = source[from] === '|' || source[from] === '>';
  // A block would take a comment behind the value for a part of it.
  const isBehind = !isBlock && source.slice(to, lineEnd(source, to)).trim() !== '';
  const written = write(value, card.flow === true || isBehind ? undefined : columnOf(source, card) + INDENT);
  const rest = isBlock ? '\n' : '';
  return source.slice(0, from) + written + rest + source.slice(to);
}

const INDENT = 2;

function spanOf({ value }: Pair): [number, number] | undefined {
  if (!isScalar(value) && !isMap(value) && !isSeq(value)) return undefined;
  if (isAlias(value) || value.anchor !== undefined || !value.range) return undefined;
  return [value.range[0], value.range[1]];
}

function insertField(source: string, card: YAMLMap, { key, value }: Omit<FieldChange, 'id'>): string | undefined {
  const last = card.items.at(-1);
  const [, end] = (last && spanOf(last)) ?? [];
  if (value === null || end === undefined) return undefined;
  if (card.flow) return `${source.slice(0, end)}, ${key}: ${write(value, undefined)}${source.slice(end)}`;
  const column = columnOf(source, card);
  const at = lineEnd(source, end);
  const newline = source[at - 1] === '\n' ? '' : '\n';
  return `${source.slice(0, at)}${newline}${' '.repeat(column)}${key}: ${write(value, column + INDENT)}\n${source.slice(at)}`;
}

interface Cut {
  readonly pair: Pair;
  readonly index: number;
  readonly to: number;
}

function cutField(source: string, card: YAMLMap, { pair, index, to }: Cut): string | undefined {
  const key = pair.key;
  // The first field stands behind the dash of its card.
  if (!isScalar(key) || !key.range || index === 0) return undefined;
  if (!card.flow) return source.slice(0, lineStart(source, key.range[0])) + source.slice(lineEnd(source, to));
  const before = card.items[index - 1];
  const [, start] = (before && spanOf(before)) ?? [];
  return start === undefined ? undefined : source.slice(0, start) + source.slice(to);
}

/** `indent` is that of further lines; without it, the text stands in braces. */
function write(value: unknown, indent: number | undefined): string {
  if (typeof value !== 'string') return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
  if (indent === undefined) return isPlain(value) ? value : JSON.stringify(value);
  if (value.includes('\n')) return NOT_LITERAL.test(value) ? JSON.stringify(value) : literal(value, indent);
  return stringify(value, { lineWidth: 0 }).trimEnd();
}

/** Words that mean the same without quotes, in braces too. */
const isPlain = (value: string): boolean => /^[A-Za-z](?:[\w ]*\w)?$/.test(value) && parseScalar(value) === value;

/**
 * What a literal block cannot hold as it is: blanks at its beginning, several line breaks at its
 * end, other line separators.
 */
const NOT_LITERAL = /^\s|\n\s*\n$|[\r\0\u0085\u2028\u2029]/;

function literal(value: string, indent: number): string {
  const isKept = value.endsWith('\n');
  const lines = (isKept ? value.slice(0, -1) : value).split('\n');
  const body = lines.map((line) => (line === '' ? '' : ' '.repeat(indent) + line)).join('\n');
  return `${isKept ? '|' : '|-'}\n${body}`;
}

const lineStart = (source: string, at: number): number => source.lastIndexOf('\n', at - 1) + 1;

/** Behind the line break of the line that ends before `at`, or in which it stands. */
function lineEnd(source: string, at: number): number {
  if (source[at - 1] === '\n') return at;
  const newline = source.indexOf('\n', at);
  return newline === -1 ? source.length : newline + 1;
}

const columnOf = (source: string, { range }: YAMLMap): number => (range ? range[0] - lineStart(source, range[0]) : 0);

interface Found {
  readonly document: Document.Parsed;
  readonly card: YAMLMap;
  /** `sections`, its index, `cards`, its index. */
  readonly path: readonly [string, number, string, number];
}

function requireDocument(source: string): { readonly document: Document.Parsed } {
  const { document, syntaxProblems } = composeDocument(source);
  const [problem] = syntaxProblems;
  if (document !== undefined && problem === undefined) return { document };
  throw new PublicError('bad_request', `the text cannot be changed by a form: ${problem?.message ?? 'it is empty'}`);
}

function requireCard(source: string, id: string): Found {
  const { document } = requireDocument(source);
  const sections = document.get('sections');
  if (isSeq(sections)) {
    for (const [at, section] of sections.items.entries()) {
      const cards = isMap(section) ? section.get('cards') : undefined;
      if (!isSeq(cards)) continue;
      const index = cards.items.findIndex((card) => isMap(card) && card.get('id') === id);
      const card = cards.items[index];
      if (isMap(card)) return { document, card, path: ['sections', at, 'cards', index] };
    }
  }
  throw new PublicError('bad_request', `the text has no card "${id}"; it may have been renamed`);
}

const notEditable = (id: string) => new PublicError('bad_request', `the card "${id}" is not in a list; edit the text`);

/**
 * Whether the changed text means the same as the one before, but for the change: spans are cut and
 * joined as text.
 */
function isSameBut(source: string, changed: string, apply: (config: unknown) => void): boolean {
  const [before, after] = [composeDocument(source), composeDocument(changed)];
  if (after.document === undefined || after.syntaxProblems.length > 0) return false;
  const wanted: unknown = before.document?.toJS();
  apply(wanted);
  return isDeepStrictEqual(after.document.toJS(), wanted);
}

type Path = readonly (string | number)[];

// biome-ignore lint/suspicious/noExplicitAny: plain data of any shape
const parentOf = (config: any, path: Path): any => path.slice(0, -1).reduce((inside, key) => inside?.[key], config);

function setIn(config: unknown, path: Path, value: unknown): void {
  const parent = parentOf(config, path);
  const key = String(path.at(-1));
  if (value === null) delete parent[key];
  else parent[key] = value;
}

const removeIn = (config: unknown, path: Path): void => void parentOf(config, path).splice(Number(path.at(-1)), 1);
