// Calls in conditions (`count(purchase last 30d) >= 3`): each as a query of its own that counts the
// people who pass it, for explanations of a query.
import type { TimeRange } from './analyze/resolved.js';
import { type Condition, type Query, stagesOf } from './parse/syntax.js';

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
  const calls = stagesOf(stages, 'where').flatMap(({ condition }) => callsIn(condition));
  const isOfUsers = source !== undefined && source !== 'broken' && source.kind === 'users';
  const [rows, count] = isOfUsers ? ['users', 'count'] : ['*', 'unique'];
  const range = `from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}`;
  const written = new Set(calls.map(({ span }) => text.slice(span.from, span.to).replace(/\s+/g, ' ')));
  return [...written].map((call) => ({
    written: call,
    passing: `${rows} | ${range} | where ${call} | ${count}`,
    all: `${rows} | ${range} | ${count}`,
  }));
}

function callsIn(condition: Condition): Extract<Condition, { kind: 'call_comparison' }>[] {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return condition.items.flatMap(callsIn);
    case 'not':
      return callsIn(condition.item);
    case 'comparison':
      return [];
    case 'call_comparison':
      return [condition];
  }
}
