// Reads a strict YAML document into plain values, and locates each value in the text. Resolves
// aliases, with a limit on the expanded size. Does not validate the values.
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { quote, type Span, type TextFix } from '../query/errors.js';
import { type Path, toPathText, valueAt } from './path.js';
import type { DashboardProblem } from './problems.js';
import { composeDocument } from './yaml-document.js';
import { escapeInRaw, offsetInRaw, type RawText } from './yaml-place.js';

/** The message and hint of a problem. */
export interface Remark {
  readonly message: string;
  readonly hint: string;
}

export interface YamlSource {
  /** Undefined when the text is not a readable document. */
  readonly value: unknown;
  readonly problems: readonly DashboardProblem[];
  /** The value at `path`, if there is one. */
  at(path: Path): unknown;
  /** A problem at the value of `path`, or at the nearest parent that exists. */
  problemAt(path: Path, remark: Remark): DashboardProblem;
  /** A problem at the last key of `path`. */
  problemAtKey(path: Path, remark: Remark): DashboardProblem;
  /** A problem at a character of the text value of `path`. */
  problemInText(path: Path, offset: number, remark: Remark): DashboardProblem;
  /**
   * The replacement of a part of the text value of `path` as a replacement in the document.
   * Undefined when the document would not have the new text there.
   */
  replacementInText(path: Path, span: Span, text: string): TextFix | undefined;
  /** The replacement of the last key of `path`. */
  replacementOfKey(path: Path, text: string): TextFix | undefined;
}

interface Place {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
}
type Places = Map<string, Place>;

export function readYaml(source: string): YamlSource {
  const { document, syntaxProblems } = composeDocument(source);
  const lineAndColumn = createLineIndex(source);
  const toProblem = (offset: number, path: Path, { message, hint }: Remark): DashboardProblem => ({
    message,
    path: toPathText(path),
    ...lineAndColumn(offset),
    hint,
  });
  const problems = syntaxProblems.map(({ offset, ...remark }) => toProblem(offset, [], remark));
  const places: Places = new Map();
  const reading = new Reading(places, (node, path, remark) => problems.push(toProblem(startOf(node), path, remark)));
  // A structure guessed from broken text would only produce misleading problems.
  const value = document !== undefined && problems.length === 0 ? reading.tryRead(document) : undefined;

  /** Of the whole text without a span. */
  const replacementIn = (
    path: Path,
    node: Node | undefined,
    { span, text }: { readonly span?: Span; readonly text: string },
  ): TextFix | undefined => {
    if (!isScalar(node) || typeof node.value !== 'string') return undefined;
    const { from, to } = span ?? { from: 0, to: node.value.length };
    const raw = toRawText(source, node);
    const [start, end] = [offsetInRaw(raw, from), offsetInRaw(raw, to)];
    const written = escapeInRaw(raw.type, text);
    const changed = raw.raw.slice(0, start) + written + raw.raw.slice(end);
    const isInFlow = path.some((_, length) => isFlow(document?.getIn(path.slice(0, length), true)));
    const wanted = node.value.slice(0, from) + text + node.value.slice(to);
    if (readScalar(changed, isInFlow) !== wanted) return undefined;
    const length = [...raw.raw.slice(start, end)].length;
    return { ...lineAndColumn(startOf(node) + start), length, text: written };
  };

  return {
    value,
    problems,
    at: (path) => valueAt(value, path),
    problemAt: (path, remark) => toProblem(startOf(findHolder(places, path)), path, remark),
    problemAtKey: (path, remark) => toProblem(startOf(places.get(toPathText(path))?.key), path, remark),
    problemInText: (path, offset, remark) => {
      const node = places.get(toPathText(path))?.value;
      const start = isScalar(node) ? offsetInRaw(toRawText(source, node), offset) : 0;
      return toProblem(startOf(node ?? findHolder(places, path)) + start, path, remark);
    },
    replacementInText: (path, span, text) => replacementIn(path, places.get(toPathText(path))?.value, { span, text }),
    replacementOfKey: (path, text) => replacementIn(path, places.get(toPathText(path))?.key, { text }),
  };
}

/** Whether braces or brackets hold it. */
const isFlow = (node: unknown): boolean => isCollection(node) && node.flow === true;

/** The value of a scalar of a map; undefined when the text is something else there. */
function readScalar(raw: string, isInFlow: boolean): unknown {
  const { document, syntaxProblems } = composeDocument(isInFlow ? `{k: ${raw}\n}` : `k: ${raw}\n`);
  return syntaxProblems.length === 0 && isMap(document?.contents) && document.contents.items.length === 1
    ? document.get('k')
    : undefined;
}

const lengthOf = (node: Node | null | undefined): number =>
  isScalar(node) && typeof node.value === 'string' ? node.value.length : 0;

const startOf = (node: Node | undefined): number => node?.range?.[0] ?? 0;

function findHolder(places: Places, path: Path): Node | undefined {
  for (let length = path.length; length >= 0; length--) {
    const place = places.get(toPathText(path.slice(0, length)));
    // An empty map has no text of its own, so its key gives the position.
    if (place !== undefined) return place.value ?? place.key;
  }
  return undefined;
}

function toRawText(source: string, node: Scalar): RawText {
  const [from = 0, to = 0] = node.range ?? [];
  return {
    type: (node.type as RawText['type'] | undefined) ?? 'PLAIN',
    raw: source.slice(from, to),
    value: String(node.value),
  };
}

/**
 * Computes line and column by binary search, because broken text may have a problem at every other
 * character.
 */
function createLineIndex(source: string): (offset: number) => { line: number; column: number } {
  const lineEnds = [...source.matchAll(/\n/g)].map(({ index }) => index);
  // Characters of two UTF-16 units count as one column; these are the offsets of the second units.
  const seconds = [...source.matchAll(/[\u{10000}-\u{10ffff}]/gu)].map(({ index }) => index + 1);
  return (offset) => {
    const line = countBelow(lineEnds, offset);
    const start = line === 0 ? 0 : (lineEnds[line - 1] ?? 0) + 1;
    return { line: line + 1, column: offset - start - (countBelow(seconds, offset) - countBelow(seconds, start)) + 1 };
  };
}

/** How many of the ascending numbers are less than `limit`. */
function countBelow(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Limit of values in a document, expanded aliases included. */
const NODES_MAX = 20_000;
/** Limit of characters in texts and keys. A valid document without aliases never reaches it. */
const CHARACTERS_MAX = 256 * 1024;

/**
 * Reads a document in one pass, in the order of its text, which is the order in which anchors are
 * defined.
 */
class Reading {
  private readonly anchors = new Map<string, Node>();
  private nodes = 0;
  private characters = 0;
  private isTooLarge = false;
  /** The aliases being expanded, outermost first; problems inside are reported at the outermost. */
  private readonly expanding: { alias: Node; target: Node }[] = [];

  constructor(
    private readonly places: Places,
    private readonly report: (node: Node, path: Path, remark: Remark) => void,
  ) {}

  /** Undefined when the document is too large to have been read whole. */
  tryRead(document: Document.Parsed): unknown {
    const value = this.toValue(document.contents, []);
    return this.isTooLarge ? undefined : value;
  }

  /** Reports once when the document exceeds a limit; nothing more is read then. */
  private measure(node: Node | null, path: Path, key?: Node): void {
    if (this.isTooLarge) return;
    this.nodes += 1;
    this.characters += lengthOf(node) + lengthOf(key);
    const limit = this.nodes >= NODES_MAX ? `${NODES_MAX} values` : `${CHARACTERS_MAX} characters`;
    this.isTooLarge = this.nodes >= NODES_MAX || this.characters >= CHARACTERS_MAX;
    if (!this.isTooLarge) return;
    const message = `the document has more than ${limit}, those of its aliases included`;
    this.problem(node ?? key, path, { message, hint: 'repeat less with *aliases' });
  }

  private toValue(node: Node | null, path: Path, key?: Node): unknown {
    this.measure(node, path, key);
    if (this.isTooLarge) return null;
    if (this.expanding.length === 0) {
      this.places.set(toPathText(path), { key, value: node ?? undefined });
      if (node !== null && !isAlias(node) && node.anchor) this.anchors.set(node.anchor, node);
    }
    if (node === null) return null;
    if (isAlias(node)) return this.toAliased(node, path);
    if (node.tag !== undefined) {
      this.problem(node, path, { message: `the tag ${quote(node.tag)} is not allowed`, hint: 'remove it' });
    }
    if (isMap(node)) return this.toMap(node, path);
    if (isSeq(node)) return node.items.map((item, index) => this.toValue(item as Node, [...path, index]));
    return isScalar(node) ? this.toScalar(node, path) : null;
  }

  private toScalar(node: Scalar, path: Path): unknown {
    // PostgreSQL stores every character except NUL.
    if (typeof node.value === 'string' && node.value.includes('\0')) {
      this.problem(node, path, { message: 'the text has a NUL character', hint: 'remove it' });
    }
    return node.value;
  }

  private toMap(node: YAMLMap, path: Path): unknown {
    const entries = new Map<string, unknown>();
    for (const { key: keyNode, value } of node.items) {
      const name = isScalar(keyNode) ? String(keyNode.value) : String(keyNode);
      const inside = [...path, name];
      if (name === '__proto__') {
        this.problem(keyNode as Node, inside, { message: 'a key cannot be __proto__', hint: 'choose another name' });
      } else if (entries.has(name)) {
        const remark = { message: `the key ${quote(name)} is used twice`, hint: 'remove one of them' };
        this.problem(keyNode as Node, inside, remark);
      } else entries.set(name, this.toValue(value as Node | null, inside, keyNode as Node));
    }
    return Object.fromEntries(entries);
  }

  private toAliased(alias: Node & { source: string }, path: Path): unknown {
    const target = this.anchors.get(alias.source);
    if (target === undefined || this.expanding.some((outer) => outer.target === target)) {
      const message = target === undefined ? `nothing is anchored as "${alias.source}"` : 'the alias contains itself';
      this.problem(alias, path, { message, hint: 'an anchor (&name) comes before its aliases (*name)' });
      return null;
    }
    this.expanding.push({ alias, target });
    const value = this.toValue(target, path);
    this.expanding.pop();
    return value;
  }

  private problem(node: Node | undefined, path: Path, remark: Remark): void {
    const shown = this.expanding[0]?.alias ?? node;
    if (shown !== undefined) this.report(shown, path, remark);
  }
}
