// Changes of a YAML document as cuts and insertions of its text: everything else stays byte by
// byte, comments included. Each change is compared with the same change of the data; where spans do
// not allow it, the library writes the whole document again, which keeps comments but not all
// blanks.
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
  visit,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { PublicError } from '../platform/errors.js';
import { composeDocument } from './yaml-document.js';

export type NodePath = readonly (string | number)[];

const INDENT = 2;

/** Throws bad_request for text that is not YAML, and for aliases that cannot be resolved. */
export function requireDocument(source: string): Document.Parsed {
  const { document, syntaxProblems } = composeDocument(source);
  const message = syntaxProblems[0]?.message ?? (document === undefined ? 'it is empty' : findAliasProblem(document));
  if (document !== undefined && message === undefined) return document;
  throw new PublicError('bad_request', `the text cannot be changed by a form: ${message}`);
}

function findAliasProblem(document: Document.Parsed): string | undefined {
  let hasAlias = false;
  visit(document, {
    Alias: () => {
      hasAlias = true;
      return visit.BREAK;
    },
  });
  if (!hasAlias) return undefined;
  try {
    // One without an anchor cannot be resolved, nor can too many; one within itself has no JSON.
    JSON.stringify(document.toJS());
    return undefined;
  } catch {
    return 'an alias (*name) has no anchor (&name) before it, contains itself, or repeats too much';
  }
}

/** The whole text as the library writes it. */
function rewrite(document: Document): string {
  try {
    return document.toString({ lineWidth: 0 });
  } catch {
    const reason = 'an alias (*name) would come before its anchor (&name), or lose it';
    throw new PublicError('bad_request', `a form cannot make this change: ${reason}; edit the text`);
  }
}

interface Located<T> {
  readonly document: Document.Parsed;
  readonly node: T;
}

function requireMap(source: string, path: NodePath): Located<YAMLMap> {
  const document = requireDocument(source);
  const node: unknown = path.length === 0 ? document.contents : document.getIn(path, true);
  if (isMap(node)) return { document, node };
  throw notEditable(path);
}

function requireList(source: string, path: NodePath): Located<YAMLSeq> {
  const document = requireDocument(source);
  const node: unknown = document.getIn(path, true);
  if (isSeq(node)) return { document, node };
  throw notEditable(path);
}

const notEditable = (path: NodePath) =>
  new PublicError('bad_request', `a form cannot change ${path.join('.') || 'the document'}; edit the text`);

/** Sets a field of the map at `path`; null removes it. */
export function setField(source: string, path: NodePath, { key, value }: Field): string {
  const { document, node } = requireMap(source, path);
  const before = (node.toJS(document) as Readonly<Record<string, unknown>>)[key];
  if (isDeepStrictEqual(before, value) || (value === null && before === undefined)) return source;
  const changed = spliceField(source, node, { key, value });
  const apply = (config: unknown): void => setIn(config, [...path, key], value);
  if (changed !== undefined && isSameBut(source, changed, apply)) return changed;
  if (value === null) document.deleteIn([...path, key]);
  else document.setIn([...path, key], document.createNode(value));
  return rewrite(document);
}

/** Adds a field to the document, above the one that is named, where it has lines of its own. */
export function insertField(source: string, above: string, { key, value }: Field): string {
  const { node } = requireMap(source, []);
  const place = node.items.find((pair) => isScalar(pair.key) && pair.key.value === above)?.key;
  if (!isScalar(place) || !place.range || node.flow) return setField(source, [], { key, value });
  const at = lineStart(source, place.range[0]);
  const changed = source.slice(0, at) + stringify({ [key]: value }, { lineWidth: 0 }) + source.slice(at);
  const isRight = isSameBut(source, changed, (config) => setIn(config, [key], value));
  return isRight ? changed : setField(source, [], { key, value });
}

/** Gives the field of a map another name. */
export function renameField(source: string, path: NodePath, [from, to]: readonly [string, string]): string {
  const { document, node } = requireMap(source, path);
  const pair = node.items.find(({ key }) => isScalar(key) && key.value === from);
  const key = pair?.key;
  if (!isScalar(key) || !key.range) throw notEditable([...path, from]);
  const changed = source.slice(0, key.range[0]) + to + source.slice(key.range[1]);
  const apply = (config: unknown): void => {
    const map = getIn(config, path) as Record<string, unknown>;
    map[to] = map[from];
    delete map[from];
  };
  if (isSameBut(source, changed, apply)) return changed;
  key.value = to;
  return rewrite(document);
}

/** Removes the item at `path`. The last one leaves an empty list. */
export function removeItem(source: string, path: NodePath): string {
  const [list, index] = [path.slice(0, -1), Number(path.at(-1))];
  const { document, node } = requireList(source, list);
  const lines = linesOf(source, node, index);
  if (lines !== undefined) {
    const changed = cutLines(source, { document, list, node }, lines);
    if (isSameBut(source, changed, (config) => void (getIn(config, list) as unknown[]).splice(index, 1)))
      return changed;
  }
  document.deleteIn(path);
  if (node.items.length === 0) node.flow = true;
  return rewrite(document);
}

interface Place {
  /** Path of a list. */
  readonly list: NodePath;
  readonly index: number;
}

/** Adds an item to a list, before the one at `index`. */
export function insertItem(source: string, { list, index }: Place, value: unknown): string {
  const { document, node } = requireList(source, list);
  const lines = stringify([value], { lineWidth: 0 });
  const changed = insertLines(source, { document, list, node }, { index, lines });
  const apply = (config: unknown): void => void (getIn(config, list) as unknown[]).splice(index, 0, value);
  if (changed !== undefined && isSameBut(source, changed, apply)) return changed;
  node.flow = false;
  node.items.splice(index, 0, document.createNode(value));
  return rewrite(document);
}

/** Moves an item with the comments above it. `to` is its place once it has been taken out. */
export function moveItem(source: string, path: NodePath, to: Place): string {
  const [list, index] = [path.slice(0, -1), Number(path.at(-1))];
  const { document, node } = requireList(source, list);
  const apply = (config: unknown): void => {
    const [moved] = (getIn(config, list) as unknown[]).splice(index, 1);
    (getIn(config, to.list) as unknown[]).splice(to.index, 0, moved);
  };
  const lines = linesOf(source, node, index);
  if (lines !== undefined) {
    const [from, end] = withComments(source, lines);
    const text = source.slice(from, end);
    const cut = cutLines(source, { document, list, node }, [from, end]);
    // The text between may have aliases whose anchor is in the item.
    const { document: between } = composeDocument(cut);
    const target: unknown = between?.getIn(to.list, true);
    const outdented = outdent(text.endsWith('\n') ? text : `${text}\n`, lines[2]);
    const changed =
      between !== undefined && isSeq(target)
        ? insertLines(cut, { document: between, list: to.list, node: target }, { index: to.index, lines: outdented })
        : undefined;
    if (changed !== undefined && isSameBut(source, changed, apply)) return changed;
  }
  const item = node.items[index];
  document.deleteIn(path);
  if (node.items.length === 0) node.flow = true;
  const target: unknown = document.getIn(to.list, true);
  if (!isSeq(target)) throw notEditable(to.list);
  target.flow = false;
  target.items.splice(to.index, 0, item);
  return rewrite(document);
}

interface Field {
  readonly key: string;
  readonly value: unknown;
}

/** Undefined where the field has no span of its own. */
function spliceField(source: string, map: YAMLMap, { key, value }: Field): string | undefined {
  const index = map.items.findIndex((pair) => isScalar(pair.key) && pair.key.value === key);
  const pair = map.items[index];
  if (pair === undefined) return appendField(source, map, { key, value });
  const [from, to] = spanOf(pair) ?? [];
  if (from === undefined || to === undefined) return undefined;
  if (value === null) return cutField(source, map, { pair, index, to });
  const isBlock = source[from] === '|' || source[from] === '>';
  // A block would take a comment behind the value for a part of it.
  const isBehind = !isBlock && source.slice(to, lineEnd(source, to)).trim() !== '';
  const written = write(value, map.flow === true || isBehind ? undefined : columnOf(source, map) + INDENT);
  const rest = isBlock ? '\n' : '';
  return source.slice(0, from) + written + rest + source.slice(to);
}

function spanOf({ value }: Pair): [number, number] | undefined {
  if (!isScalar(value) && !isMap(value) && !isSeq(value)) return undefined;
  if (isAlias(value) || value.anchor !== undefined || !value.range) return undefined;
  return [value.range[0], value.range[1]];
}

function appendField(source: string, map: YAMLMap, { key, value }: Field): string | undefined {
  const last = map.items.at(-1);
  const [, end] = (last && spanOf(last)) ?? [];
  if (value === null || end === undefined) return undefined;
  if (map.flow) return `${source.slice(0, end)}, ${key}: ${write(value, undefined)}${source.slice(end)}`;
  const column = columnOf(source, map);
  const at = lineEnd(source, end);
  const newline = source[at - 1] === '\n' ? '' : '\n';
  return `${source.slice(0, at)}${newline}${' '.repeat(column)}${key}: ${write(value, column + INDENT)}\n${source.slice(at)}`;
}

interface Cut {
  readonly pair: Pair;
  readonly index: number;
  readonly to: number;
}

function cutField(source: string, map: YAMLMap, { pair, index, to }: Cut): string | undefined {
  const { key } = pair;
  if (!isScalar(key) || !key.range) return undefined;
  if (!map.flow) {
    const from = lineStart(source, key.range[0]);
    // The first field of an item stands behind its dash.
    const isAlone = source.slice(from, key.range[0]).trim() === '';
    return isAlone ? source.slice(0, from) + source.slice(lineEnd(source, to)) : undefined;
  }
  const next = map.items[index + 1]?.key;
  if (index === 0 && isScalar(next) && next.range) return source.slice(0, key.range[0]) + source.slice(next.range[0]);
  const before = map.items[index - 1];
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

/** Start and end of the lines of an item, and the column of its dash. */
type Lines = readonly [from: number, to: number, column: number];

/** Undefined where the item does not begin a line with its dash. */
function linesOf(source: string, { flow, items }: YAMLSeq, index: number): Lines | undefined {
  const item = items[index];
  if (flow || !isMap(item) || !item.range) return undefined;
  const from = lineStart(source, item.range[0]);
  const before = source.slice(from, item.range[0]);
  return /^ *- +$/.test(before) ? [from, lineEnd(source, item.range[1]), before.indexOf('-')] : undefined;
}

/** From the first of the comments that stand directly above, in the column of the dash. */
function withComments(source: string, [from, to, column]: Lines): readonly [number, number] {
  let start = from;
  for (;;) {
    const above = start === 0 ? '' : source.slice(lineStart(source, start - 1), start);
    if (above.search(/\S/) !== column || above[column] !== '#') return [start, to];
    start -= above.length;
  }
}

interface InList {
  readonly document: Document.Parsed;
  readonly list: NodePath;
  readonly node: YAMLSeq;
}

/** A list without lines is written as `[]` behind its key. */
function cutLines(source: string, { document, list, node }: InList, [from, to]: readonly number[]): string {
  const cut = source.slice(0, from) + source.slice(to);
  const parent: unknown = document.getIn(list.slice(0, -1), true);
  const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === list.at(-1)) : undefined;
  if (node.items.length > 1 || !isScalar(pair?.key) || !pair.key.range) return cut;
  const colon = source.indexOf(':', pair.key.range[1]) + 1;
  return `${cut.slice(0, colon)} []${cut.slice(colon)}`;
}

interface Insertion {
  readonly index: number;
  /** Lines of an item whose dash stands in the first column. */
  readonly lines: string;
}

function insertLines(source: string, inList: InList, { index, lines }: Insertion): string | undefined {
  const { items, flow, range } = inList.node;
  if (items.length === 0) return flow && range ? insertFirst(source, inList, lines) : undefined;
  const next = linesOf(source, inList.node, Math.min(index, items.length - 1));
  if (next === undefined) return undefined;
  const at = index < items.length ? withComments(source, next)[0] : next[1];
  const newline = at > 0 && source[at - 1] !== '\n' ? '\n' : '';
  return source.slice(0, at) + newline + indent(lines, next[2]) + source.slice(at);
}

/** In the place of `[]`; a comment behind it stays where it is. */
function insertFirst(source: string, { document, list, node }: InList, lines: string): string | undefined {
  const parent: unknown = document.getIn(list.slice(0, -1), true);
  if (!isMap(parent) || parent.flow || !node.range) return undefined;
  const [from, to] = node.range;
  const end = lineEnd(source, to);
  const newline = source[end - 1] === '\n' ? '' : '\n';
  const column = columnOf(source, parent) + INDENT;
  const head = source.slice(0, from).trimEnd() + source.slice(to, end);
  return head + newline + indent(lines, column) + source.slice(end);
}

const indent = (lines: string, columns: number): string => lines.replace(/^(?=.)/gm, ' '.repeat(columns));
const outdent = (lines: string, columns: number): string => lines.replace(new RegExp(`^ {0,${columns}}`, 'gm'), '');

const lineStart = (source: string, at: number): number => source.lastIndexOf('\n', at - 1) + 1;

/** Behind the line break of the line that ends before `at`, or in which it stands. */
function lineEnd(source: string, at: number): number {
  if (source[at - 1] === '\n') return at;
  const newline = source.indexOf('\n', at);
  return newline === -1 ? source.length : newline + 1;
}

const columnOf = (source: string, { range }: YAMLMap): number => (range ? range[0] - lineStart(source, range[0]) : 0);

/**
 * Whether the changed text means the same as the one before, but for the change: spans are cut and
 * joined as text.
 */
export function isSameBut(source: string, changed: string, apply: (config: unknown) => void): boolean {
  const [before, after] = [composeDocument(source), composeDocument(changed)];
  if (after.document === undefined || after.syntaxProblems.length > 0) return false;
  // The anchor of an alias may be what was cut.
  if (findAliasProblem(after.document) !== undefined) return false;
  const wanted: unknown = before.document?.toJS();
  apply(wanted);
  return isDeepStrictEqual(after.document.toJS(), wanted);
}

// biome-ignore lint/suspicious/noExplicitAny: plain data of any shape
const getIn = (config: any, path: NodePath): unknown => path.reduce((inside, key) => inside?.[key], config);

function setIn(config: unknown, path: NodePath, value: unknown): void {
  const parent = getIn(config, path.slice(0, -1)) as Record<string, unknown>;
  const key = String(path.at(-1));
  if (value === null) delete parent[key];
  else parent[key] = value;
}
