// Calls in conditions (`count(purchase last 30d) >= 3`) in the output of `npm run explain`: each as
// a query of its own that counts the people who pass it, and their number in a running service.
import type { TimeRange } from '../src/query/analyze/resolved.js';
import { type Condition, type Query, stagesOf } from '../src/query/parse/syntax.js';

export interface CallQueries {
  /** The comparison as the query has it. */
  readonly written: string;
  /** Counts the people of the range who pass it. */
  readonly passing: string;
  /** Counts all people of the range. */
  readonly all: string;
}

/** The distinct calls of the query, over its range. */
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

export interface Service {
  readonly url: string;
  readonly key: string;
  /** In which times of the calls are read. */
  readonly timezone: string;
}

/** One line for each call: how many people pass it. */
export async function countPassing(queries: readonly CallQueries[], service: Service): Promise<string> {
  const lines: string[] = [];
  for (const { written, passing, all } of queries) {
    lines.push(`${written}: ${await ask(service, passing)} of ${await ask(service, all)} people`);
  }
  return lines.join('\n');
}

async function ask({ url, key, timezone }: Service, q: string): Promise<string> {
  const response = await fetch(new URL('/query', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ q, format: 'json', timezone }),
  });
  const answer = (await response.json()) as { readonly error?: string; readonly rows?: readonly { value: number }[] };
  if (response.ok) return String(answer.rows?.[0]?.value);
  throw new Error(`the service answers ${response.status}: ${answer.error ?? 'no reason'}`);
}
