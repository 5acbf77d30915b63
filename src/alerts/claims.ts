// Claims of alerts and reports in PostgreSQL: a row that is due is worked on by one process at a
// time, and its result counts only while that claim lasts. Times are those of the database.
import { type ProjectId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { addDeliveries, forgetOldDeliveries, type Told } from './delivery-store.js';
import { BY_TURNS, HAS_PLACE, OWNER, type OwnerTurns } from './owner-turns.js';
import type { AlertState, Outcome } from './state.js';

export const CHECKS_KEPT = 100;
const AROUND_QUERY_SECONDS = 95;

/**
 * Longer than a query may wait and run, which is `queryMs`. Then another process may take the row.
 */
export const claimSecondsOf = (queryMs: number): number => Math.ceil(queryMs / 1000) + AROUND_QUERY_SECONDS;

export const KINDS = ['alert', 'report'] as const;
export type Kind = (typeof KINDS)[number];

export interface Claim {
  readonly id: string;
  readonly claimId: string;
  readonly projectId: ProjectId;
}

export interface ClaimedRow extends Claim {
  /** The id in the document. */
  readonly key: string;
  readonly timezone: string;
  /** Undefined for an alert of the definitions, and for a report whose dashboard was deleted. */
  readonly dashboard: { readonly id: string; readonly key: string; readonly title: string } | undefined;
  /** The key by which a report of the definitions names its dashboard. */
  readonly dashboardKey: string | null;
  readonly projectName: string;
  /** Query and condition of an alert; unused in a report. */
  readonly query: string;
  readonly condition: string;
  /** Runs that failed since the last one that did not. */
  readonly failures: number;
}

/** Whether `d` is the dashboard that has the alert or report `a`, or that a report names. */
export const IS_DASHBOARD = `(d.id = a.dashboard_id OR
  (d.project_id = a.project_id AND d.key = a.dashboard_key AND d.visibility = 'project'))`;

/** The next row that is due, of a project with less than `perProject` claims of this kind. */
export async function claimDue(
  postgres: Postgres,
  turns: OwnerTurns,
  { kind, perProject, seconds }: { readonly kind: Kind; readonly perProject: number; readonly seconds: number },
): Promise<ClaimedRow | undefined> {
  const { rows } = await postgres.raw(
    `WITH running AS (
       SELECT project_id, ${OWNER} AS owner
       FROM alerts JOIN projects p ON p.id = project_id JOIN organizations o ON o.id = p.organization_id
       WHERE kind = ? AND claimed_until > now()),
     next AS (
       SELECT due.id, ${OWNER} AS owner
       FROM alerts due JOIN projects p ON p.id = due.project_id
         JOIN organizations o ON o.id = p.organization_id
       WHERE due.kind = ? AND due.next_due_at <= now() AND p.deleted_at IS NULL
         AND (due.claimed_until IS NULL OR due.claimed_until <= now())
         AND ${HAS_PLACE}
       ORDER BY ${BY_TURNS}, due.next_due_at
       LIMIT 1 FOR UPDATE OF due SKIP LOCKED),
     claimed AS (
       UPDATE alerts SET claim_id = gen_random_uuid(), claimed_until = now() + make_interval(secs => ?)
       FROM next WHERE alerts.id = next.id RETURNING alerts.*, owner)
     SELECT a.*, coalesce(a.timezone, p.timezone) AS zone, p.name, d.id AS d_id, d.key AS d_key, d.title
     FROM claimed a JOIN projects p ON p.id = a.project_id LEFT JOIN dashboards d ON ${IS_DASHBOARD}`,
    [kind, kind, perProject, turns.served, seconds],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  turns.take(row.owner);
  return {
    ...{ id: row.id, claimId: row.claim_id, projectId: toProjectId(row.project_id), key: row.key },
    ...{ query: row.query, condition: row.condition, timezone: row.zone, failures: row.failures },
    ...{ dashboardKey: row.dashboard_key, projectName: row.name },
    dashboard: row.d_id === null ? undefined : { id: row.d_id, key: row.d_key, title: row.title },
  };
}

/** False when the claim is over: the row was changed, deleted, or claimed by another process. */
export async function extendClaim(postgres: Postgres, { id, claimId }: Claim, seconds: number): Promise<boolean> {
  const changed = await postgres('alerts')
    .where({ id, claim_id: claimId })
    .update({ claimed_until: postgres.raw('now() + make_interval(secs => ?)', [seconds]) });
  return changed > 0;
}

/** Ends the claim of a row that could not be worked on; it is due again after `seconds`. */
export async function postpone(postgres: Postgres, { id, claimId }: Claim, seconds: number): Promise<void> {
  await postgres('alerts')
    .where({ id, claim_id: claimId })
    .update({
      claim_id: null,
      claimed_until: null,
      next_due_at: postgres.raw('now() + make_interval(secs => ?)', [seconds]),
    });
}

/** What the row has when its result is recorded. */
export interface Locked {
  readonly state: AlertState;
  readonly failures: number;
  readonly transitions: number;
  readonly targets: readonly string[];
  readonly schedule: string | null;
  readonly timezone: string;
  /** Clock of the database. */
  readonly now: Date;
  readonly next_due_at: Date;
}

export interface Recorded {
  readonly check: {
    readonly outcome: Outcome;
    readonly value: number | null;
    readonly error: string | null;
    readonly state: AlertState;
  };
  /** Message to each target; undefined when none is sent. */
  readonly told: Told | undefined;
  /** Columns of the row, among them `next_due_at`. */
  readonly row: Readonly<Record<string, unknown>>;
}

/**
 * Records a result and its messages in one transaction. Does nothing when the claim is over, so
 * that each result is recorded once.
 */
export async function recordResult(
  postgres: Postgres,
  { id, claimId, projectId }: Claim,
  decide: (before: Locked) => Recorded,
): Promise<void> {
  await postgres.transaction(async (transaction) => {
    const before: Locked | undefined = await transaction('alerts')
      .where({ id, claim_id: claimId })
      .forUpdate()
      .first('state', 'failures', 'transitions', 'targets', 'schedule', 'next_due_at', {
        now: transaction.fn.now(),
        timezone: transaction.raw(
          'coalesce(timezone, (SELECT timezone FROM projects WHERE projects.id = alerts.project_id))',
        ),
      });
    if (before === undefined) return;
    const { check, told, row } = decide(before);
    const transition = before.transitions + 1;
    if (told)
      await addDeliveries(transaction, { ...told, projectId, alertId: id, transition, targets: before.targets });
    await transaction('alert_checks').insert({ ...check, alert_id: id, transition: told ? transition : null });
    const { fn } = transaction;
    await transaction('alerts')
      .where({ id })
      .update({
        ...row,
        ...(told && { transitions: transition, changed_at: fn.now() }),
        ...{ checked_at: fn.now(), claim_id: null, claimed_until: null },
      });
    await forgetOldChecks(transaction, id);
    await forgetOldDeliveries(transaction, id, transition - CHECKS_KEPT);
  });
}

const forgetOldChecks = (transaction: Postgres, id: string) =>
  transaction.raw(
    `DELETE FROM alert_checks WHERE alert_id = ? AND id <=
       (SELECT id FROM alert_checks WHERE alert_id = ? ORDER BY id DESC OFFSET ? LIMIT 1)`,
    [id, id, CHECKS_KEPT],
  );
