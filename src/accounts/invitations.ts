// Invitations in PostgreSQL: a secret link for one e-mail address, valid for seven days and for one
// person, as long as the sender may still invite.
import { digestKey } from '../access/keys.js';
import { isAtLeast, type Role } from '../access/roles.js';
import { ruleOf } from '../access/route-matrix.js';
import type { Person } from '../access/session-middleware.js';
import { PublicError } from '../platform/errors.js';
import { isUuid, newUuidV7, type OrganizationId, randomBase62, toOrganizationId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { OpenInvitation } from './answers.js';

const LIFETIME_MS = 7 * 24 * 60 * 60_000;
const TOKEN_LENGTH = 43;

/** The minimum role for sending invitations, which the sender must still have at acceptance. */
const INVITER_ROLE: Role = ruleOf('POST /api/orgs/{orgID}/invitations').role ?? 'owner';

export const mayInvite = (role: Role): boolean => isAtLeast(role, INVITER_ROLE);

export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  /** Secret of the link; only its digest is stored. */
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
  // Addresses of people who have not accepted are not kept.
  await postgres('invitations')
    .where({ organization_id: organizationId, accepted_at: null })
    .where('expires_at', '<', postgres.fn.now())
    .delete();
  await postgres('invitations').insert({
    ...stored,
    organization_id: organizationId,
    token_digest: digestKey(token),
    invited_by: invitedBy,
  });
  return { ...stored, token };
}

/** Rejects for the address of a member: accepting an invitation changes no role. */
export async function requireNoMember(
  postgres: Postgres,
  organizationId: OrganizationId,
  email: string,
): Promise<void> {
  const member = await postgres('members')
    .join('people', 'people.id', 'person_id')
    .where({ organization_id: organizationId, email, email_verified: true })
    .first('role');
  if (member === undefined) return;
  throw new PublicError('bad_request', `${email} is a member already; the role is ${member.role}`);
}

const openInvitations = (postgres: Postgres) =>
  postgres('invitations').whereNull('accepted_at').where('expires_at', '>', postgres.fn.now());

/** Those that can still be accepted, without their secrets. */
export const listInvitations = (postgres: Postgres, organizationId: OrganizationId): Promise<OpenInvitation[]> =>
  openInvitations(postgres)
    .where({ organization_id: organizationId })
    .orderBy('id', 'desc')
    .select('id', 'email', 'role', 'invited_by', 'created_at', 'expires_at');

export async function revokeInvitation(
  postgres: Postgres,
  key: { organizationId: OrganizationId; invitationId: string },
): Promise<void> {
  const revoked = isUuid(key.invitationId)
    ? await openInvitations(postgres).where({ id: key.invitationId, organization_id: key.organizationId }).delete()
    : 0;
  if (revoked === 0) throw new PublicError('not_found', 'there is no such invitation');
}

/** For a member who leaves or is demoted: a later promotion must not restore their invitations. */
export async function revokeInvitationsBy(
  transaction: Postgres,
  key: { organizationId: OrganizationId; personId: string },
): Promise<void> {
  await openInvitations(transaction).where({ organization_id: key.organizationId, invited_by: key.personId }).delete();
}

/** For a member who leaves: an invitation to them that is still open would bring them back. */
export async function revokeInvitationsTo(
  transaction: Postgres,
  key: { organizationId: OrganizationId; email: string },
): Promise<void> {
  await openInvitations(transaction).where({ organization_id: key.organizationId, email: key.email }).delete();
}

/**
 * Makes the person a member and resolves with the organization. An existing member keeps their
 * role. The holder of the link knows that it exists, so a wrong address gets another error than a
 * used link.
 */
export async function acceptInvitation(postgres: Postgres, token: string, person: Person): Promise<OrganizationId> {
  return postgres.transaction(async (transaction) => {
    const invitation = await lockInvitation(transaction, token);
    if (invitation === undefined) throw noSuchInvitation();
    if (!person.emailVerified || person.email !== invitation.email) {
      throw new PublicError('forbidden', 'this invitation is for a verified e-mail address that is not yours');
    }
    await transaction('invitations').where({ id: invitation.id }).update({ accepted_at: transaction.fn.now() });
    const organizationId = toOrganizationId(invitation.organization_id);
    await revokeInvitationsTo(transaction, { organizationId, email: invitation.email });
    await transaction('members')
      .insert({ organization_id: invitation.organization_id, person_id: person.personId, role: invitation.role })
      .onConflict()
      .ignore();
    return organizationId;
  });
}

const noSuchInvitation = () =>
  new PublicError(
    'not_found',
    'there is no such invitation: it was used or revoked, is older than 7 days, or its sender may no longer invite',
  );

interface LockedInvitation {
  readonly id: string;
  readonly organization_id: string;
  readonly email: string;
  readonly role: Role;
}

/**
 * Locks the organization first, as every change of members does (members.ts): the sender cannot be
 * removed or demoted between this check and the end of the transaction.
 */
async function lockInvitation(transaction: Postgres, token: string): Promise<LockedInvitation | undefined> {
  const byToken = { token_digest: digestKey(token) };
  const found = await transaction('invitations').where(byToken).first('organization_id');
  if (found === undefined) return undefined;
  await transaction('organizations').where({ id: found.organization_id }).forUpdate().first('id');
  const invitation = await openInvitations(transaction)
    .where(byToken)
    .forUpdate()
    .first('id', 'organization_id', 'email', 'role', 'invited_by');
  if (invitation === undefined) return undefined;
  const sender = await transaction('members')
    .where({ organization_id: invitation.organization_id, person_id: invitation.invited_by })
    .first('role');
  return sender !== undefined && mayInvite(sender.role) ? invitation : undefined;
}
