// Store of keeping in PostgreSQL: which projects are due, and a receipt for each night.
import { type ProjectId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { readNow } from '../platform/postgres/read-now.js';
import type { KeptEvents } from './answers.js';
import { type EventCounts, sumOf } from './event-counts.js';
import type { Edge, Keep } from './keep.js';

export interface DueKeep {
  readonly projectId: ProjectId;
  readonly keep: Keep;
}

/** A day in UTC, YYYY-MM-DD. */
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * Epoch milliseconds by the slower of two clocks, that of this process and that of PostgreSQL: a
 * clock that is ahead must not delete what is still to be kept.
 */
export async function readSafeNow(postgres: Postgres): Promise<number> {
  return Math.min(Date.now(), await readNow(postgres));
}

/**
 * Projects that have no finished receipt of the day. A changed `keep` waits for the next day, so
 * that there is time to take it back. (A date instead of the timestamp would be one of the time
 * zone of the session.)
 */
export async function listDueKeeps(postgres: Postgres, nowMs: number): Promise<DueKeep[]> {
  const { rows } = await postgres.raw<{ rows: { project_id: string; keep: Keep }[] }>(
    `SELECT d.project_id, d.keep FROM definitions d
     JOIN projects p ON p.id = d.project_id AND p.deleted_at IS NULL
     LEFT JOIN keep_receipts r ON r.project_id = d.project_id AND r.day = ?::date AND r.deleted_at IS NOT NULL
     WHERE d.keep IS NOT NULL AND d.keep_since < ?::timestamp AT TIME ZONE 'UTC' AND r.day IS NULL
     ORDER BY d.project_id`,
    [dayOf(nowMs), dayOf(nowMs)],
  );
  return rows.map(({ project_id, keep }) => ({ projectId: toProjectId(project_id), keep }));
}

/** Not finished. */
export interface OpenReceipt {
  readonly projectId: ProjectId;
  readonly day: string;
  readonly edges: readonly Edge[];
  readonly deleted: EventCounts;
  /** Counted, and perhaps deleted. */
  readonly pending: EventCounts;
}

const OPEN_COLUMNS = 'r.project_id AS "projectId", r.day::text AS day, r.edges, r.deleted, r.pending';

/** The receipt of the day: a new one, or the one that an earlier run has begun. */
export async function openReceipt(
  postgres: Postgres,
  { projectId, edges, nowMs }: { projectId: ProjectId; edges: readonly Edge[]; nowMs: number },
): Promise<OpenReceipt> {
  const key = { project_id: projectId, day: dayOf(nowMs) };
  await postgres('keep_receipts')
    .insert({ ...key, edges: JSON.stringify(edges), deleted: '[]' })
    .onConflict(['project_id', 'day'])
    .ignore();
  return postgres('keep_receipts AS r').where(key).first(postgres.raw(OPEN_COLUMNS));
}

/** Open receipts of earlier days, whose runs have failed. */
export async function listLeftOpen(postgres: Postgres, nowMs: number): Promise<OpenReceipt[]> {
  return postgres('keep_receipts AS r')
    .join('projects AS p', (on) => on.on('p.id', 'r.project_id').andOnNull('p.deleted_at'))
    .whereNull('r.deleted_at')
    .where('r.day', '<', dayOf(nowMs))
    .orderBy(['r.project_id', 'r.day'])
    .select(postgres.raw(OPEN_COLUMNS));
}

export async function saveCounts(
  postgres: Postgres,
  { projectId, day }: Pick<OpenReceipt, 'projectId' | 'day'>,
  { deleted, pending }: Pick<OpenReceipt, 'deleted' | 'pending'>,
): Promise<void> {
  await postgres('keep_receipts')
    .where({ project_id: projectId, day })
    .update({ deleted: JSON.stringify(deleted), pending: JSON.stringify(pending) });
}

/** Without deleted events there is nothing to purge. */
export async function finishReceipt(
  postgres: Postgres,
  { projectId, day }: Pick<OpenReceipt, 'projectId' | 'day'>,
  { isPurged }: { isPurged: boolean },
): Promise<void> {
  await postgres('keep_receipts')
    .where({ project_id: projectId, day })
    .update({ deleted_at: postgres.fn.now(), ...(isPurged && { purged_at: postgres.fn.now() }) });
}

export interface ReceiptKey {
  readonly project_id: string;
  readonly day: string;
}

/** Receipts whose events are deleted, and may still be in files. */
export async function listUnpurged(postgres: Postgres): Promise<ReceiptKey[]> {
  return postgres('keep_receipts')
    .whereNotNull('deleted_at')
    .whereNull('purged_at')
    .select('project_id', postgres.raw('day::text AS day'));
}

export async function markPurged(postgres: Postgres, receipts: readonly ReceiptKey[]): Promise<void> {
  for (const key of receipts) await postgres('keep_receipts').where(key).update({ purged_at: postgres.fn.now() });
}

const RECEIPTS_SHOWN = 100;

/** The newest first. */
export async function listReceipts(postgres: Postgres, projectId: ProjectId): Promise<KeptEvents['receipts']> {
  const rows = await postgres('keep_receipts')
    .where({ project_id: projectId })
    .orderBy('day', 'desc')
    .limit(RECEIPTS_SHOWN)
    .select(postgres.raw('day::text AS day'), 'edges', 'deleted', 'deleted_at', 'purged_at');
  return rows.map(({ day, edges, deleted, deleted_at, purged_at }) => ({
    day,
    events: sumOf(deleted),
    deleted,
    edges: (edges as Edge[]).map(showEdge),
    status: purged_at !== null ? 'purged' : deleted_at !== null ? 'deleted' : 'begun',
    deleted_at,
    purged_at,
  }));
}

/** Null: the types without an edge of their own. */
export const showEdge = ({ events, days, beforeMs }: Edge) => ({
  events: events ?? null,
  days,
  before: new Date(beforeMs),
});
