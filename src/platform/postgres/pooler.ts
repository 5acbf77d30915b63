// Poolers such as PgBouncer between the service and PostgreSQL. Those that give each transaction
// another connection (`pool_mode = transaction`) break the advisory locks of advisory-lock.ts: such
// a lock stays on a connection that others use, so two processes may have it, or none for ever.
import { ConfigProblem } from '../config-problem.js';
import type { Postgres } from './client.js';

export const POOLER_ADVICE =
  'set DATABASE_URL to the server itself, or to a pooler in session mode (docs/operating.md)';

/** A busy pooler may give the second question another connection. */
const ROUNDS = 10;

/**
 * Whether two connections that are open at the same time are one process of PostgreSQL. Needs two
 * connections of the pool.
 */
export async function isPooledByTransaction(postgres: Postgres): Promise<boolean> {
  const connections: unknown[] = [];
  try {
    for (let taken = 0; taken < 2; taken += 1) connections.push(await postgres.client.acquireConnection());
    for (let round = 0; round < ROUNDS; round += 1) {
      const pids = new Set<number>();
      for (const connection of connections) pids.add(await readPid(postgres, connection));
      if (pids.size < connections.length) return true;
    }
    return false;
  } finally {
    for (const connection of connections) await postgres.client.releaseConnection(connection);
  }
}

async function readPid(postgres: Postgres, connection: unknown): Promise<number> {
  const { rows } = await postgres
    .raw<{ rows: { pid: number }[] }>('SELECT pg_backend_pid() AS pid')
    .connection(connection);
  return Number(rows[0]?.pid);
}

/**
 * Throws a ConfigProblem for such a pooler. A server that does not answer is left to the statements
 * that follow.
 */
export async function refuseTransactionPooler(postgres: Postgres): Promise<void> {
  if (!(await isPooledByTransaction(postgres).catch(() => false))) return;
  throw new ConfigProblem(
    `DATABASE_URL is a pooler that gives each transaction another connection, with which the locks of erasures and other jobs do not hold: ${POOLER_ADVICE}`,
  );
}
