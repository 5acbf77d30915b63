// People, identified by provider and subject of their identity provider, never by e-mail address
// alone.
import { PublicError } from '../platform/errors.js';
import { newUuidV7 } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { tryCanonicalEmail } from './addresses.js';
import { RECORD_LIFETIME_DAYS } from './domains.js';

export interface SignedIn {
  readonly provider: string;
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly name: string | undefined;
}

/**
 * Creates or updates the person of this provider and subject with the current address and name. An
 * address without a canonical form is kept for display and never counts as verified: no invitation
 * and no domain matches it.
 */
export async function upsertPerson(postgres: Postgres, signedIn: SignedIn): Promise<string> {
  const { provider, subject } = signedIn;
  const email = signedIn.email === undefined ? undefined : tryCanonicalEmail(signedIn.email);
  const current = {
    email: email ?? signedIn.email ?? null,
    email_verified: email !== undefined && signedIn.emailVerified,
    name: signedIn.name ?? null,
  };
  const id = newUuidV7();
  const [row] = await postgres('people')
    .insert({ id, provider, subject, ...current })
    .onConflict(['provider', 'subject'])
    .merge(current)
    .returning('id');
  return row.id;
}

/**
 * A person with a verified address of a verified domain, whose record was seen in the last days,
 * joins as a member.
 */
export async function joinByDomain(postgres: Postgres, personId: string): Promise<void> {
  await postgres.raw(
    `INSERT INTO members (organization_id, person_id, role)
     SELECT domains.organization_id, people.id, 'member'
     FROM people
     -- What follows the last @: an address may hold others before it.
     JOIN domains ON domains.domain = substring(people.email FROM '@([^@]+)$') AND domains.verified_at IS NOT NULL
       AND domains.record_seen_at > now() - make_interval(days => ?)
     WHERE people.id = ? AND people.email_verified
     ON CONFLICT DO NOTHING`,
    [RECORD_LIFETIME_DAYS, personId],
  );
}

/** The standalone organization belongs to the first person who signs in with the local provider. */
export async function joinStandaloneOrganization(postgres: Postgres, personId: string): Promise<void> {
  await postgres.raw(
    `INSERT INTO members (organization_id, person_id, role)
     SELECT id, ?, 'owner' FROM organizations
     WHERE is_standalone AND NOT EXISTS (SELECT FROM members WHERE organization_id = organizations.id)
     ON CONFLICT DO NOTHING`,
    [personId],
  );
}

export async function markStandaloneOrganization(postgres: Postgres, organizationId: string): Promise<void> {
  await postgres('organizations').where({ id: organizationId }).update({ is_standalone: true });
}

export async function hasOrganization(postgres: Postgres, personId: string): Promise<boolean> {
  return (await postgres('members').where({ person_id: personId }).first('person_id')) !== undefined;
}

/**
 * Deletes the person with their sessions, memberships, personal tokens and personal dashboards, and
 * the invitations they sent. What they did remains in audit trails under their id. The
 * organizations that they created count for another owner from then on. Throws bad_request for the
 * last owner of an organization.
 */
export async function deletePerson(postgres: Postgres, personId: string): Promise<void> {
  await postgres.transaction(async (transaction) => {
    // An organization that the person creates meanwhile would have no owner (quotas.ts).
    await transaction('people').where({ id: personId }).forNoKeyUpdate().first('id');
    const own = transaction('members').where({ person_id: personId }).select('organization_id');
    // In one order: two people who leave the same organizations do not wait for each other.
    await transaction('organizations').whereIn('id', own).orderBy('id').forUpdate().select('id');
    const last: { name: string } | undefined = await transaction('members AS own')
      .join('organizations', 'organizations.id', 'own.organization_id')
      .where({ 'own.person_id': personId, 'own.role': 'owner' })
      .whereNotExists(
        transaction('members AS other')
          .where({ 'other.role': 'owner' })
          .whereRaw('other.organization_id = own.organization_id AND other.person_id <> own.person_id')
          .select('other.person_id'),
      )
      .orderBy('organizations.id')
      .first('name');
    if (last !== undefined) {
      throw new PublicError(
        'bad_request',
        `you are the last owner of ${last.name}: make another member an owner, or delete the organization first`,
      );
    }
    // Limits per person count the organizations that a person created: with none, a new account for
    // each of them would have limits of its own.
    await transaction.raw(
      `UPDATE organizations SET created_by = (
         SELECT person_id FROM members
         WHERE organization_id = organizations.id AND role = 'owner' AND person_id <> created_by
         ORDER BY joined_at, person_id LIMIT 1)
       WHERE created_by = ?`,
      [personId],
    );
    await transaction('access_tokens').where({ created_by: personId, kind: 'personal' }).delete();
    await transaction('dashboards').where({ owner_id: personId, visibility: 'personal' }).delete();
    await transaction('people').where({ id: personId }).delete();
  });
}
