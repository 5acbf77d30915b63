// Deletion of an organization. Its row stays without members and without a valid admin key, because
// the audit trail of its projects, which proves that their data was deleted, refers to it.
import { digestKey, newKey, shownPrefix } from '../access/keys.js';
import { PublicError } from '../platform/errors.js';
import type { Postgres } from '../platform/postgres/client.js';
import { lockOrganization, type MemberKey, requireStillOwner } from './members.js';
import { markProjectsDeleted } from './projects.js';
import type { OrganizationDeletion } from './schema.js';
import { requireTypedName } from './typed-name.js';

/**
 * Deletes members, invitations and domains, and hides the projects; a job removes their data
 * (workers/delete-projects.ts). `personId`: the owner who asks for it.
 */
export async function deleteOrganization(
  postgres: Postgres,
  key: MemberKey,
  deletion: OrganizationDeletion,
): Promise<void> {
  const { organizationId, personId } = key;
  await postgres.transaction(async (transaction) => {
    const organization = await lockOrganization(transaction, organizationId);
    await requireStillOwner(transaction, key);
    if (organization.is_standalone) {
      throw new PublicError('bad_request', 'this organization belongs to the installation and ends with it');
    }
    requireTypedName(deletion, { name: organization.name, what: 'organization' });
    await markProjectsDeleted(transaction, organizationId, { kind: 'person', id: personId });
    for (const table of ['invitations', 'domains', 'members']) {
      await transaction(table).where({ organization_id: organizationId }).delete();
    }
    const unknown = newKey('admin');
    await transaction('organizations')
      .where({ id: organizationId })
      .update({
        removed_at: transaction.fn.now(),
        admin_key_digest: digestKey(unknown),
        admin_key_prefix: shownPrefix(unknown),
      });
  });
}
