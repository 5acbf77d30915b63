// Projects that a person may connect an agent to.
import type { Postgres } from '../platform/postgres/client.js';

export interface ConnectableProject {
  readonly id: string;
  readonly name: string;
  readonly organization: string;
}

/** The projects of all organizations of the person. */
export const listConnectable = (postgres: Postgres, personId: string): Promise<ConnectableProject[]> =>
  postgres('members')
    .join('organizations', 'organizations.id', 'members.organization_id')
    .join('projects', 'projects.organization_id', 'organizations.id')
    .where({ person_id: personId })
    .whereNull('projects.deleted_at')
    .orderBy(['organizations.name', 'projects.id'])
    .select('projects.id', 'projects.name', { organization: 'organizations.name' });
