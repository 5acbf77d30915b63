// Operators: the people who run the installation, and may see what concerns all of its
// organizations. They are the owners of the organization that `npm start` created, and those with a
// verified address in OPERATOR_EMAILS.
import { tryCanonicalEmail } from '../accounts/addresses.js';
import type { Postgres } from '../platform/postgres/client.js';

interface SignedIn {
  readonly personId: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
}

export function createOperators(postgres: Postgres, emails: readonly string[]): (person: SignedIn) => Promise<boolean> {
  const addresses = new Set(emails.map((email) => tryCanonicalEmail(email) ?? email));
  return async ({ personId, email, emailVerified }) => {
    if (emailVerified && email !== undefined && addresses.has(email)) return true;
    const row = await postgres('members')
      .join('organizations', 'organizations.id', 'organization_id')
      .where({ person_id: personId, role: 'owner', is_standalone: true })
      .first('person_id');
    return row !== undefined;
  };
}
