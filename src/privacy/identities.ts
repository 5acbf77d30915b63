// Who an erased person was: the devices that were theirs at the moment of the request, and their mappings and profile,
// which go from PostgreSQL here. Calls that were accepted later made a new person, who stays.
import type { Postgres } from '../platform/postgres/client.js';
import type { Erasure } from './store.js';

export interface FoundIdentities {
  /** Devices whose anonymous events are the person's. */
  readonly deviceIds: readonly string[];
  readonly mappings: number;
  readonly profiles: number;
}

export async function findIdentities(postgres: Postgres, erasure: Erasure): Promise<FoundIdentities> {
  const { projectId, userId, cutSeq, cutMs } = erasure;
  const mapped = await devicesOf(postgres, { projectId, userId, atSeq: cutSeq });
  // A device that bears the user's very id and is nobody's is, by its distinct_id, the user.
  const owner = await ownerOf(postgres, { projectId, deviceId: userId, atSeq: cutSeq });
  const profiles = await postgres('profiles')
    .where({ project_id: projectId, user_id: userId })
    .andWhere('first_seen', '<=', new Date(cutMs))
    .count<{ count: string }[]>();
  return {
    deviceIds: owner === undefined ? [...mapped, userId] : mapped,
    mappings: mapped.length,
    profiles: Number(profiles[0]?.count),
  };
}

async function devicesOf(
  postgres: Postgres,
  user: { projectId: string; userId: string; atSeq: number },
): Promise<string[]> {
  const { rows } = await postgres.raw<{ rows: { device_id: string }[] }>(
    `SELECT device_id FROM (
       SELECT DISTINCT ON (device_id) device_id, user_id FROM device_mappings
       WHERE project_id = ? AND seq <= ? ORDER BY device_id, seq DESC
     ) AS latest WHERE user_id = ?`,
    [user.projectId, user.atSeq, user.userId],
  );
  return rows.map((row) => row.device_id);
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

/** Resolves with the version up to which rows of the profile are those of the person who was erased. */
export async function forgetIdentity(postgres: Postgres, erasure: Erasure): Promise<number> {
  const { projectId, userId } = erasure;
  return postgres.transaction(async (transaction) => {
    await transaction('profiles').where({ project_id: projectId, user_id: userId }).delete();
    await mappingsUpTo(transaction, erasure).delete();
    const profile = await transaction('profiles')
      .where({ project_id: projectId, user_id: userId })
      .first<{ version: string } | undefined>('version');
    if (profile !== undefined) return Number(profile.version) - 1;
    const { rows } = await transaction.raw<{ rows: { version: string }[] }>(
      "SELECT nextval('identity_version') AS version",
    );
    return Number(rows[0]?.version);
  });
}

/** How many rows of mappings and of operations still name the person. */
export async function countIdentities(postgres: Postgres, erasure: Erasure): Promise<number> {
  const operations = postgres('profile_operations')
    .where({ project_id: erasure.projectId, user_id: erasure.userId })
    .andWhere('seq', '<=', erasure.cutSeq);
  const counts = await Promise.all(
    [mappingsUpTo(postgres, erasure), operations].map((rows) => rows.count<{ count: string }[]>()),
  );
  return counts.reduce((sum, [row]) => sum + Number(row?.count), 0);
}

/** Also those that a device had before it was the person's, or they would hold again; and those long since replaced. */
function mappingsUpTo(postgres: Postgres, { projectId, userId, cutSeq, deviceIds }: Erasure) {
  return postgres('device_mappings')
    .where({ project_id: projectId })
    .andWhere('seq', '<=', cutSeq)
    .andWhere((theirs) => theirs.where({ user_id: userId }).orWhereRaw('device_id = ANY(?)', [[...(deviceIds ?? [])]]));
}
