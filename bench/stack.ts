// The system that is measured, as the benches see it: addresses, keys, and the processes to count. How it is started is
// in start-stack.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '../src/platform/clickhouse/client.js';
import type { Measurement } from './measurement.js';
import type { NamedProcess } from './process-usage.js';

export interface Stack {
  /** Of the service, without a slash at the end. */
  readonly url: string;
  readonly projectId: string;
  readonly publicKey: string;
  readonly secretKey: string;
  readonly database: string;
  readonly clickhouse: ClickHouseClient;
  /** Everything that belongs to the system, engines included, as it runs now. */
  processes(): NamedProcess[];
  stop(): Promise<void>;
}

export interface BenchContext {
  readonly stack: Stack;
  /** Smaller and shorter, to see that a bench works; its figures mean little. */
  readonly isQuick: boolean;
  readonly say: (message: string) => void;
  /** Prints and keeps them at once: a bench that takes long loses nothing when it breaks off. */
  readonly report: (measurements: readonly Measurement[]) => void;
}

/** Rows of one statement as arrays of columns. */
export async function selectRows(stack: Stack, query: string): Promise<unknown[][]> {
  const result = await stack.clickhouse.query({ query, format: 'JSONCompact' });
  const { data } = await result.json<unknown[]>();
  return data;
}

export async function selectNumber(stack: Stack, query: string): Promise<number> {
  const [row] = await selectRows(stack, query);
  return Number(row?.[0]);
}

export const countEvents = (stack: Stack): Promise<number> =>
  selectNumber(stack, `SELECT count() FROM events WHERE project_id = '${stack.projectId}'`);

const DRAIN_TIMEOUT_MS = 120_000;

/** Resolves when exactly that many events are counted; throws when there are more, or the last does not come. */
export async function untilCounted(stack: Stack, expected: number): Promise<void> {
  const deadline = performance.now() + DRAIN_TIMEOUT_MS;
  for (;;) {
    const counted = await countEvents(stack);
    if (counted === expected) return;
    if (counted > expected) throw new Error(`${counted} events are counted, ${expected} were accepted`);
    if (performance.now() > deadline) throw new Error(`only ${counted} of ${expected} events are counted in time`);
    await sleep(20);
  }
}

const MERGES_TIMEOUT_MS = 60_000;

/** Resolves when the engine has caught up with its background work, or after a minute: it never does under steady load. */
export async function untilMergesRest(stack: Stack): Promise<void> {
  const deadline = performance.now() + MERGES_TIMEOUT_MS;
  for (let quiet = 0; quiet < 3 && performance.now() < deadline; ) {
    // New merges are chosen every now and then: one quiet moment proves nothing.
    quiet = (await selectNumber(stack, 'SELECT count() FROM system.merges')) === 0 ? quiet + 1 : 0;
    await sleep(500);
  }
}

/** The answer of POST /query in JSON. Throws with the service's message when it is refused. */
export async function ask(stack: Stack, q: string): Promise<{ rows: readonly Record<string, unknown>[] }> {
  const response = await fetch(`${stack.url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': stack.secretKey },
    body: JSON.stringify({ q, format: 'json' }),
  });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`query "${q}": status ${response.status}, ${JSON.stringify(body)}`);
  return body as { rows: Record<string, unknown>[] };
}
