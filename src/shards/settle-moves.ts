// Ends moves whose command was killed, for the workers: a project that is being moved while no
// command holds the lock goes back to its home, so that its events are stored; and rows that moves
// have left on other shards are deleted.
import type { Shards } from '../platform/clickhouse/shards.js';
import type { Logger } from '../platform/log.js';
import { withFreeAdvisoryLock } from '../platform/postgres/advisory-lock.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import { cancel, deleteLeft, type Left, rewriteLeft } from './move-project.js';
import { listUnsettled } from './store.js';

export interface SettlingDeps {
  readonly postgres: Postgres;
  readonly redis: Redis;
  readonly shards: Shards;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Does nothing while a command moves projects. */
export async function settleMoves(deps: SettlingDeps): Promise<void> {
  if ((await listUnsettled(deps.postgres)).length === 0) return;
  const left = await withFreeAdvisoryLock(deps.postgres, 'moves', async () => {
    await cancelAbandoned(deps);
    return deleteAllLeft(deps);
  });
  for (const each of left ?? []) await rewriteLeft(clearingOf(deps), each);
}

const clearingOf = (deps: SettlingDeps) => ({ ...deps, say: (line: string) => deps.log.info(line) });

async function cancelAbandoned(deps: SettlingDeps): Promise<void> {
  for (const move of await listUnsettled(deps.postgres)) {
    if (!move.isMoving || !(await cancel(deps, move))) continue;
    deps.log.warn(
      { project: move.projectId, shard: move.shard },
      'a move has no command any more: the project stays on its shard, and its events are stored',
    );
  }
}

/** A project whose old shard does not answer delays no other. */
async function deleteAllLeft(deps: SettlingDeps): Promise<readonly Left[]> {
  const { postgres, log, signal } = deps;
  const deleted: Left[] = [];
  for (const { projectId, isMoving } of await listUnsettled(postgres)) {
    signal.throwIfAborted();
    if (isMoving) continue;
    await deleteLeft(clearingOf(deps), [projectId]).then(
      (left) => deleted.push(left),
      (err: unknown) => {
        if (signal.aborted) throw err;
        log.warn({ err, project: projectId }, 'rows that a move has left are deleted later');
      },
    );
  }
  return deleted;
}
