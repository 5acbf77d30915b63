// Members of an organization in PostgreSQL. At least one owner must remain: removing or demoting an
// owner locks the organization first, so that two owners cannot leave concurrently. A person
// who changes another member must still be an owner then: roles may have changed in the meantime.
import type { Role } from '../access/roles.js';
import { PublicError } from '../platform/errors.js';
import { isUuid, type OrganizationId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Member } from './answers.js';
import { mayInvite, revokeInvitationsBy, revokeInvitationsTo } from './invitations.js';
import type { Leaving } from './schema.js';
import { requireTypedName } from './typed-name.js';

const membersOf = (postgres: Postgres, organizationId: OrganizationId) =>
  postgres('members').join('people', 'people.id', 'person_id').where({ organization_id: organizationId });

const SHOWN = ['person_id AS user_id', 'email', 'name', 'role', 'joined_at'] as const;

export const listMembers = (postgres: Postgres, organizationId: OrganizationId): Promise<Member[]> =>
  membersOf(postgres, organizationId).orderBy(['joined_at', 'person_id']).select(SHOWN);

export interface MemberKey {
  readonly organizationId: OrganizationId;
  readonly personId: string;
}

/** `by`: the person who asks for it. */
interface MemberChange extends MemberKey {
  readonly by: string;
}

export async function changeRole(postgres: Postgres, key: MemberChange, role: Role): Promise<Member> {
  return postgres.transaction(async (transaction) => {
    const member = await lockMember(transaction, key);
    if (role !== 'owner') await requireOtherOwner(transaction, key.organizationId, { member, fate: 'be demoted' });
    await transaction('members').where(whereOf(key)).update({ role });
    if (!mayInvite(role)) await revokeInvitationsBy(transaction, key);
    return { ...member, role };
  });
}

/**
 * Also revokes the person's personal tokens and sent invitations, which would become valid again
 * when the person rejoins, and open invitations to the person.
 */
export async function removeMember(postgres: Postgres, key: MemberChange): Promise<void> {
  await postgres.transaction(async (transaction) => {
    const member = await lockMember(transaction, key);
    await requireOtherOwner(transaction, key.organizationId, { member, fate: 'be removed' });
    await endMembership(transaction, key, member);
  });
}

/** A member leaves on their own. */
export async function leaveOrganization(postgres: Postgres, key: MemberKey, leaving: Leaving): Promise<void> {
  await postgres.transaction(async (transaction) => {
    const organization = await lockOrganization(transaction, key.organizationId);
    const member = await requireMember(transaction, key);
    requireTypedName(leaving, { name: organization.name, what: 'organization' });
    await requireOtherOwner(transaction, key.organizationId, { member, fate: 'leave' });
    await endMembership(transaction, key, member);
  });
}

async function endMembership(transaction: Postgres, key: MemberKey, { email }: Member): Promise<void> {
  await transaction('members').where(whereOf(key)).delete();
  await revokeInvitationsBy(transaction, key);
  if (email !== null) await revokeInvitationsTo(transaction, { ...key, email });
  await transaction('access_tokens')
    .where({ created_by: key.personId, kind: 'personal', revoked_at: null })
    .whereIn('project_id', transaction('projects').where({ organization_id: key.organizationId }).select('id'))
    .update({ revoked_at: transaction.fn.now() });
}

const whereOf = (key: MemberKey) => ({ organization_id: key.organizationId, person_id: key.personId });

/** Before each change of members, so that two changes happen one after the other. */
export const lockOrganization = (
  transaction: Postgres,
  organizationId: OrganizationId,
): Promise<{ name: string; is_standalone: boolean }> =>
  transaction('organizations').where({ id: organizationId }).forUpdate().first('name', 'is_standalone');

/** Call it with the organization locked. */
export async function requireStillOwner(transaction: Postgres, key: MemberKey): Promise<void> {
  const caller = await transaction('members').where(whereOf(key)).first('role');
  if (caller?.role !== 'owner') throw new PublicError('forbidden', 'you are no longer an owner of this organization');
}

async function lockMember(transaction: Postgres, key: MemberChange): Promise<Member> {
  await lockOrganization(transaction, key.organizationId);
  await requireStillOwner(transaction, { ...key, personId: key.by });
  return requireMember(transaction, key);
}

async function requireMember(transaction: Postgres, key: MemberKey): Promise<Member> {
  const member: Member | undefined = isUuid(key.personId)
    ? await membersOf(transaction, key.organizationId).where({ person_id: key.personId }).first(SHOWN)
    : undefined;
  if (member === undefined) throw new PublicError('not_found', 'there is no such member');
  return member;
}

/** Compares stored ids: the id of the request may have another case. */
async function requireOtherOwner(
  transaction: Postgres,
  organizationId: OrganizationId,
  { member, fate }: { member: Member; fate: 'be demoted' | 'be removed' | 'leave' },
): Promise<void> {
  const owners: { person_id: string }[] = await transaction('members')
    .where({ organization_id: organizationId, role: 'owner' })
    .select('person_id');
  if (owners.length === 1 && owners[0]?.person_id === member.user_id) {
    throw new PublicError('bad_request', `the last owner of an organization cannot ${fate}`);
  }
}
