// Scheduler of erasures: batches of one project each, several projects concurrently, round-robin. A
// batch deletes many people with the same few statements, so that a hundred cost a few times as
// much as one, and the receipts of one project do not wait for other projects.
import { setTimeout as delay } from 'node:timers/promises';
import { findPendingSince, lowWatermark, releaseSequence } from '../identity/sequence.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import { KeyRotation } from '../platform/flow/key-rotation.js';
import type { ProjectId } from '../platform/ids.js';
import type { Logger } from '../platform/log.js';
import { DAY_MS } from '../platform/utc-day.js';
import { type ErasureDeps, erasePeople, groupByProject } from './erase-people.js';
import { sequenceMember } from './queue.js';
import { type Erasure, listRequested, listStillRequested, markDeleted } from './store.js';

const POLL_MS = 50;
const RETRY_MS = 5_000;
const WAIT_FOR_IDENTIFY_MS = 10_000;

/**
 * Resolves when no request is left, or when the remaining ones wait for identify calls that have
 * not been applied. Rejects with the first failure after all others are done; failed requests are
 * retried after RETRY_MS.
 */
export async function eraseRequested(deps: ErasureDeps, log: Logger): Promise<void> {
  const rotation = new KeyRotation(BOUNDS.erasureProjects);
  const failures: unknown[] = [];
  const retryAt = new Map<ProjectId, number>();
  let deadline = performance.now() + WAIT_FOR_IDENTIFY_MS;
  try {
    for (;;) {
      const except = [
        ...rotation.running,
        ...[...retryAt.keys()].filter((id) => performance.now() < (retryAt.get(id) ?? 0)),
      ];
      const requested = await listRequested(deps.postgres, { except, perProject: BOUNDS.erasureBatch });
      const ready = await thoseApplied(deps, requested);
      const started = rotation.start(ready.keys(), async (projectId) => {
        await eraseBatch(deps, ready.get(projectId) ?? [], log).catch((error: unknown) => {
          failures.push(error);
          retryAt.set(projectId, performance.now() + RETRY_MS);
        });
      });
      if (started > 0) deadline = performance.now() + WAIT_FOR_IDENTIFY_MS;
      const isIdle = rotation.running.length === 0;
      if (isIdle && (requested.length === 0 || performance.now() > deadline)) break;
      await Promise.race([rotation.oneEnded(), delay(POLL_MS, undefined, { signal: deps.signal })]);
    }
  } finally {
    await rotation.allEnded();
  }
  if (failures.length > 0) throw failures[0];
}

async function eraseBatch(deps: ErasureDeps, batch: readonly Erasure[], log: Logger): Promise<void> {
  try {
    await eraseTogether(deps, batch);
  } catch (error) {
    if (batch.length === 1 || deps.signal.aborted) throw error;
    log.warn({ erasures: batch.length }, 'erasures failed together; trying each alone');
    // With the devices that the first attempt has saved: it may have deleted their mappings.
    await eraseEachAlone(deps, await listStillRequested(deps.postgres, batch));
  }
}

async function eraseTogether(deps: ErasureDeps, erasures: readonly Erasure[]): Promise<void> {
  await erasePeople(deps, erasures);
  for (const erasure of erasures) await markDeleted(deps.postgres, erasure);
  await releaseSequence(deps.redis, ...erasures.map(({ id }) => sequenceMember(id)));
}

/**
 * Erases each person separately, so that one failure does not block the others. Throws the first
 * failure after all have been tried.
 */
async function eraseEachAlone(deps: ErasureDeps, erasures: readonly Erasure[]): Promise<void> {
  const failures: unknown[] = [];
  for (const erasure of erasures) {
    await eraseTogether(deps, [erasure]).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Ready requests by project: their identify calls have all been applied, and each person occurs
 * once, with the first of their requests.
 */
async function thoseApplied(deps: ErasureDeps, requested: readonly Erasure[]): Promise<Map<ProjectId, Erasure[]>> {
  if (requested.length === 0) return new Map();
  const appliedUpTo = await lowWatermark(deps.redis, { except: await listPendingErasures(deps) });
  const people = new Set<string>();
  const ready = requested.filter(({ projectId, userHash, erasedThroughSeq }) => {
    const person = `${projectId}:${userHash}`;
    if (erasedThroughSeq >= appliedUpTo || people.has(person)) return false;
    people.add(person);
    return true;
  });
  return groupByProject(ready);
}

async function listPendingErasures({ redis }: ErasureDeps): Promise<string[]> {
  const pending = await findPendingSince(redis, Date.now() + DAY_MS);
  return pending.filter((member) => member.startsWith(sequenceMember('')));
}
