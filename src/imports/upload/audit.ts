// Entries of the audit trail about imports of the console: one before anything is sent, and one at
// the end with the counts. An import whose process was killed has the first alone.
import { type ProjectId, toOrganizationId } from '../../platform/ids.js';
import type { Postgres } from '../../platform/postgres/client.js';
import { type NewAuditEntry, recordAudit } from '../../privacy/audit-store.js';
import type { Ended } from './ending.js';

export interface ImportTrail {
  readonly postgres: Postgres;
  readonly projectId: ProjectId;
  readonly personId: string;
  readonly source: string;
}

export const recordBegun = (trail: ImportTrail, files: number): Promise<void> =>
  record(trail, { action: 'import.begun', outcome: 'accepted', details: { files } });

export function recordEnded(trail: ImportTrail, { last, isStopped }: Ended): Promise<void> {
  const counted = last !== undefined && 'summary' in last ? last.summary : undefined;
  return record(trail, {
    action: 'import.ended',
    outcome: isStopped ? 'cancelled' : counted === undefined ? 'failed' : 'completed',
    details:
      counted === undefined
        ? {}
        : { events: counted.events, stored: counted.stored, links: counted.links, profiles: counted.profiles },
  });
}

async function record(
  { postgres, projectId, personId, source }: ImportTrail,
  entry: Pick<NewAuditEntry, 'action' | 'outcome'> & { readonly details: NonNullable<NewAuditEntry['details']> },
): Promise<void> {
  const project: { organization_id: string } = await postgres('projects')
    .where({ id: projectId })
    .first('organization_id');
  await recordAudit(postgres, {
    ...entry,
    projectId,
    organizationId: toOrganizationId(project.organization_id),
    actor: { kind: 'person', id: personId },
    details: { source, ...entry.details },
  });
}
