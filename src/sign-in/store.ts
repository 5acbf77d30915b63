// Records a sign-in in one PostgreSQL transaction: the person, memberships by domain, and for a
// person without an organization a new organization with a first project.
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
import { adoptLinkedPerson } from './sign-in-links.js';

/** Name of the embedded provider of the standalone stack. */
const LOCAL_PROVIDER_ID = 'local';

/** Resolves with the person's id. */
export async function recordSignIn(
  postgres: Postgres,
  signedIn: SignedIn,
  { secretKeyBase, quotas }: { secretKeyBase: string; quotas: Quotas },
): Promise<string> {
  return postgres.transaction(async (transaction) => {
    await adoptLinkedPerson(transaction, signedIn);
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
