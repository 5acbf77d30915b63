// One-time links that sign in a first owner before an identity provider is configured. The operator
// makes them (npm run invite) and thereby vouches for the address. Until the first sign-in with a
// provider that verifies the same address, the account belongs to the provider LINK_PROVIDER; then
// it becomes an account of that provider. The subject is the digest of the open link, so that the
// table of people is all the state, and an account has one open link.
import { createHash } from 'node:crypto';
import { tryCanonicalEmail } from '../accounts/addresses.js';
import type { SignedIn } from '../accounts/people.js';
import { createOrganization, createProject } from '../accounts/store.js';
import { PublicError } from '../platform/errors.js';
import { newUuidV7, randomBase62 } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';

export const SIGN_IN_LINK_PATH = '/sign-in';
const LINK_PROVIDER = 'sign-in-link';
const TOKEN_LENGTH = 43;
const LIFETIME_MS = 24 * 60 * 60_000;

export interface SignInLink {
  /** The link's path below the public address. */
  readonly path: string;
  readonly email: string;
  readonly expiresAt: Date;
  /** Name of the organization that the person owns now; undefined when they had one. */
  readonly organization: string | undefined;
}

/** The time of expiry is a part of the token, and covered by its digest. */
const newToken = (expiresAt: Date): string => `${randomBase62(TOKEN_LENGTH)}.${expiresAt.getTime()}`;

const subjectOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/**
 * Makes the person, an owner of the oldest organization without members, or of a new one with a
 * first project. An earlier open link of the address stops working. Throws an error whose message
 * is for the operator.
 */
export async function createSignInLink(
  postgres: Postgres,
  { email: given, secretKeyBase }: { readonly email: string; readonly secretKeyBase: string },
): Promise<SignInLink> {
  const email = tryCanonicalEmail(given);
  if (email === undefined) throw new Error(`"${given}" is not an e-mail address`);
  const expiresAt = new Date(Date.now() + LIFETIME_MS);
  const token = newToken(expiresAt);
  const organization = await postgres.transaction(async (transaction) => {
    const personId = await savePerson(transaction, email, token);
    if ((await transaction('members').where({ person_id: personId }).first('person_id')) !== undefined)
      return undefined;
    const empty = await findEmptyOrganization(transaction);
    const name = empty?.name ?? 'My organization';
    const organizationId = empty?.id ?? (await createOrganization(transaction, { name, ownerId: personId })).id;
    await transaction('members')
      .insert({ organization_id: organizationId, person_id: personId, role: 'owner' })
      .onConflict()
      .ignore();
    const project = await transaction('projects').where({ organization_id: organizationId }).first('id');
    if (project === undefined) await createProject(transaction, { organizationId, name: 'My project', secretKeyBase });
    return name;
  });
  return { path: `${SIGN_IN_LINK_PATH}/${token}`, email, expiresAt, organization };
}

async function savePerson(transaction: Postgres, email: string, token: string): Promise<string> {
  const people = await transaction('people')
    .where({ email, email_verified: true })
    .forUpdate()
    .select('id', 'provider');
  const known = people.find(({ provider }) => provider === LINK_PROVIDER);
  if (known !== undefined) {
    await transaction('people')
      .where({ id: known.id })
      .update({ subject: subjectOf(token) });
    return known.id;
  }
  if (people.length > 0) throw new Error(`${email} signs in with an identity provider already`);
  const id = newUuidV7();
  const account = { provider: LINK_PROVIDER, subject: subjectOf(token), email, email_verified: true };
  await transaction('people').insert({ id, ...account });
  return id;
}

function findEmptyOrganization(transaction: Postgres): Promise<{ id: string; name: string } | undefined> {
  return transaction('organizations')
    .whereNotExists(transaction('members').whereRaw('members.organization_id = organizations.id').select(1))
    .orderBy('id')
    .first('id', 'name');
}

const isOpen = (token: string): boolean => Number(token.split('.')[1]) > Date.now();

const openPeople = (postgres: Postgres, token: string) =>
  postgres('people').where({ provider: LINK_PROVIDER, subject: subjectOf(token) });

const noSuchLink = () =>
  new PublicError(
    'not_found',
    'this link was used, replaced by a newer one, or is older than a day; npm run invite prints another',
  );

/** The address that an open link signs in. Throws a PublicError for any other. */
export async function requireLinkedEmail(postgres: Postgres, token: string): Promise<string> {
  const person: { email: string } | undefined = isOpen(token)
    ? await openPeople(postgres, token).first('email')
    : undefined;
  if (person === undefined) throw noSuchLink();
  return person.email;
}

/** Resolves with the person's id, once. Throws a PublicError for a link that is not open. */
export async function redeemSignInLink(postgres: Postgres, token: string): Promise<string> {
  const rows: { id: string }[] = isOpen(token)
    ? await openPeople(postgres, token)
        .update({ subject: postgres.raw("'used:' || id::text") })
        .returning('id')
    : [];
  const [person] = rows;
  if (person === undefined) throw noSuchLink();
  return person.id;
}

/**
 * Gives the account of a link to the provider that has verified its address, unless the provider's
 * subject has an account here already.
 */
export async function adoptLinkedPerson(transaction: Postgres, signedIn: SignedIn): Promise<void> {
  const { provider, subject, emailVerified } = signedIn;
  const email = signedIn.email === undefined ? undefined : tryCanonicalEmail(signedIn.email);
  if (!emailVerified || email === undefined) return;
  if ((await transaction('people').where({ provider, subject }).first('id')) !== undefined) return;
  await transaction('people')
    .where({ provider: LINK_PROVIDER, email, email_verified: true })
    .update({ provider, subject });
}
