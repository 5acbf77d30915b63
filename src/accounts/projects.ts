// Projects in PostgreSQL and their API representation. store.ts creates them, because the
// standalone stack does so too.
import { digestKey, encryptSecret, newKey, shownPrefix, tryDecryptSecret } from '../access/keys.js';
import { capabilitiesOf, isAtLeast, type Role } from '../access/roles.js';
import { PublicError } from '../platform/errors.js';
import { type OrganizationId, type ProjectId, toOrganizationId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { type AuditActor, recordAudit } from '../privacy/audit-store.js';
import { rescheduleReports } from '../reports/report-store.js';
import type { Project } from './answers.js';
import { type Quotas, requireProjectQuota } from './quotas.js';
import type { ProjectChanges, ProjectDeletion } from './schema.js';
import { createProject } from './store.js';
import { requireTypedName } from './typed-name.js';

const SHOWN = [
  'id',
  'name',
  'organization_id',
  'public_key',
  'ip_policy',
  'timezone',
  'other_sdks',
  'created_at',
] as const;

/** The reader: a person with a role, or the admin key. */
export type Viewer = Role | 'admin_key';

/** Key and reader for decrypting secret keys. */
interface Reading {
  readonly viewer: Viewer;
  readonly secretKeyBase: string;
}

export async function listProjects(
  postgres: Postgres,
  organizationId: OrganizationId,
  viewer: Viewer,
): Promise<Project[]> {
  const rows = await projectsOf(postgres, organizationId).select(SHOWN);
  return rows.map((row) => ({ ...row, ...roleOf(viewer) }));
}

/** Ids of the demo projects of the organizations (src/demo). */
export async function listDemos(postgres: Postgres, organizationIds: readonly string[]): Promise<ReadonlySet<string>> {
  const ids: string[] = await postgres('projects')
    .whereIn('organization_id', [...organizationIds])
    .where({ is_demo: true })
    .whereNull('deleted_at')
    .pluck('id');
  return new Set(ids);
}

const projectsOf = (postgres: Postgres, organizationId: OrganizationId) =>
  postgres('projects').where({ organization_id: organizationId }).whereNull('deleted_at').orderBy('id');

export async function requireProject(postgres: Postgres, projectId: ProjectId, reading: Reading): Promise<Project> {
  const row = await postgres('projects')
    .where({ id: projectId })
    .whereNull('deleted_at')
    .first(...SHOWN, 'secret_key_encrypted');
  if (row === undefined) throw noSuchProject();
  return toProject(row, reading);
}

function toProject(row: Project & { secret_key_encrypted: Buffer }, { viewer, secretKeyBase }: Reading): Project {
  const { secret_key_encrypted: encrypted, ...shown } = row;
  const seesSecret = viewer === 'admin_key' || isAtLeast(viewer, 'admin');
  const secret = seesSecret ? { secret_key: tryDecryptSecret(encrypted, secretKeyBase) ?? null } : {};
  return { ...shown, ...secret, ...roleOf(viewer) };
}

const roleOf = (viewer: Viewer) =>
  viewer === 'admin_key' ? {} : { role: viewer, capabilities: capabilitiesOf(viewer) };

/** Within the organization's quota. */
export async function addProject(
  postgres: Postgres,
  quotas: Quotas,
  project: { organizationId: OrganizationId; name: string; secretKeyBase: string },
): Promise<ProjectId> {
  return postgres.transaction(async (transaction) => {
    await requireProjectQuota(transaction, quotas, project.organizationId);
    return (await createProject(transaction, project)).id;
  });
}

export async function updateProject(postgres: Postgres, projectId: ProjectId, changes: ProjectChanges): Promise<void> {
  await postgres.transaction(async (transaction) => {
    await transaction('projects').where({ id: projectId }).update(changes);
    if (changes.timezone !== undefined) await rescheduleReports(transaction, projectId);
  });
}

/**
 * Processes accept the old key until they look it up again: for CREDENTIAL_CACHE_MS, or minutes
 * while PostgreSQL is unavailable (access/credentials.ts).
 */
export async function rotateSecretKey(postgres: Postgres, projectId: ProjectId, secretKeyBase: string): Promise<void> {
  const secretKey = newKey('secret');
  await postgres('projects')
    .where({ id: projectId })
    .update({
      secret_key_digest: digestKey(secretKey),
      secret_key_prefix: shownPrefix(secretKey),
      secret_key_encrypted: encryptSecret(secretKey, secretKeyBase),
    });
}

/** Hides the project from all routes; a job removes its data (workers/delete-projects.ts). */
export async function markProjectDeleted(
  postgres: Postgres,
  projectId: ProjectId,
  { deletion, actor }: { deletion: ProjectDeletion; actor: AuditActor },
): Promise<void> {
  await postgres.transaction(async (transaction) => {
    const project = await transaction('projects')
      .where({ id: projectId })
      .whereNull('deleted_at')
      .forUpdate()
      .first('name', 'organization_id');
    if (project === undefined) throw noSuchProject();
    requireTypedName(deletion, { name: project.name, what: 'project' });
    await hideProject(transaction, { projectId, organizationId: toOrganizationId(project.organization_id), actor });
  });
}

/** Hides the projects of an organization that is being deleted. */
export async function markProjectsDeleted(
  transaction: Postgres,
  organizationId: OrganizationId,
  actor: AuditActor,
): Promise<void> {
  const ids: string[] = await projectsOf(transaction, organizationId).forUpdate().pluck('id');
  for (const id of ids) await hideProject(transaction, { projectId: toProjectId(id), organizationId, actor });
}

async function hideProject(
  transaction: Postgres,
  { projectId, organizationId, actor }: { projectId: ProjectId; organizationId: OrganizationId; actor: AuditActor },
): Promise<void> {
  await transaction('projects').where({ id: projectId }).update({ deleted_at: transaction.fn.now() });
  await recordAudit(transaction, {
    projectId,
    organizationId,
    actor,
    action: 'project.deleted',
    outcome: 'accepted',
  });
}

const noSuchProject = () => new PublicError('not_found', 'there is no such project');
