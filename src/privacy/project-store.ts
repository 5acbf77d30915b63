// Deleted projects in PostgreSQL: which still have data, what of it lies here, and that none is let in any more.
import { type OrganizationId, type ProjectId, toOrganizationId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { hideSubject, listSubjects, recordAudit } from './audit-store.js';
import type { HashId } from './id-hash.js';

export interface DeletedProject {
  readonly projectId: ProjectId;
  readonly organizationId: OrganizationId;
  readonly deletedAtMs: number;
}

/** Those whose data is not known to be gone, the oldest first. */
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

/** Events of the project that were received up to `erasedThroughMs` are forgotten, whoever's they are. */
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

// What the project's people wrote and what its users are known by. The project itself stays as a name in the records of its
// organization, as do its usage and its audit trail.
const TABLES = [
  'identity_outbox',
  'profile_operations',
  'profiles',
  'device_mappings',
  'dashboards',
  'access_tokens',
] as const;

/** Resolves with how many rows there were. */
export async function deleteProjectRows(postgres: Postgres, projectId: ProjectId): Promise<number> {
  return postgres.transaction(async (transaction) => {
    let deleted = 0;
    for (const table of TABLES) deleted += await transaction(table).where({ project_id: projectId }).delete();
    return deleted;
  });
}

/** The project's audit trail stays, and from here on knows its users by their hashes. */
export async function markDataDeleted(
  postgres: Postgres,
  { projectId, organizationId }: DeletedProject,
  hashId: HashId,
): Promise<void> {
  await postgres.transaction(async (transaction) => {
    const changed = await transaction('projects')
      .where({ id: projectId })
      .whereNull('data_deleted_at')
      .update({ data_deleted_at: transaction.fn.now() });
    if (changed === 0) return;
    for (const userId of await listSubjects(transaction, projectId)) {
      await hideSubject(transaction, { projectId, userId, hash: hashId({ projectId, kind: 'user', id: userId }) });
    }
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
