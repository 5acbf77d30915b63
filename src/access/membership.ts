// Membership: a person's role in an organization, directly or through a project. Foreign and
// missing ids give the same answer.
import { isUuid, type OrganizationId, type ProjectId, toOrganizationId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Role } from './roles.js';

export interface Membership {
  readonly organizationId: OrganizationId;
  readonly role: Role;
}

export interface ProjectMembership extends Membership {
  readonly projectId: ProjectId;
  /** Time zone of the project: an IANA name. */
  readonly timezone: string;
  /** The person who created the organization, or the organization without one. */
  readonly ownerId: string;
}

export async function findMembership(
  postgres: Postgres,
  personId: string,
  organizationId: string,
): Promise<Membership | undefined> {
  if (!isUuid(organizationId)) return undefined;
  const row = await postgres('members')
    .where({ organization_id: organizationId, person_id: personId })
    .first('organization_id', 'role');
  return row && { organizationId: toOrganizationId(row.organization_id), role: row.role };
}

export async function findProjectMembership(
  postgres: Postgres,
  personId: string,
  projectId: string,
): Promise<ProjectMembership | undefined> {
  if (!isUuid(projectId)) return undefined;
  const row = await postgres('projects')
    .join('members', 'members.organization_id', 'projects.organization_id')
    .join('organizations', 'organizations.id', 'projects.organization_id')
    .where({ 'projects.id': projectId, person_id: personId })
    .whereNull('deleted_at')
    .first('projects.id', 'projects.organization_id', 'timezone', 'role', 'organizations.created_by');
  if (row === undefined) return undefined;
  const { role, timezone } = row;
  return {
    ...{ role, timezone, projectId: toProjectId(row.id) },
    organizationId: toOrganizationId(row.organization_id),
    ownerId: row.created_by ?? row.organization_id,
  };
}

/**
 * The person who created the project's organization, or the organization without one; of an unknown
 * project, its id.
 */
export async function findProjectOwner(postgres: Postgres, projectId: ProjectId): Promise<string> {
  const found: { id: string; created_by: string | null } | undefined = await postgres('projects')
    .join('organizations', 'organizations.id', 'projects.organization_id')
    .where('projects.id', projectId)
    .first('organizations.id', 'organizations.created_by');
  return found?.created_by ?? found?.id ?? projectId;
}

/** The project, if it belongs to the organization. */
export async function findProjectOf(
  postgres: Postgres,
  organizationId: OrganizationId,
  projectId: string,
): Promise<ProjectId | undefined> {
  if (!isUuid(projectId)) return undefined;
  const row = await postgres('projects')
    .where({ id: projectId, organization_id: organizationId })
    .whereNull('deleted_at')
    .first('id');
  return row && toProjectId(row.id);
}
