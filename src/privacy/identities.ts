// Who an erased person was: the devices that were theirs at the moment of the request, and their mappings and profile, which go
// here, from PostgreSQL and from calls that were given up. Calls that were accepted later made a new person, who stays.
import type { IdentifyJob, IdentifyQueue } from '../identity/queue.js';
import { devicesOf, forgetUser, lockProfiles } from '../identity/store.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Erasure } from './store.js';

export interface FoundIdentities {
  /** Devices whose anonymous events are the person's. */
  readonly deviceIds: readonly string[];
  readonly mappings: number;
  readonly profiles: number;
}

export async function findIdentities(postgres: Postgres, erasure: Erasure): Promise<FoundIdentities> {
  const { projectId, userId, erasedThroughSeq, erasedThroughMs } = erasure;
  const mapped = await devicesOf(postgres, { projectId, userId, atSeq: erasedThroughSeq });
  // A device that bears the user's very id and is nobody's is, by its distinct_id, the user.
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

/** Resolves with the version up to which copies of the profile are the person's who was erased. */
export async function forgetIdentity(postgres: Postgres, erasure: Erasure): Promise<number> {
  const { id, projectId, userId, erasedThroughSeq } = erasure;
  return postgres.transaction(async (transaction) => {
    // Also where there is none: one that is made meanwhile waits, and has a larger version than the one that is taken here.
    await lockProfiles(transaction, [{ projectId, userId }]);
    await forgetUser(transaction, { projectId, userId, throughSeq: erasedThroughSeq });
    // Settled with the first attempt: what a later one finds is newer, and may not have been copied yet.
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

/** How many rows of mappings and of operations still name the person. */
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

/** Calls that were given up and are kept for an operator go from Redis. */
export async function forgetParkedCalls(queue: IdentifyQueue, isForgotten: (call: Call) => boolean): Promise<void> {
  for (const job of await queue.getFailed()) {
    const operations = job.data.operations.filter((call) => !isForgotten(call));
    if (operations.length === 0) await job.remove();
    else if (operations.length < job.data.operations.length) await job.updateData({ ...job.data, operations });
  }
}

export const isCallOf = ({ projectId, userId, erasedThroughSeq }: Erasure, { project, user, seq }: Call): boolean =>
  project === projectId && user === userId && seq <= erasedThroughSeq;
