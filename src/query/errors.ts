// Query problems: message, span, and a hint with a correct form. All problems of a query are
// reported at once, because many callers are language models that repair what they are told.
import { editDistance } from '../platform/edit-distance.js';
import type { Definition } from './definitions/definitions.js';

/** Offsets into the query text, in UTF-16 units; `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** Where the text is written, when a definition brought it into the query. */
  readonly within?: PlaceInDefinition;
}

/** A part of the text of a definition. */
export interface PlaceInDefinition {
  readonly definition: Definition;
  readonly from: number;
  readonly to: number;
}

export interface QueryProblem {
  readonly message: string;
  readonly span: Span;
  /** A correction: the nearest known name, or the expected form. */
  readonly hint: string;
  /** Text that may be meant in place of the span. */
  readonly replacement?: string | undefined;
  /** Whether a syntax error beside the span, in the same stage, follows from this problem. */
  readonly explainsSyntax?: true;
  /** A replacement of a span after which the problem is gone. */
  readonly fix?: { readonly span: Span; readonly text: string };
}

/** A piece of a text. Line and column start at 1; all three numbers count characters. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** Replacing this piece of the text solves the problem that it belongs to. */
export interface TextFix extends TextPlace {
  readonly text: string;
}

/** A problem in the response. */
export interface QueryErrorDetail extends TextPlace {
  readonly message: string;
  readonly hint: string;
  readonly fix?: TextFix;
}

/** A query with at least one problem. `details` has all problems in text order. */
export class QueryError extends Error {
  readonly details: readonly QueryErrorDetail[];

  constructor(text: string, problems: readonly QueryProblem[]) {
    const details = toDetails(text, problems);
    super(summarize(details, problems.length));
    this.name = 'QueryError';
    this.details = details;
  }
}

const countCharacters = (text: string): number => [...text].length;

function placeOf(text: string, { from, to }: Span): TextPlace {
  const before = text.slice(0, from);
  const lineStart = before.lastIndexOf('\n') + 1;
  return {
    line: before.split('\n').length,
    column: countCharacters(before.slice(lineStart)) + 1,
    length: countCharacters(text.slice(from, to)),
  };
}

const toDetail = (text: string, { message, span, hint, fix }: QueryProblem): QueryErrorDetail => ({
  message,
  ...placeOf(text, span),
  hint,
  ...(fix && { fix: { ...placeOf(text, fix.span), text: fix.text } }),
});

// Bounds the response and the cost of positions, which are counted from the start of the text.
const DETAILS_MAX = 20;

export function toDetails(text: string, problems: readonly QueryProblem[]): QueryErrorDetail[] {
  const inOrder = [...problems].sort((a, b) => a.span.from - b.span.from);
  return inOrder.slice(0, DETAILS_MAX).map((problem) => toDetail(text, problem));
}

const sentence = (detail: QueryErrorDetail): string =>
  `${detail.message} at line ${detail.line}, column ${detail.column}; ${detail.hint}`;

function summarize(details: readonly QueryErrorDetail[], count: number): string {
  const sentences = details.map(sentence);
  if (count === 1) return sentences.join();
  const heading = count > details.length ? `${count} problems, the first ${details.length}` : `${count} problems`;
  return `${heading}: ${sentences.join('. ')}`;
}

/** Formats a problem for terminals: the line, with a mark under the span. */
export function drawDetail(text: string, detail: QueryErrorDetail): string {
  const line = text.split('\n')[detail.line - 1] ?? '';
  const mark = ' '.repeat(detail.column - 1) + '~'.repeat(Math.max(1, detail.length));
  return `${sentence(detail)}\n  ${line}\n  ${mark}`;
}

// A name longer than any known one cannot be a typo, and the cost of comparing it is quadratic.
const COMPARED_LENGTH_MAX = 64;

const initialOf = (name: string): string => name.replace(/^_/, '').charAt(0);

/**
 * The known name with the smallest edit distance; undefined when none is near. Compares no further
 * names when no pairs of characters are left in `bound`.
 */
export function findNearest(
  name: string,
  known: Iterable<string>,
  bound = { pairsLeft: Number.POSITIVE_INFINITY },
): string | undefined {
  if (name.length > COMPARED_LENGTH_MAX) return undefined;
  const wanted = name.toLowerCase();
  let nearest: string | undefined;
  let nearestDistance = Math.max(1, Math.ceil(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - wanted.length) >= nearestDistance) continue;
    bound.pairsLeft -= wanted.length * Math.min(candidate.length, 2 * nearestDistance - 1);
    if (bound.pairsLeft < 0) break;
    const distance = editDistance(wanted, candidate.toLowerCase(), nearestDistance - 1);
    // "name" is no misspelling of "time", nor "pay" of "day".
    const isOther = initialOf(wanted) !== initialOf(candidate.toLowerCase()) && distance > Number(wanted.length > 3);
    if (distance < nearestDistance && !isOther) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** Quotes a piece of the query for a message and shortens it. */
export function quote(token: string): string {
  const flat = token.replace(/\s+/g, ' ');
  return `"${flat.length > 40 ? `${flat.slice(0, 39)}…` : flat}"`;
}

const LONG_NAME = 6;

/** Whether a word is so near to a name, both in lower case, that nothing else can be meant. */
export const isTypo = (written: string, name: string): boolean =>
  editDistance(written, name) <= (Math.max(name.length, written.length) >= LONG_NAME ? 2 : 1);
