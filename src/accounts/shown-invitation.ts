// What the page of an invitation link says: who invites whom to what, or why the link no longer
// works. The link is the secret; nothing here says more than its mail.
import { digestKey } from '../access/keys.js';
import type { Role } from '../access/roles.js';
import type { Postgres } from '../platform/postgres/client.js';
import { mayInvite } from './invitations.js';

/** An invitation that can be accepted. */
export interface OpenLink {
  readonly state: 'open';
  readonly organizationId: string;
  readonly organization: string;
  /** Name and address of the sender. */
  readonly inviter: string;
  readonly role: Role;
  readonly email: string;
  readonly expiresAt: Date;
}

/** `withdrawn`: the sender may no longer invite. */
export interface EndedLink {
  readonly state: 'used' | 'expired' | 'withdrawn';
  readonly organizationId: string;
  readonly organization: string;
}

/** `unknown`: a wrong link, or one that was revoked, or expired long ago. */
export type InvitationLink = OpenLink | EndedLink | { readonly state: 'unknown' };

export async function findInvitationLink(postgres: Postgres, token: string): Promise<InvitationLink> {
  const row = await postgres('invitations')
    .where({ token_digest: digestKey(token) })
    .join('organizations', 'organizations.id', 'invitations.organization_id')
    .leftJoin('people', 'people.id', 'invitations.invited_by')
    .leftJoin('members', (joined) =>
      joined
        .on('members.organization_id', 'invitations.organization_id')
        .andOn('members.person_id', 'invitations.invited_by'),
    )
    .first({
      organizationId: 'organizations.id',
      organization: 'organizations.name',
      inviterRole: 'members.role',
      inviterName: 'people.name',
      inviterEmail: 'people.email',
      role: 'invitations.role',
      email: 'invitations.email',
      expiresAt: 'invitations.expires_at',
      acceptedAt: 'invitations.accepted_at',
    });
  if (row === undefined) return { state: 'unknown' };
  const { organizationId, organization, role, email, expiresAt } = row;
  const state = stateOf(row);
  if (state !== 'open') return { state, organizationId, organization };
  const { inviterName, inviterEmail } = row;
  const inviter =
    inviterName && inviterEmail ? `${inviterName} (${inviterEmail})` : (inviterName ?? inviterEmail ?? 'A member');
  return { state, organizationId, organization, inviter, role, email, expiresAt };
}

interface Row {
  readonly acceptedAt: Date | null;
  readonly expiresAt: Date;
  readonly inviterRole: Role | null;
}

function stateOf({ acceptedAt, expiresAt, inviterRole }: Row): 'open' | EndedLink['state'] {
  if (acceptedAt !== null) return 'used';
  if (expiresAt.getTime() <= Date.now()) return 'expired';
  return inviterRole !== null && mayInvite(inviterRole) ? 'open' : 'withdrawn';
}
