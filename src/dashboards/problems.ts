// What is wrong with a dashboard's document, and where. All problems are answered at once, as those of a query are: a person
// or a model then repairs them in one go.
import { PublicError } from '../platform/errors.js';

/** As it is sent: line and column start at 1, and the column counts characters. */
export interface DashboardProblem {
  readonly message: string;
  /** The place in the document's structure: `sections[0].cards[2].viz`; empty for the document as a whole. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  /** What would be right here. */
  readonly hint: string;
}

// Nobody repairs more at once.
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

/** A query is compiled with several values of its variables, and most of its mistakes are the same with each. */
function withoutRepetitions(problems: readonly DashboardProblem[]): DashboardProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}
