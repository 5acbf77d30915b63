// What signing in changes in PostgreSQL, at once or not at all: the person, what they belong to, and for whoever
// belongs to nothing an organization with a first project.
import {
  hasOrganization,
  joinByDomain,
  joinStandaloneOrganization,
  type SignedIn,
  upsertPerson,
} from '../accounts/people.js';
import { mayCreateOrganization, type Quotas } from '../accounts/quotas.js';
import { createOrganization, createProject } from '../accounts/store.js';
import type { Postgres } from '../platform/postgres/client.js';

/** The provider that the embedded stack brings along. */
export const LOCAL_PROVIDER_ID = 'local';

/** Resolves with the id of the person. */
export async function recordSignIn(
  postgres: Postgres,
  signedIn: SignedIn,
  { secretKeyBase, quotas }: { secretKeyBase: string; quotas: Quotas },
): Promise<string> {
  return postgres.transaction(async (transaction) => {
    const id = await upsertPerson(transaction, signedIn);
    await joinByDomain(transaction, id);
    if (signedIn.provider === LOCAL_PROVIDER_ID) await joinStandaloneOrganization(transaction, id);
    if (!(await hasOrganization(transaction, id)) && (await mayCreateOrganization(transaction, quotas, id))) {
      const organization = await createOrganization(transaction, {
        name: signedIn.name === undefined ? 'My organization' : `${signedIn.name}'s organization`,
        ownerId: id,
      });
      await createProject(transaction, { organizationId: organization.id, name: 'My project', secretKeyBase });
    }
    return id;
  });
}
