// Organizations and projects in PostgreSQL.
import { digestKey, encryptSecret, newKey, shownPrefix } from '../access/keys.js';
import { PublicError } from '../platform/errors.js';
import { newUuidV7, type OrganizationId, type ProjectId, toOrganizationId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { placeProject } from '../shards/store.js';
import type { Organization } from './answers.js';

export interface NewOrganization {
  readonly id: OrganizationId;
  /** Returned once: only its digest is stored. */
  readonly adminKey: string;
}

/** With `ownerId` the person becomes owner in the same transaction. */
export async function createOrganization(
  postgres: Postgres,
  organization: { name: string; ownerId?: string; isStandalone?: boolean },
): Promise<NewOrganization> {
  const id = newUuidV7();
  const adminKey = newKey('admin');
  await postgres.transaction(async (transaction) => {
    await transaction('organizations').insert({
      id,
      name: organization.name,
      slug: `${toSlug(organization.name)}-${id.slice(-6)}`,
      admin_key_digest: digestKey(adminKey),
      admin_key_prefix: shownPrefix(adminKey),
      is_standalone: organization.isStandalone ?? false,
      created_by: organization.ownerId ?? null,
    });
    if (organization.ownerId !== undefined) {
      await transaction('members').insert({ organization_id: id, person_id: organization.ownerId, role: 'owner' });
    }
  });
  return { id: toOrganizationId(id), adminKey };
}

export interface NewProject {
  readonly id: ProjectId;
  readonly publicKey: string;
  readonly secretKey: string;
}

export async function createProject(
  postgres: Postgres,
  project: { organizationId: string; name: string; secretKeyBase: string; ipPolicy?: string; timezone?: string },
): Promise<NewProject> {
  const id = toProjectId(newUuidV7());
  const publicKey = newKey('public');
  const secretKey = newKey('secret');
  await postgres.transaction(async (transaction) => {
    await placeProject(transaction, id);
    await transaction('projects').insert({
      id,
      organization_id: project.organizationId,
      name: project.name,
      public_key: publicKey,
      secret_key_digest: digestKey(secretKey),
      secret_key_prefix: shownPrefix(secretKey),
      secret_key_encrypted: encryptSecret(secretKey, project.secretKeyBase),
      ip_policy: project.ipPolicy ?? 'anonymize',
      timezone: project.timezone ?? 'UTC',
    });
  });
  return { id, publicKey, secretKey };
}

/** Lower-case words joined by dashes; never empty. */
function toSlug(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return words === null ? 'organization' : words.join('-').slice(0, 48);
}

const organizationsOf = (postgres: Postgres, personId: string) =>
  postgres('organizations')
    .join('members', 'members.organization_id', 'organizations.id')
    .where({ person_id: personId })
    .orderBy('organizations.id')
    .select('organizations.id', 'name', 'slug', 'role', 'created_at');

export const listOrganizations = (postgres: Postgres, personId: string): Promise<Organization[]> =>
  organizationsOf(postgres, personId);

/** Throws not_found when the person is not a member. */
export async function requireOrganization(
  postgres: Postgres,
  personId: string,
  organizationId: OrganizationId,
): Promise<Organization> {
  const organization = await organizationsOf(postgres, personId).where({ organization_id: organizationId }).first();
  if (organization === undefined) throw new PublicError('not_found', 'there is no such organization');
  return organization;
}

/** Keeps the slug, because URLs may contain it. */
export async function renameOrganization(
  postgres: Postgres,
  organizationId: OrganizationId,
  name: string,
): Promise<void> {
  await postgres('organizations').where({ id: organizationId }).update({ name });
}

/**
 * Processes accept the old key until they look it up again: for CREDENTIAL_CACHE_MS, or minutes
 * while PostgreSQL is unavailable (access/credentials.ts).
 */
export async function rotateAdminKey(postgres: Postgres, organizationId: OrganizationId): Promise<string> {
  const adminKey = newKey('admin');
  await postgres('organizations')
    .where({ id: organizationId })
    .update({ admin_key_digest: digestKey(adminKey), admin_key_prefix: shownPrefix(adminKey) });
  return adminKey;
}
