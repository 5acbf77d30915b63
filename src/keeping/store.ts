// Store of keeping in PostgreSQL: which projects are due, and a receipt for each night.
import { type ProjectId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { DeletedCounts } from './delete-expired.js';
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
  const { rows } = await postgres.raw<{ rows: { now: Date }[] }>('SELECT now() AS now');
  return Math.min(Date.now(), rows[0]?.now.getTime() ?? Number.NEGATIVE_INFINITY);
}

/**
 * Projects that have no finished receipt of the day. A changed `keep` waits for the next day, so
 * that there is time to take it back.
 */
export async function listDueKeeps(postgres: Postgres, nowMs: number): Promise<DueKeep[]> {
  const { rows } = await postgres.raw<{ rows: { project_id: string; keep: Keep }[] }>(
    `SELECT d.project_id, d.keep FROM definitions d
     JOIN projects p ON p.id = d.project_id AND p.deleted_at IS NULL
     LEFT JOIN keep_receipts r ON r.project_id = d.project_id AND r.day = ?::date AND r.deleted_at IS NOT NULL
     WHERE d.keep IS NOT NULL AND d.keep_since < ?::date AT TIME ZONE 'UTC' AND r.day IS NULL
     ORDER BY d.project_id`,
    [dayOf(nowMs), dayOf(nowMs)],
  );
  return rows.map(({ project_id, keep }) => ({ projectId: toProjectId(project_id), keep }));
}

interface Receipt {
  readonly day: string;
  readonly edges: readonly Edge[];
  readonly deleted: DeletedCounts;
}

/** The receipt of the day: this one, or the one that an earlier run has begun. */
export async function beginReceipt(
  postgres: Postgres,
  begun: { projectId: ProjectId; edges: readonly Edge[]; deleted: DeletedCounts; nowMs: number },
): Promise<Receipt> {
  const { projectId, edges, deleted, nowMs } = begun;
  const day = dayOf(nowMs);
  await postgres('keep_receipts')
    .insert({ project_id: projectId, day, edges: JSON.stringify(edges), deleted: JSON.stringify(deleted) })
    .onConflict(['project_id', 'day'])
    .ignore();
  const found = await postgres('keep_receipts').where({ project_id: projectId, day }).first('edges', 'deleted');
  return { day, edges: found.edges, deleted: found.deleted };
}

/** Without deleted events there is nothing to purge. */
export async function markDeleted(
  postgres: Postgres,
  { projectId, day, isPurged }: { projectId: ProjectId; day: string; isPurged: boolean },
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

/** A receipt in the response of the API. */
export interface ShownReceipt {
  readonly day: string;
  readonly events: number;
  readonly deleted: DeletedCounts;
  readonly edges: readonly { readonly events: readonly string[] | null; readonly before: string }[];
  readonly status: 'begun' | 'deleted' | 'purged';
  readonly deleted_at: Date | null;
  readonly purged_at: Date | null;
}

/** The newest first. */
export async function listReceipts(postgres: Postgres, projectId: ProjectId): Promise<ShownReceipt[]> {
  const rows = await postgres('keep_receipts')
    .where({ project_id: projectId })
    .orderBy('day', 'desc')
    .limit(RECEIPTS_SHOWN)
    .select(postgres.raw('day::text AS day'), 'edges', 'deleted', 'deleted_at', 'purged_at');
  return rows.map(({ day, edges, deleted, deleted_at, purged_at }) => ({
    day,
    events: (deleted as DeletedCounts).reduce((sum, { events }) => sum + events, 0),
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
  before: new Date(beforeMs).toISOString(),
});
