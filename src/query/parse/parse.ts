// Parses text to syntax. A text with errors is parsed again with Lezer's error recovery, up to a
// bounded cost; the readable parts become the query, so that the analyzer can report its problems
// in the same response.
import type { Tree } from '@lezer/common';
import { parser } from '../../../grammar/parser.js';
import type { QueryProblem } from '../errors.js';
import { buildQuery } from './build.js';
import { type Scan, scan, withEmptyStrings } from './scan.js';
import type { Query } from './syntax.js';
import { findSyntaxProblems } from './syntax-problems.js';

// How far error recovery continues after the first error: it costs about 5 µs per token, and later
// errors mostly follow from the first.
const RECOVERY_TOKENS_MAX = 500;
const RECOVERY_CHARACTERS_MAX = 4_000;

export interface Parsed {
  readonly query: Query;
  readonly problems: readonly QueryProblem[];
}

export function parse(text: string): Parsed {
  const strict = parseStrictly(text);
  if (strict.tree) return readTree(text, strict.tree);
  const scanned = scan(text);
  const end = recoveryEnd(text, scanned, strict.errorAt);
  const { query, problems } = readTree(text, parser.parse(withEmptyStrings(text.slice(0, end))));
  if (end === text.length) return { query, problems };

  // An incomplete end of a part may be complete in the whole text.
  const partEnd = text.slice(0, end).trimEnd().length;
  const inPart = problems.filter((problem) => problem.span.from < partEnd);
  const all = scanned.stop?.span.from === end ? [...inPart, scanned.stop] : inPart;
  return { query: withoutLast(query), problems: all.length > 0 ? all : problems.slice(0, 1) };
}

function readTree(text: string, tree: Tree): Parsed {
  const { query, problems } = buildQuery(text, tree.topNode);
  return { query, problems: [...findSyntaxProblems(text, tree), ...problems] };
}

const strictParser = parser.configure({ strict: true });

type StrictTree =
  | { readonly tree: Tree; readonly errorAt?: undefined }
  | { readonly tree?: undefined; readonly errorAt: number };

/** Without error recovery: the tree, or the position of the first error. */
function parseStrictly(text: string): StrictTree {
  const parsing = strictParser.startParse(text);
  try {
    for (;;) {
      const tree = parsing.advance();
      if (tree) return { tree };
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { errorAt: parsing.parsedPos };
  }
}

/** The start of a token, so that none is split. */
function recoveryEnd(text: string, { starts, stop }: Scan, errorAt: number): number {
  const end = stop?.span.from ?? text.length;
  const first = starts.findIndex((start) => start >= errorAt);
  if (first < 0) return end;
  const near = starts.slice(first + 1, first + 1 + RECOVERY_TOKENS_MAX);
  const isWhole = first + 1 + near.length === starts.length && end - errorAt <= RECOVERY_CHARACTERS_MAX;
  if (isWhole) return end;
  return near.findLast((start) => start - errorAt <= RECOVERY_CHARACTERS_MAX) ?? near[0] ?? end;
}

/** The last stage of a part may be incomplete. */
function withoutLast({ source, stages }: Query): Query {
  const last = stages.at(-1);
  if (!last) return { source: 'broken', stages };
  return { source, stages: [...stages.slice(0, -1), { kind: 'broken', span: last.span }] };
}
