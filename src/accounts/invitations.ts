// Invitations in PostgreSQL: a secret link for one e-mail address, good for seven days and for one person.
import { digestKey } from '../access/keys.js';
import type { Role } from '../access/route-matrix.js';
import type { Person } from '../access/session-middleware.js';
import { PublicError } from '../platform/errors.js';
import { newUuidV7, type OrganizationId, randomBase62 } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';

const LIFETIME_MS = 7 * 24 * 60 * 60_000;
const TOKEN_LENGTH = 43;

export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  /** Stored as a digest only. */
  readonly token: string;
  readonly expires_at: Date;
}

export async function createInvitation(
  postgres: Postgres,
  organizationId: OrganizationId,
  invitation: { email: string; role: Role; invitedBy: string },
): Promise<Invitation> {
  const { email, role, invitedBy } = invitation;
  const token = randomBase62(TOKEN_LENGTH);
  const stored = { id: newUuidV7(), email, role, expires_at: new Date(Date.now() + LIFETIME_MS) };
  await postgres('invitations').insert({
    ...stored,
    organization_id: organizationId,
    token_digest: digestKey(token),
    invited_by: invitedBy,
  });
  return { ...stored, token };
}

/**
 * Makes the person a member and resolves with the organization. Someone who is a member already stays what they are.
 * Whoever holds the link learns that it exists, so a wrong address is told apart from a link that is used up.
 */
export async function acceptInvitation(postgres: Postgres, token: string, person: Person): Promise<OrganizationId> {
  return postgres.transaction(async (transaction) => {
    const invitation = await transaction('invitations')
      .where({ token_digest: digestKey(token), accepted_at: null })
      .where('expires_at', '>', transaction.fn.now())
      .forUpdate()
      .first('id', 'organization_id', 'email', 'role');
    if (invitation === undefined) {
      throw new PublicError('not_found', 'there is no such invitation, or it was used, or it is older than 7 days');
    }
    if (!person.emailVerified || person.email !== invitation.email) {
      throw new PublicError('forbidden', 'this invitation is for a verified e-mail address that is not yours');
    }
    await transaction('invitations').where({ id: invitation.id }).update({ accepted_at: transaction.fn.now() });
    await transaction('members')
      .insert({ organization_id: invitation.organization_id, person_id: person.personId, role: invitation.role })
      .onConflict()
      .ignore();
    return invitation.organization_id;
  });
}
