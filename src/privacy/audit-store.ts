// The audit trail in PostgreSQL: who did what to whose data, when, and how it ended. Entries are only ever added; a
// trigger sees to that. Erasing a person replaces them in the entries about them by a keyed hash.
import { newUuidV7, type OrganizationId, type ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';

export interface AuditActor {
  /** `secret`, `token` or `admin` of a credential, `person` of a session, `service` where the service acts by itself. */
  readonly kind: string;
  readonly id: string;
}

export interface NewAuditEntry {
  readonly projectId: ProjectId;
  readonly organizationId: OrganizationId;
  readonly actor: AuditActor;
  /** Object and verb, as in `erasure.requested`. */
  readonly action: string;
  /** The user id of the person it is about. */
  readonly subject?: string;
  /** Stands in for the id of whoever is erased. */
  readonly subjectHash?: string;
  readonly outcome: 'accepted' | 'completed' | 'failed' | 'cancelled';
  /** Counts and the like: never an id of a person. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

export interface AuditEntry {
  readonly id: string;
  readonly at: string;
  readonly actor: AuditActor;
  readonly action: string;
  readonly subject: string | null;
  readonly subject_hash: string | null;
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** `postgres` may be a transaction: then the entry stands or falls with it. */
export async function recordAudit(postgres: Postgres, entry: NewAuditEntry): Promise<void> {
  await postgres('audit_entries').insert({
    id: newUuidV7(),
    project_id: entry.projectId,
    organization_id: entry.organizationId,
    actor: JSON.stringify(entry.actor),
    action: entry.action,
    subject: entry.subject ?? null,
    subject_hash: entry.subjectHash ?? null,
    outcome: entry.outcome,
    details: JSON.stringify(entry.details ?? {}),
  });
}

const SHOWN = ['id', 'at', 'actor', 'action', 'subject', 'subject_hash', 'outcome', 'details'] as const;

/** Newest first; `before` is the id of the last entry of the page before. */
export async function listAudit(
  postgres: Postgres,
  page: { projectId: ProjectId; limit: number; before: string | undefined },
): Promise<AuditEntry[]> {
  const entries = postgres('audit_entries').where({ project_id: page.projectId });
  // An id alone is no order: those of one millisecond are random.
  if (page.before !== undefined) {
    entries.whereRaw('(at, id) < (SELECT at, id FROM audit_entries WHERE id = ? AND project_id = ?)', [
      page.before,
      page.projectId,
    ]);
  }
  const newestFirst = [
    { column: 'at', order: 'desc' },
    { column: 'id', order: 'desc' },
  ];
  return entries.orderBy(newestFirst).limit(page.limit).select(SHOWN);
}

/** From now on the entries about the person show `hash` in place of the id. */
/** The people whom entries of the project still name. */
export const listSubjects = (postgres: Postgres, projectId: ProjectId): Promise<string[]> =>
  postgres('audit_entries').where({ project_id: projectId }).whereNotNull('subject').distinct().pluck('subject');

export async function hideSubject(
  postgres: Postgres,
  subject: { projectId: ProjectId; userId: string; hash: string },
): Promise<void> {
  await postgres('audit_entries')
    .where({ project_id: subject.projectId, subject: subject.userId })
    .update({ subject: null, subject_hash: subject.hash });
}
