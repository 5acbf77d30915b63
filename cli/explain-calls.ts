// Calls in conditions in the output of `npm run explain`: how many people pass each, in a running
// service.
import type { CallQueries } from '../src/query/call-queries.js';

export interface Service {
  readonly url: string;
  readonly key: string;
  /** The time zone in which the ranges of the calls are resolved. */
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
