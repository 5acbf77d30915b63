// The service's own compiler, and its SQL run as the query process runs it.

import { toProjectId } from '../src/platform/ids.js';
import type { Stack } from './stack.js';

type Compile = (text: string, context: object) => CompiledQuery;
const { compile } = (await import(String('../src/query/compile.js'))) as { compile: Compile };

export interface CompiledQuery {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface TimedRows {
  readonly rows: readonly (readonly unknown[])[];
  readonly elapsedMs: number;
}

export function compileFor(stack: Stack, text: string): CompiledQuery {
  return compile(text, { projectId: toProjectId(stack.projectId), now: new Date(), limit: 100, offset: 0 });
}

/** The time is the caller's, from sending the statement to having its rows. */
export async function runCompiled(stack: Stack, { sql, params }: CompiledQuery): Promise<TimedRows> {
  const startedMs = performance.now();
  const result = await stack.clickhouse.query({ query: sql, query_params: { ...params }, format: 'JSONCompact' });
  const { data } = await result.json<unknown[]>();
  return { rows: data, elapsedMs: performance.now() - startedMs };
}
