// Audit trail in PostgreSQL: who did what to whose data, when, and with what outcome. Append-only,
// enforced by a trigger. An erasure replaces the person in their entries by a keyed hash.
import { newUuidV7, type OrganizationId, type ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { AuditEntry } from './answers.js';

export interface AuditActor {
  /**
   * `secret`, `token` or `admin` for a credential, `person` for a session, `service` for the
   * service itself, `operator` for a command of the one who runs it.
   */
  readonly kind: string;
  readonly id: string;
}

export interface NewAuditEntry {
  readonly projectId: ProjectId;
  readonly organizationId: OrganizationId;
  readonly actor: AuditActor;
  /** Object and verb, as in `erasure.requested`. */
  readonly action: string;
  /** The user id of the person concerned. */
  readonly subject?: string;
  /** Replaces the id of an erased person. */
  readonly subjectHash?: string;
  readonly outcome: 'accepted' | 'completed' | 'failed' | 'cancelled';
  /** Counts and similar values: never an id of a person. */
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

/** Pass a transaction as `postgres` to record the entry only if the transaction commits. */
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

/** Newest first; `before` is the id of the last entry of the previous page. */
export async function listAudit(
  postgres: Postgres,
  page: { projectId: ProjectId; limit: number; before: string | undefined },
): Promise<AuditEntry[]> {
  const entries = postgres('audit_entries').where({ project_id: page.projectId });
  // The id alone does not determine the order: ids of the same millisecond are random.
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

/** The user ids that entries of the project still contain. */
export const listSubjects = (postgres: Postgres, projectId: ProjectId): Promise<string[]> =>
  postgres('audit_entries').where({ project_id: projectId }).whereNotNull('subject').distinct().pluck('subject');

/** Replaces the user id by `hash` in the entries about the person. */
export async function hideSubject(
  postgres: Postgres,
  subject: { projectId: ProjectId; userId: string; hash: string },
): Promise<void> {
  await postgres('audit_entries')
    .where({ project_id: subject.projectId, subject: subject.userId })
    .update({ subject: null, subject_hash: subject.hash });
}
