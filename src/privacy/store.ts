// Store of erasure requests and tombstones in PostgreSQL. It holds the whole state of an erasure,
// so that any process can continue it. Only the database's clock decides when files are purged: a
// worker whose clock was ahead must not put off the next purge.
import type { OrganizationId, ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { type AuditActor, hideSubject, recordAudit } from './audit-store.js';
import type { Tombstone } from './tombstones.js';

export interface ErasureCounts {
  readonly events: number;
  readonly mappings: number;
  readonly profiles: number;
  readonly devices: number;
}

const NOTHING_ERASED: ErasureCounts = { events: 0, mappings: 0, profiles: 0, devices: 0 };

export interface NewErasure {
  readonly id: string;
  readonly projectId: ProjectId;
  readonly organizationId: OrganizationId;
  readonly userId: string;
  readonly userHash: string;
  readonly erasedThroughMs: number;
  readonly erasedThroughSeq: number;
  readonly requestedBy: AuditActor;
  readonly purgeBy: Date;
}

export interface Erasure extends Omit<NewErasure, 'purgeBy'> {
  /**
   * Devices whose anonymous events belong to the person. Undefined until they have been determined.
   */
  readonly deviceIds: readonly string[] | undefined;
}

/** The public part of a request: never the id of the person. */
export interface ErasureRecord {
  readonly status: 'requested' | 'deleted' | 'purged';
  readonly userHash: string;
  readonly counts: ErasureCounts;
  readonly requestedAt: Date;
  readonly verifiedAt: Date | null;
  readonly purgeBy: Date;
  readonly purgedAt: Date | null;
}

export async function createErasure(postgres: Postgres, erasure: NewErasure): Promise<void> {
  await postgres.transaction(async (transaction) => {
    await transaction('erasure_requests').insert({
      id: erasure.id,
      project_id: erasure.projectId,
      organization_id: erasure.organizationId,
      user_id: erasure.userId,
      user_hash: erasure.userHash,
      erased_through_ms: erasure.erasedThroughMs,
      erased_through_seq: erasure.erasedThroughSeq,
      status: 'requested',
      requested_by: JSON.stringify(erasure.requestedBy),
      counts: JSON.stringify(NOTHING_ERASED),
      requested_at: new Date(erasure.erasedThroughMs),
      purge_by: erasure.purgeBy,
    });
    await recordAudit(transaction, {
      ...audited(erasure),
      subject: erasure.userId,
      action: 'erasure.requested',
      outcome: 'accepted',
      details: { request_id: erasure.id },
    });
  });
}

export async function findErasure(
  postgres: Postgres,
  by: { projectId: ProjectId; id: string },
): Promise<ErasureRecord | undefined> {
  return postgres('erasure_requests').where({ project_id: by.projectId, id: by.id }).first({
    status: 'status',
    userHash: 'user_hash',
    counts: 'counts',
    requestedAt: 'requested_at',
    verifiedAt: 'verified_at',
    purgeBy: 'purge_by',
    purgedAt: 'purged_at',
  });
}

/** Ids of those requests that have their receipt. */
export const findErasedAmong = (postgres: Postgres, ids: readonly string[]): Promise<string[]> =>
  postgres('erasure_requests')
    .whereIn('id', [...ids])
    .whereNot({ status: 'requested' })
    .pluck('id');

/** Whether an erasure of the person was ever requested. */
export async function isErasureKnown(
  postgres: Postgres,
  person: { projectId: ProjectId; userHash: string },
): Promise<boolean> {
  const where = { project_id: person.projectId, user_hash: person.userHash };
  return (await postgres('erasure_requests').where(where).first('id')) !== undefined;
}

/**
 * Requests that are not deleted yet, in the order of acceptance, at most `perProject` of each
 * project.
 */
export async function listRequested(
  postgres: Postgres,
  { except, perProject }: { except: readonly string[]; perProject: number },
): Promise<Erasure[]> {
  const waiting = postgres('erasure_requests')
    .select('*')
    .rowNumber('place', (window) => window.partitionBy('project_id').orderBy('erased_through_seq'))
    .where({ status: 'requested' })
    .whereNotIn('project_id', [...except])
    .as('waiting');
  const rows: ErasureRow[] = await postgres(waiting)
    .where('place', '<=', perProject)
    .orderBy('erased_through_seq')
    .select('*');
  return rows.map(toErasure);
}

/** Those of the requests that are not deleted yet, as they are stored now. */
export async function listStillRequested(postgres: Postgres, erasures: readonly Erasure[]): Promise<Erasure[]> {
  const rows: ErasureRow[] = await postgres('erasure_requests')
    .whereIn(
      'id',
      erasures.map(({ id }) => id),
    )
    .where({ status: 'requested' })
    .orderBy('erased_through_seq')
    .select();
  return rows.map(toErasure);
}

/** The ids of all requests that are not deleted yet. */
export const listWaitingIds = (postgres: Postgres): Promise<string[]> =>
  postgres('erasure_requests').where({ status: 'requested' }).pluck('id');

export const isAnyRequested = async (postgres: Postgres): Promise<boolean> =>
  (await postgres('erasure_requests').where({ status: 'requested' }).first('id')) !== undefined;

/** Whether a purge has ended in the last `ms` milliseconds. */
export async function isPurgedWithin(postgres: Postgres, ms: number): Promise<boolean> {
  const recent = "purged_at > now() - ? * interval '1 millisecond' AND purged_at <= now()";
  return (await postgres('erasure_requests').whereRaw(recent, [ms]).first('id')) !== undefined;
}

/** Erasures to purge from the files: deleted for at least `ms` milliseconds. */
export async function listDeleted(postgres: Postgres, ms: number): Promise<Erasure[]> {
  const rows: ErasureRow[] = await postgres('erasure_requests')
    .where({ status: 'deleted' })
    .whereRaw("verified_at <= now() - ? * interval '1 millisecond'", [ms])
    .orderBy('erased_through_seq')
    .select();
  return rows.map(toErasure);
}

const toErasure = (row: ErasureRow): Erasure => ({
  id: row.id,
  projectId: row.project_id,
  organizationId: row.organization_id,
  userId: row.user_id ?? '',
  userHash: row.user_hash,
  erasedThroughMs: Number(row.erased_through_ms),
  erasedThroughSeq: Number(row.erased_through_seq),
  requestedBy: row.requested_by,
  deviceIds: row.device_ids ?? undefined,
});

interface ErasureRow {
  readonly id: string;
  readonly project_id: ProjectId;
  readonly organization_id: OrganizationId;
  readonly user_id: string | null;
  readonly device_ids: string[] | null;
  readonly user_hash: string;
  readonly erased_through_ms: string;
  readonly erased_through_seq: string;
  readonly requested_by: AuditActor;
}

// A statement takes at most 65,535 values, and a person may have any number of devices.
const ROWS_PER_STATEMENT = 5000;

/** Saves the devices, the counts and the tombstones of an erasure. */
export async function saveDevices(
  transaction: Postgres,
  erasure: Erasure,
  found: { deviceIds: readonly string[]; counts: ErasureCounts; tombstones: readonly Tombstone[] },
): Promise<void> {
  await transaction('erasure_requests')
    .where({ id: erasure.id })
    .update({ device_ids: found.deviceIds, counts: JSON.stringify(found.counts) });
  const rows = found.tombstones.map(({ projectId, kind, idHash, erasedThroughMs }) => ({
    project_id: projectId,
    kind,
    id_hash: idHash,
    erased_through_ms: erasedThroughMs,
  }));
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
    await transaction('erasure_tombstones')
      .insert(rows.slice(at, at + ROWS_PER_STATEMENT))
      .onConflict(['project_id', 'kind', 'id_hash'])
      .merge({
        erased_through_ms: transaction.raw(
          'GREATEST(erasure_tombstones.erased_through_ms, excluded.erased_through_ms)',
        ),
      });
  }
}

/** How many requests were due to be purged before `now` and are not. */
export async function countOverdue(postgres: Postgres, now: Date): Promise<number> {
  const row = await postgres('erasure_requests')
    .whereNot({ status: 'purged' })
    .where('purge_by', '<', now)
    .count()
    .first();
  return Number(row?.count ?? 0);
}

/** For how many seconds the oldest request has waited for its receipt; 0 when none waits. */
export async function longestWait(postgres: Postgres): Promise<number> {
  const row = await postgres('erasure_requests')
    .where({ status: 'requested' })
    .first<{ seconds: number }>(
      postgres.raw('coalesce(greatest(0, extract(epoch FROM now() - min(requested_at))), 0)::float8 AS seconds'),
    );
  return row?.seconds ?? 0;
}

/** A retry counts the same events again, so the larger count is kept. */
export async function saveEventCount(postgres: Postgres, erasure: Erasure, events: number): Promise<void> {
  const larger = postgres.raw("jsonb_set(counts, '{events}', to_jsonb(GREATEST((counts->>'events')::bigint, ?)))", [
    events,
  ]);
  await postgres('erasure_requests').where({ id: erasure.id }).update({ counts: larger });
}

export async function listTombstones(postgres: Postgres): Promise<Tombstone[]> {
  const rows: { project_id: string; kind: Tombstone['kind']; id_hash: string; erased_through_ms: string }[] =
    await postgres('erasure_tombstones').select();
  return rows.map((row) => ({
    projectId: row.project_id,
    kind: row.kind,
    idHash: row.id_hash,
    erasedThroughMs: Number(row.erased_through_ms),
  }));
}

/** Deletes tombstones older than `beforeMs`, except those of unfinished erasures. */
export async function deleteTombstones(postgres: Postgres, beforeMs: number): Promise<void> {
  const unfinished = postgres('erasure_requests').whereNot({ status: 'purged' }).min('erased_through_ms');
  await postgres('erasure_tombstones')
    .where('erased_through_ms', '<', beforeMs)
    .andWhere((still) => still.whereRaw('erased_through_ms < COALESCE((?), erased_through_ms + 1)', [unfinished]))
    .delete();
}

/**
 * Issues the receipt: no data of the person is found any more, and the audit trail contains their
 * hash.
 */
export async function markDeleted(postgres: Postgres, erasure: Erasure): Promise<void> {
  await postgres.transaction(async (transaction) => {
    const [changed]: { counts: ErasureCounts }[] = await transaction('erasure_requests')
      .where({ id: erasure.id, status: 'requested' })
      .update({ status: 'deleted', verified_at: transaction.fn.now() }, ['counts']);
    if (changed === undefined) return;
    await recordAudit(transaction, {
      ...audited(erasure),
      subject: erasure.userId,
      action: 'erasure.deleted',
      outcome: 'completed',
      details: { request_id: erasure.id, ...changed.counts },
    });
    await hideSubject(transaction, { projectId: erasure.projectId, userId: erasure.userId, hash: erasure.userHash });
  });
}

/** Deletes the ids; from now on only the hash identifies the person. */
export async function dropIds(postgres: Postgres, erasures: readonly Erasure[]): Promise<void> {
  const ids = erasures.map(({ id }) => id);
  await postgres('erasure_requests').whereIn('id', ids).update({ user_id: null, device_ids: null });
}

export async function markPurged(postgres: Postgres, erasures: readonly Erasure[]): Promise<void> {
  await postgres.transaction(async (transaction) => {
    for (const erasure of erasures) {
      const changed = await transaction('erasure_requests')
        .where({ id: erasure.id, status: 'deleted' })
        .update({ status: 'purged', purged_at: transaction.fn.now() });
      if (changed === 0) continue;
      await recordAudit(transaction, {
        ...audited(erasure),
        subjectHash: erasure.userHash,
        action: 'erasure.purged',
        outcome: 'completed',
        details: { request_id: erasure.id },
      });
    }
  });
}

const audited = ({
  projectId,
  organizationId,
  requestedBy,
}: Pick<NewErasure, 'projectId' | 'organizationId' | 'requestedBy'>) => ({
  projectId,
  organizationId,
  actor: requestedBy,
});
