// Lists of people: only secret keys and sessions get them, and each is recorded in the audit trail,
// with the query but without the values of its conditions, which may be ids of people.
import { PublicError } from '../platform/errors.js';
import { type ProjectId, toOrganizationId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { recordAudit } from '../privacy/audit-store.js';
import { hideValues } from '../query/parse/hide-values.js';
import type { QueryRequest } from './schema.js';

/** Who asks: a key or token, or a signed-in person. */
export interface Caller {
  readonly kind: 'public' | 'secret' | 'token' | 'person';
  readonly id: string;
}

export interface AskedForPeople {
  readonly projectId: ProjectId;
  readonly caller: Caller;
  readonly request: QueryRequest;
}

/** Records the query, or throws: without the record there is no answer. */
export type AdmitToPeople = (asked: AskedForPeople) => Promise<void>;

export const createPeopleAdmission =
  (postgres: Postgres): AdmitToPeople =>
  async ({ projectId, caller, request }) => {
    if (caller.kind !== 'secret' && caller.kind !== 'person') {
      throw new PublicError('forbidden', 'lists of people need a secret key (sk_…) or a session, not a token');
    }
    const { q, limit, offset } = request;
    try {
      const { organization_id } = await postgres('projects').where({ id: projectId }).first('organization_id');
      await recordAudit(postgres, {
        projectId,
        organizationId: toOrganizationId(organization_id),
        actor: { kind: caller.kind, id: caller.id },
        action: 'people.listed',
        outcome: 'accepted',
        details: { query: hideValues(q), limit, offset },
      });
    } catch (cause) {
      throw new PublicError('unavailable', 'the list of people cannot be recorded right now; try again', { cause });
    }
  };
