// Applies batches of identify calls to profiles and mappings in one transaction. Idempotent: each
// batch is applied once.

import { bisectFailures } from '../platform/flow/bisect-failures.js';
import type { Postgres } from '../platform/postgres/client.js';
import { isRefusedData } from '../platform/postgres/failures.js';
import type { Redis } from '../platform/redis/client.js';
import { type DeviceMapping, saveMappings } from './mapping-store.js';
import { extendHistory, type ProfileOperation } from './profile-history.js';
import type { IdentifyJob } from './queue.js';
import { findPending, lowWatermark, releaseSequence } from './sequence.js';
import { lockProfiles, type ProfileKey, saveProfiles } from './store.js';

interface Changes {
  readonly profiles: ReadonlyMap<string, ProfileKey & { readonly operations: ProfileOperation[] }>;
  readonly mappings: readonly DeviceMapping[];
}

interface Stores {
  readonly postgres: Postgres;
  readonly redis: Redis;
}

/** Resolves with the number of newly applied calls. Safe to repeat and to run concurrently. */
export async function applyBatches(batches: readonly IdentifyJob[], stores: Stores): Promise<number> {
  const applied = await applyPending({ batches, areWhole: true }, stores);
  if (applied.length > 0) await releaseSequence(stores.redis, ...applied.map(({ batch }) => batch));
  return applied.reduce((count, { operations }) => count + operations.length, 0);
}

/**
 * For a batch that PostgreSQL rejected: applies its valid calls in order and resolves with the
 * rejected ones. The sequence numbers of the batch stay pending. Idempotent.
 */
export async function isolateRejectedCalls(
  job: IdentifyJob,
  stores: Stores,
): Promise<readonly IdentifyJob['operations'][number][]> {
  return bisectFailures(job.operations, {
    store: async (operations) => {
      await applyPending({ batches: [{ ...job, operations }], areWhole: false }, stores);
    },
    isRefused: isRefusedData,
  });
}

/** Applies the pending batches and resolves with them. Their sequence numbers stay pending. */
async function applyPending(
  { batches, areWhole }: { batches: readonly IdentifyJob[]; areWhole: boolean },
  { postgres, redis }: Stores,
): Promise<readonly IdentifyJob[]> {
  const ids = batches.map(({ batch }) => batch);
  // A batch that is not pending was applied by a worker that was killed before its job ended.
  const pending = await findPending(redis, ids);
  const due = batches.filter(({ batch }) => pending.has(batch));
  if (due.length === 0) return [];
  // Calls that are missing from a partial batch still have to be applied: the snapshot must not
  // pass them.
  const watermark = await lowWatermark(redis, { except: areWhole ? [...pending] : [] });
  const { profiles, mappings } = collectChanges(due);

  await postgres.transaction(async (trx) => {
    const locked = await lockProfiles(trx, [...profiles.values()]);
    // Checked again under the locks: a worker whose job was taken over must not repeat calls that
    // another worker has applied and an erasure may have removed.
    const stillPending = await findPending(redis, [...pending]);
    if (locked.length < profiles.size || stillPending.size < pending.size) {
      throw new Error('profiles have changed hands while they were waited for');
    }
    const changed = locked.flatMap((profile) => {
      const operations = profiles.get(keyOf(profile))?.operations ?? [];
      const history = extendHistory(profile.history, operations, watermark);
      const isUnchanged = operations.every(({ seq }) => seq <= profile.history.checkpointSeq);
      return isUnchanged ? [] : [{ ...profile, history }];
    });
    await saveProfiles(trx, changed);
    await saveMappings(trx, mappings, watermark);
  });
  return due;
}

const keyOf = ({ projectId, userId }: ProfileKey): string => `${projectId}/${userId}`;

function collectChanges(batches: readonly IdentifyJob[]): Changes {
  const profiles = new Map<string, ProfileKey & { readonly operations: ProfileOperation[] }>();
  const mappings: DeviceMapping[] = [];
  for (const { seq, project, user, device, ops } of batches.flatMap(({ operations }) => operations)) {
    const key = { projectId: project, userId: user };
    const profile = profiles.get(keyOf(key));
    if (profile === undefined) profiles.set(keyOf(key), { ...key, operations: [{ seq, ops }] });
    else profile.operations.push({ seq, ops });
    if (device !== undefined) mappings.push({ projectId: project, deviceId: device, userId: user, seq });
  }
  return { profiles, mappings };
}
