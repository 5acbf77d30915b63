// Deleted projects in PostgreSQL: lists those that still have data, deletes their rows, and records
// a tombstone for each.
import { type OrganizationId, type ProjectId, toOrganizationId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { hideSubject, listSubjects, recordAudit } from './audit-store.js';
import type { HashId } from './id-hash.js';
import { POSTGRES_TABLES } from './personal-data.js';

export interface DeletedProject {
  readonly projectId: ProjectId;
  readonly organizationId: OrganizationId;
  readonly deletedAtMs: number;
}

/** Deleted projects whose data may not be deleted completely, oldest first. */
export async function listProjectsToDelete(postgres: Postgres): Promise<DeletedProject[]> {
  const rows: { id: string; organization_id: string; deleted_at: Date }[] = await postgres('projects')
    .whereNotNull('deleted_at')
    .whereNull('data_deleted_at')
    .orderBy('deleted_at')
    .select('id', 'organization_id', 'deleted_at');
  return rows.map((row) => ({
    projectId: toProjectId(row.id),
    organizationId: toOrganizationId(row.organization_id),
    deletedAtMs: row.deleted_at.getTime(),
  }));
}

/** Also while its data still exists. */
export async function isProjectDeleted(postgres: Postgres, projectId: ProjectId): Promise<boolean> {
  return (await postgres('projects').where({ id: projectId }).whereNull('deleted_at').first('id')) === undefined;
}

/** Records a tombstone for all events of the project received up to `erasedThroughMs`. */
export async function forgetProjectUpTo(
  postgres: Postgres,
  projectId: ProjectId,
  erasedThroughMs: number,
): Promise<void> {
  await postgres('erasure_tombstones')
    .insert({ project_id: projectId, kind: 'project', id_hash: '', erased_through_ms: erasedThroughMs })
    .onConflict(['project_id', 'kind', 'id_hash'])
    .ignore();
}

// Content written by members, and user data. The project itself stays, as a name in the records of
// its organization, and so do its usage and audit trail.
const TABLES = POSTGRES_TABLES.filter((table) => table.isDeletedWithProject);

/** Resolves with the number of deleted rows. */
export async function deleteProjectRows(postgres: Postgres, projectId: ProjectId): Promise<number> {
  return postgres.transaction(async (transaction) => {
    let deleted = 0;
    for (const { name } of TABLES) deleted += await transaction(name).where({ project_id: projectId }).delete();
    return deleted;
  });
}

/** Replaces the user ids in the project's audit trail by their hashes. */
export async function hideSubjects(postgres: Postgres, projectId: ProjectId, hashId: HashId): Promise<void> {
  for (const userId of await listSubjects(postgres, projectId)) {
    await hideSubject(postgres, { projectId, userId, hash: hashId({ projectId, kind: 'user', id: userId }) });
  }
}

/** Whether the data of any project was deleted in the last `ms` milliseconds. */
export async function isDataDeletedWithin(postgres: Postgres, ms: number): Promise<boolean> {
  const recent = "data_deleted_at > now() - ? * interval '1 millisecond' AND data_deleted_at <= now()";
  return (await postgres('projects').whereRaw(recent, [ms]).first('id')) !== undefined;
}

/** When no store or file has data of the project. */
export async function markDataDeleted(
  postgres: Postgres,
  { projectId, organizationId }: DeletedProject,
): Promise<void> {
  await postgres.transaction(async (transaction) => {
    const changed = await transaction('projects')
      .where({ id: projectId })
      .whereNull('data_deleted_at')
      .update({ data_deleted_at: transaction.fn.now() });
    if (changed === 0) return;
    const actor = { kind: 'service', id: 'delete-projects' };
    await recordAudit(transaction, {
      projectId,
      organizationId,
      actor,
      action: 'project.data_deleted',
      outcome: 'completed',
    });
  });
}
