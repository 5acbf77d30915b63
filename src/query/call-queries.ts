// Calls in conditions (`count(purchase last 30d) >= 3`): each as a query of its own that counts the
// people who pass it, for explanations of a query.
import type { TimeRange } from './analyze/resolved.js';
import { type CallComparison, callComparisonsIn, type Query, stagesOf } from './parse/syntax.js';

export interface CallQueries {
  /** The comparison as the query has it. */
  readonly written: string;
  /** Counts the people of the range who pass it. */
  readonly passing: string;
  /** Counts all people of the range. */
  readonly all: string;
}

/** The distinct calls in the conditions of the query, over its range. */
export function callQueriesOf(text: string, { source, stages }: Query, { fromMs, toMs }: TimeRange): CallQueries[] {
  const calls = stagesOf(stages, 'where').flatMap(({ condition }) => callComparisonsIn(condition));
  const isOfUsers = source !== undefined && source !== 'broken' && source.kind === 'users';
  const [rows, count] = isOfUsers ? ['users', 'count'] : ['*', 'unique'];
  const range = `from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`;
  const isOfRetention = source !== undefined && source !== 'broken' && source.kind === 'retention';
  const written = new Map(
    calls.map((each) => {
      const call = text.slice(each.span.from, each.span.to);
      return [onOneLine(call), isOfRetention ? inMonths(text, each) : call];
    }),
  );
  return [...written].map(([call, asked]) => ({
    written: call,
    // A comment ends with its line.
    passing: `${rows} | ${range} | where ${onOneLine(asked)}${asked.includes('#') ? '\n' : ' '}| ${count}`,
    all: `${rows} | ${range} | ${count}`,
  }));
}

/** Blanks within texts count, and comments end with their lines. */
const onOneLine = (call: string): string => (/["'#]/.test(call) ? call : call.replace(/\s+/g, ' '));

/** Writes `mo` for `m`, which means months in a retention. */
function inMonths(text: string, { span, call: { last } }: CallComparison): string {
  if (last?.unit !== 'm') return text.slice(span.from, span.to);
  return `${text.slice(span.from, last.span.to)}o${text.slice(last.span.to, span.to)}`;
}
