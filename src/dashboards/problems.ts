// Problems of a dashboard document, with their positions. All are returned at once, so that a
// person or a model can fix them together.
import { PublicError } from '../platform/errors.js';
import type { TextFix } from '../query/errors.js';

/** The format of the response: line and column start at 1, and the column counts characters. */
export interface DashboardProblem {
  readonly message: string;
  /** Path in the document such as `sections[0].cards[2].viz`; empty for the whole document. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  /** What would be valid here. */
  readonly hint: string;
  /** A replacement in the document. */
  readonly fix?: TextFix;
}

// More would not help to fix the document.
const DETAILS_MAX = 50;
const SENTENCES_MAX = 5;

export function toBadRequest(problems: readonly DashboardProblem[]): PublicError {
  const inOrder = withoutRepetitions(problems).sort((a, b) => a.line - b.line || a.column - b.column);
  const details = inOrder.slice(0, DETAILS_MAX);
  return new PublicError('bad_request', summarize(details, inOrder.length), { details });
}

function summarize(details: readonly DashboardProblem[], count: number): string {
  const sentences = details.slice(0, SENTENCES_MAX).map(sentence);
  if (count === 1) return sentences.join();
  const heading = count > sentences.length ? `${count} problems, the first ${sentences.length}` : `${count} problems`;
  return `${heading}: ${sentences.join('. ')}`;
}

function sentence({ path, message, line, column, hint }: DashboardProblem): string {
  const where = path === '' ? '' : `${path}: `;
  return `${where}${message} at line ${line}, column ${column}; ${hint}`;
}

/**
 * Keeps one of equal problems, with its fix if one of them has it: a query is compiled with several
 * values, and most problems occur with each.
 */
function withoutRepetitions(problems: readonly DashboardProblem[]): DashboardProblem[] {
  const known = new Map<string, DashboardProblem>();
  for (const problem of problems) {
    const { message, path, line, column } = problem;
    const key = JSON.stringify({ message, path, line, column });
    if (problem.fix !== undefined || !known.has(key)) known.set(key, problem);
  }
  return [...known.values()];
}
