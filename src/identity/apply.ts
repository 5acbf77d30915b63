// Applies batches of identify calls to profiles and mappings in one transaction. Idempotent: each
// batch is applied once.

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { bisectFailures } from '../platform/flow/bisect-failures.js';
import type { Postgres } from '../platform/postgres/client.js';
import { isRefusedData } from '../platform/postgres/failures.js';
import type { Redis } from '../platform/redis/client.js';
import type { HashId } from '../privacy/id-hash.js';
import { withoutErased } from './erased.js';
import { type DeviceMapping, saveMappings } from './mapping-store.js';
import {
  currentState,
  extendHistory,
  importIntoHistory,
  MICROSECONDS_PER_MS,
  type ProfileOperation,
} from './profile-history.js';
import type { AcceptedIdentification, IdentifyJob } from './queue.js';
import { findPending, lowWatermark, releaseSequence } from './sequence.js';
import { deleteUnsavedProfiles, lockProfiles, type ProfileKey, type StoredProfile, saveProfiles } from './store.js';

interface ChangedProfile extends ProfileKey {
  readonly operations: ProfileOperation[];
  /** Their numbers are the times of their records. */
  readonly imported: ProfileOperation[];
}

interface Changes {
  readonly profiles: ReadonlyMap<string, ChangedProfile>;
  readonly mappings: readonly DeviceMapping[];
}

interface Stores {
  readonly postgres: Postgres;
  readonly redis: Redis;
  /** Finds erased people in imports. */
  readonly hashId: HashId;
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
  { postgres, redis, hashId }: Stores,
): Promise<readonly IdentifyJob[]> {
  const ids = batches.map(({ batch }) => batch);
  // A batch that is not pending was applied by a worker that was killed before its job ended.
  const pending = await findPending(redis, ids);
  const due = batches.filter(({ batch }) => pending.has(batch));
  if (due.length === 0) return [];
  // Calls that are missing from a partial batch still have to be applied: the snapshot must not
  // pass them.
  const watermark = await lowWatermark(redis, { except: areWhole ? [...pending] : [] });
  const calls = due.flatMap(({ operations }) => operations);

  await postgres.transaction(async (trx) => {
    const asked = collectChanges(calls).profiles;
    const locked = await lockProfiles(trx, [...asked.values()]);
    // Checked again under the locks: a worker whose job was taken over must not repeat calls that
    // another worker has applied and an erasure may have removed.
    const stillPending = await findPending(redis, [...pending]);
    if (locked.length < asked.size || stillPending.size < pending.size) {
      throw new Error('profiles have changed hands while they were waited for');
    }
    // After the locks, which an erasure takes too: one of them finds what the other has written.
    const { profiles, mappings } = collectChanges(await withoutErased(trx, calls, hashId));
    const changed = locked.flatMap((profile) => {
      const changes = profiles.get(keyOf(profile));
      return changes === undefined ? [] : change(profile, changes, watermark);
    });
    await saveProfiles(trx, changed);
    if (profiles.size < asked.size) await deleteUnsavedProfiles(trx, [...asked.values()]);
    await saveMappings(trx, mappings, watermark);
  });
  return due;
}

const keyOf = ({ projectId, userId }: ProfileKey): string => `${projectId}/${userId}`;

/** Empty when the operations change nothing. */
function change(profile: StoredProfile, { operations, imported }: ChangedProfile, watermark: number): StoredProfile[] {
  const { history } = profile;
  const withImported = importIntoHistory(history, imported);
  const isImported = imported.length > 0 && !isDeepStrictEqual(currentState(withImported), currentState(history));
  const isUnchanged = !isImported && operations.every(({ seq }) => seq <= history.checkpointSeq);
  return isUnchanged ? [] : [{ ...profile, history: extendHistory(withImported, operations, watermark) }];
}

function collectChanges(calls: readonly AcceptedIdentification[]): Changes {
  const profiles = new Map<string, ChangedProfile>();
  const mappings: DeviceMapping[] = [];
  for (const { seq, at, project, user, device, ops } of calls) {
    const key = { projectId: project, userId: user };
    const profile = profiles.get(keyOf(key)) ?? { ...key, operations: [], imported: [] };
    profiles.set(keyOf(key), profile);
    if (at === undefined) profile.operations.push({ seq, ops });
    else profile.imported.push({ seq: Math.min(at, seq), ops });
    if (device === undefined) continue;
    mappings.push({ projectId: project, deviceId: device, userId: user, seq: mappingSeq({ seq, at, user }) });
  }
  return { profiles, mappings };
}

/**
 * Times of records are milliseconds. Of two links of a device at the same one, the digits below
 * decide, in any order they arrive.
 */
function mappingSeq({ seq, at, user }: { seq: number; at: number | undefined; user: string }): number {
  if (at === undefined) return seq;
  return Math.min(seq, at + (createHash('sha256').update(user).digest().readUInt32LE(0) % MICROSECONDS_PER_MS));
}
