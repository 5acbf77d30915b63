// Applies batches of identify calls to profiles and mappings in one transaction, which is bounded
// by the bytes of the profiles: calls of the others are left for a later one. Idempotent: each
// batch is applied once.

import { isDeepStrictEqual } from 'node:util';
import { bisectFailures } from '../platform/flow/bisect-failures.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { Postgres } from '../platform/postgres/client.js';
import { isRefusedData } from '../platform/postgres/failures.js';
import type { Redis } from '../platform/redis/client.js';
import { sha256 } from '../platform/sha256.js';
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
import {
  deleteUnsavedProfiles,
  lockProfiles,
  type ProfileKey,
  readLockedProfiles,
  type StoredProfile,
  saveProfiles,
} from './store.js';

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

type Calls = readonly AcceptedIdentification[];

export interface Applied {
  /** Number of newly applied calls. */
  readonly calls: number;
  /** By batch: calls that did not fit. The batch stays pending until they are applied, too. */
  readonly left: ReadonlyMap<string, Calls>;
}

/** Whether calls can never be applied: PostgreSQL refuses them, or their text is too long. */
export const areRefusedCalls = (error: unknown): boolean => isRefusedData(error) || error instanceof RangeError;

/** Safe to repeat and to run concurrently. */
export async function applyBatches(batches: readonly IdentifyJob[], stores: Stores): Promise<Applied> {
  const { due, left } = await applyPending({ batches, areWhole: true }, stores);
  const done = due.filter(({ batch }) => !left.has(batch));
  if (done.length > 0) await releaseSequence(stores.redis, ...done.map(({ batch }) => batch));
  const calls = due.reduce((sum, job) => sum + job.operations.length - (left.get(job.batch)?.length ?? 0), 0);
  return { calls, left };
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
      for (let rest: Calls = operations; rest.length > 0; ) {
        const { left } = await applyPending({ batches: [{ ...job, operations: rest }], areWhole: false }, stores);
        rest = left.get(job.batch) ?? [];
      }
    },
    isRefused: areRefusedCalls,
  });
}

interface AppliedBatches {
  readonly due: readonly IdentifyJob[];
  readonly left: Map<string, Calls>;
}

/** Applies the pending batches, as far as they fit. Their sequence numbers stay pending. */
async function applyPending(
  { batches, areWhole }: { batches: readonly IdentifyJob[]; areWhole: boolean },
  { postgres, redis, hashId }: Stores,
): Promise<AppliedBatches> {
  const ids = batches.map(({ batch }) => batch);
  // A batch that is not pending was applied by a worker that was killed before its job ended.
  const pending = await findPending(redis, ids);
  const due = batches.filter(({ batch }) => pending.has(batch));
  const left = new Map<string, Calls>();
  if (due.length === 0) return { due, left };
  // Calls that are missing from a partial batch still have to be applied: the snapshot must not
  // pass them.
  const exceptWhole = () => ({ except: areWhole ? [...pending].filter((batch) => !left.has(batch)) : [] });
  const whole = await lowWatermark(redis, exceptWhole());
  const all = due.flatMap(({ operations }) => operations);

  await postgres.transaction(async (trx) => {
    const asked = [...collectChanges(all).profiles.values()];
    const locked = await lockProfiles(trx, asked);
    // Checked again under the locks: a worker whose job was taken over must not repeat calls that
    // another worker has applied and an erasure may have removed.
    const stillPending = await findPending(redis, [...pending]);
    if (locked.length < asked.length || stillPending.size < pending.size) {
      throw new Error('profiles were deleted, or their calls applied, while they were waited for');
    }
    const stored = await readLockedProfiles(trx, locked, { bytesMax: BOUNDS.identifyProfileBytes });
    const calls = stored.length === asked.length ? all : leaveOut(stored, due, left);
    const watermark = left.size === 0 ? whole : await lowWatermark(redis, exceptWhole());
    // After the locks, which an erasure takes too: one of them finds what the other has written.
    const { profiles, mappings } = collectChanges(await withoutErased(trx, calls, hashId));
    const changed = stored.flatMap((profile) => {
      const changes = profiles.get(keyOf(profile));
      return changes === undefined ? [] : change(profile, changes, watermark);
    });
    await saveProfiles(trx, changed);
    if (profiles.size < asked.length) await deleteUnsavedProfiles(trx, asked);
    await saveMappings(trx, mappings, watermark);
  });
  return { due, left };
}

/** Returns the calls of the profiles that fit, and adds the others of each batch to `left`. */
function leaveOut(fitting: readonly ProfileKey[], due: readonly IdentifyJob[], left: Map<string, Calls>): Calls {
  const keys = new Set(fitting.map(keyOf));
  const fits = ({ project, user }: AcceptedIdentification) => keys.has(keyOf({ projectId: project, userId: user }));
  for (const { batch, operations } of due) {
    const others = operations.filter((call) => !fits(call));
    if (others.length > 0) left.set(batch, others);
  }
  return due.flatMap(({ operations }) => operations.filter(fits));
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
  return Math.min(seq, at + (sha256(user).readUInt32LE(0) % MICROSECONDS_PER_MS));
}
