// Whether PostgreSQL can be used, and waiting until it can.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log.js';
import { createRepeatedWarning } from '../repeated-warning.js';
import type { Postgres } from './client.js';

const ASK_EVERY_MS = 1000;

/** Readiness: a table, because a server that answers may lack its schema. */
export const askPostgres = async (postgres: Postgres): Promise<unknown> =>
  postgres.raw('SELECT FROM projects WHERE false');

/** For processes that do nothing without it, so that stores may start after them. */
export async function waitForPostgres(postgres: Postgres, log: Logger): Promise<void> {
  const warn = createRepeatedWarning({ log, message: 'PostgreSQL cannot be used; the jobs begin when it can' });
  for (;;) {
    try {
      await askPostgres(postgres);
      return;
    } catch (error) {
      warn(error);
    }
    await delay(ASK_EVERY_MS);
  }
}
