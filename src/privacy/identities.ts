// Identity data of an erased person in PostgreSQL and in the dead letters: finds the devices mapped
// to them at the time of the request, and deletes their mappings and profile. Identify calls
// accepted later create a new person, who is kept.
import type { IdentifyJob, IdentifyQueue } from '../identity/queue.js';
import { devicesOf, forgetUser, lockProfiles } from '../identity/store.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Erasure } from './store.js';

export interface FoundIdentities {
  /** Devices whose anonymous events belong to the person. */
  readonly deviceIds: readonly string[];
  readonly mappings: number;
  readonly profiles: number;
}

export async function findIdentities(postgres: Postgres, erasure: Erasure): Promise<FoundIdentities> {
  const { projectId, userId, erasedThroughSeq, erasedThroughMs } = erasure;
  const mapped = await devicesOf(postgres, { projectId, userId, atSeq: erasedThroughSeq });
  // An unmapped device whose id equals the user id has the same distinct_id, so it belongs to the
  // person.
  const isOwnDevice = (await ownerOf(postgres, { projectId, deviceId: userId, atSeq: erasedThroughSeq })) === undefined;
  const profiles = await postgres('profiles')
    .where({ project_id: projectId, user_id: userId })
    .andWhere('first_seen', '<=', new Date(erasedThroughMs))
    .count<{ count: string }[]>();
  return {
    deviceIds: isOwnDevice ? [...mapped, userId] : mapped,
    mappings: mapped.length,
    profiles: Number(profiles[0]?.count),
  };
}

async function ownerOf(
  postgres: Postgres,
  device: { projectId: string; deviceId: string; atSeq: number },
): Promise<string | undefined> {
  const mapping = await postgres('device_mappings')
    .where({ project_id: device.projectId, device_id: device.deviceId })
    .andWhere('seq', '<=', device.atSeq)
    .orderBy('seq', 'desc')
    .first<{ user_id: string } | undefined>('user_id');
  return mapping?.user_id;
}

interface Attempted {
  /** Null before the first attempt has committed. */
  readonly profile_version: string | null;
}

/** Resolves with the version up to which projections of the profile belong to the erased person. */
export async function forgetIdentity(postgres: Postgres, erasure: Erasure): Promise<number> {
  const { id, projectId, userId, erasedThroughSeq } = erasure;
  return postgres.transaction(async (transaction) => {
    const request = await transaction('erasure_requests').where({ id }).first<Attempted>('profile_version');
    const isRepeated = request.profile_version !== null;
    // Locks also when there is no profile: a profile created meanwhile waits, and gets a larger
    // version than this one.
    if (!isRepeated) await lockProfiles(transaction, [{ projectId, userId }]);
    await forgetUser(transaction, { projectId, userId, throughSeq: erasedThroughSeq, isRepeated });
    // Fixed by the first attempt: a later one could find a newer profile, whose projection may be
    // pending.
    const { rows } = await transaction.raw<{ rows: { profile_version: string }[] }>(
      `UPDATE erasure_requests SET profile_version = COALESCE(
         profile_version,
         (SELECT version - 1 FROM profiles WHERE project_id = ? AND user_id = ?),
         nextval('identity_version')
       ) WHERE id = ? RETURNING profile_version`,
      [projectId, userId, id],
    );
    return Number(rows[0]?.profile_version);
  });
}

/** How many mappings and operations still contain the person. */
export async function countIdentities(postgres: Postgres, erasure: Erasure): Promise<number> {
  const { projectId, userId, erasedThroughSeq } = erasure;
  const tables = ['device_mappings', 'profile_operations'].map((table) =>
    postgres(table)
      .where({ project_id: projectId, user_id: userId })
      .andWhere('seq', '<=', erasedThroughSeq)
      .count<{ count: string }[]>(),
  );
  return (await Promise.all(tables)).reduce((sum, [row]) => sum + Number(row?.count), 0);
}

type Call = IdentifyJob['operations'][number];

/** Deletes matching calls from the dead letters of the identify queue. */
export async function forgetFailedCalls(queue: IdentifyQueue, isForgotten: (call: Call) => boolean): Promise<void> {
  for (const job of await queue.getFailed()) {
    const operations = job.data.operations.filter((call) => !isForgotten(call));
    if (operations.length === 0) await job.remove();
    else if (operations.length < job.data.operations.length) await job.updateData({ ...job.data, operations });
  }
}

export const isCallOf = ({ projectId, userId, erasedThroughSeq }: Erasure, call: Call): boolean =>
  call.project === projectId && call.user === userId && (call.acceptedSeq ?? call.seq) <= erasedThroughSeq;
