// ClickHouse in a backup: its own BACKUP and RESTORE of the service's database, which copy whole
// parts while it runs. Asked over HTTP.

import { setTimeout as delay } from 'node:timers/promises';
import { FAILED_WRITE, FAILED_WRITES } from '../../src/platform/clickhouse/failed-writes.js';
import { basicAuthorization } from '../clickhouse-config.js';
import { StartProblem } from '../problem.js';

const POLL_MS = 200;
const ANSWERED_WITHIN_MS = 60_000;

export interface EngineAccess {
  /** URL without credentials. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
}

/** Resolves with the rows. Throws with the engine's message. */
export async function askEngineRows<T>({ url, user, password }: EngineAccess, query: string): Promise<T[]> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: basicAuthorization(password, user), Connection: 'close' },
    body: query,
    signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new StartProblem(`ClickHouse: ${text.trim().split('\n')[0]}`);
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as T] : []));
}

const RUNNING = /^(?:CREATING_BACKUP|RESTORING)$/;

interface Operation {
  readonly status: string;
  readonly error: string;
}

/**
 * Runs a BACKUP or RESTORE statement to its end. `onProgress` is called several times a second.
 */
export async function runOperation(
  access: EngineAccess,
  statement: string,
  { onProgress, signal }: Waiting,
): Promise<void> {
  const [started] = await askEngineRows<{ id: string }>(access, `${statement} ASYNC FORMAT JSONEachRow`);
  try {
    await waitForOperation(access, started?.id ?? '', { onProgress, signal });
  } catch (error) {
    // Otherwise it would go on to write files.
    if (signal.aborted) await cancelOperation(access, started?.id ?? '');
    throw error;
  }
}

interface Waiting {
  readonly onProgress: () => void;
  readonly signal: AbortSignal;
}

async function waitForOperation(access: EngineAccess, id: string, { onProgress, signal }: Waiting): Promise<void> {
  const query = `SELECT status, error FROM system.backups WHERE id = '${id}' FORMAT JSONEachRow`;
  for (;;) {
    signal.throwIfAborted();
    const [operation] = await askEngineRows<Operation>(access, query);
    if (operation === undefined) throw new StartProblem('ClickHouse has lost the operation: was it restarted?');
    if (/^(?:BACKUP_CREATED|RESTORED)$/.test(operation.status)) return requireWritten(access);
    if (!RUNNING.test(operation.status)) {
      throw new StartProblem(`ClickHouse: ${operation.status}: ${operation.error.split('\n')[0]}`);
    }
    onProgress();
    await delay(POLL_MS);
  }
}

async function requireWritten(access: EngineAccess): Promise<void> {
  const [row] = await askEngineRows<{ failed: string }>(access, `${FAILED_WRITES} FORMAT JSONEachRow`);
  if (Number(row?.failed) > 0) throw new StartProblem(FAILED_WRITE);
}

const CANCELLED_WITHIN_MS = 30_000;

/** Resolves once it has ended in any way. */
async function cancelOperation(access: EngineAccess, id: string): Promise<void> {
  const state = `SELECT status, query_id FROM system.backups WHERE id = '${id}' FORMAT JSONEachRow`;
  const deadline = performance.now() + CANCELLED_WITHIN_MS;
  while (performance.now() < deadline) {
    const [operation] = await askEngineRows<{ status: string; query_id: string }>(access, state);
    if (operation === undefined || !RUNNING.test(operation.status)) return;
    await askEngineRows(access, `KILL QUERY WHERE query_id = '${operation.query_id}' ASYNC FORMAT JSONEachRow`);
    await delay(POLL_MS);
  }
}
