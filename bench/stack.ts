// The system under measurement: addresses, keys, and the processes to account for. start-stack.ts
// starts it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseClient } from '../src/platform/clickhouse/client.js';
import type { Measurement } from './measurement.js';
import type { NamedProcess } from './process-usage.js';

export interface Stack {
  /** Base URL of the service, without trailing slash. */
  readonly url: string;
  readonly projectId: string;
  readonly publicKey: string;
  readonly secretKey: string;
  readonly database: string;
  /** Where it keeps its data and settings. */
  readonly directory: string;
  readonly clickhouse: ClickHouseClient;
  /** With the password. */
  readonly clickhouseUrl: string;
  /** With the password. */
  readonly postgresUrl: string;
  /** Current processes of the system, engines included. */
  processes(): NamedProcess[];
  stop(): Promise<void>;
}

export interface BenchContext {
  readonly stack: Stack;
  /** Smaller and shorter, to check that a benchmark works; the figures are not meaningful. */
  readonly isQuick: boolean;
  readonly say: (message: string) => void;
  /** Prints and saves measurements at once, so that an aborted benchmark loses none. */
  readonly report: (measurements: readonly Measurement[]) => void;
}

/** Rows of one statement as arrays of columns. */
export async function selectRows(stack: Pick<Stack, 'clickhouse'>, query: string): Promise<unknown[][]> {
  const result = await stack.clickhouse.query({ query, format: 'JSONCompact' });
  const { data } = await result.json<unknown[]>();
  return data;
}

export async function selectNumber(stack: Pick<Stack, 'clickhouse'>, query: string): Promise<number> {
  const [row] = await selectRows(stack, query);
  return Number(row?.[0]);
}

export const countEvents = (stack: Stack): Promise<number> =>
  selectNumber(stack, `SELECT count() FROM events WHERE project_id = '${stack.projectId}'`);

const DRAIN_TIMEOUT_MS = 120_000;

export const untilCounted = (stack: Stack, expected: number): Promise<void> =>
  untilCount(() => countEvents(stack), expected);

/** Resolves when it counts exactly that many events; rejects when there are more, or on timeout. */
export async function untilCount(count: () => Promise<number>, expected: number): Promise<void> {
  const deadline = performance.now() + DRAIN_TIMEOUT_MS;
  for (;;) {
    const counted = await count();
    if (counted === expected) return;
    if (counted > expected) throw new Error(`${counted} events are counted, ${expected} were accepted`);
    if (performance.now() > deadline) throw new Error(`only ${counted} of ${expected} events are counted in time`);
    await sleep(20);
  }
}

const MERGES_TIMEOUT_MS = 60_000;

/**
 * Resolves when the engine has no background work, or after a minute, because it never has none
 * under steady load.
 */
export async function untilMergesRest(stack: Stack): Promise<void> {
  const deadline = performance.now() + MERGES_TIMEOUT_MS;
  for (let quiet = 0; quiet < 3 && performance.now() < deadline; ) {
    // Require several idle samples, because new merges are scheduled at intervals.
    quiet = (await selectNumber(stack, 'SELECT count() FROM system.merges')) === 0 ? quiet + 1 : 0;
    await sleep(500);
  }
}

/** JSON response of POST /query. Throws the service's message on an error status. */
export async function ask(
  stack: Pick<Stack, 'url' | 'secretKey'>,
  q: string,
): Promise<{ rows: readonly Record<string, unknown>[] }> {
  const response = await fetch(`${stack.url}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': stack.secretKey },
    body: JSON.stringify({ q, format: 'json' }),
  });
  const body: unknown = await response.json();
  if (!response.ok) throw new Error(`query "${q}": status ${response.status}, ${JSON.stringify(body)}`);
  return body as { rows: Record<string, unknown>[] };
}
