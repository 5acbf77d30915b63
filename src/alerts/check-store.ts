// Checks of alerts in PostgreSQL: claims a due alert, and records the result of its check together
// with the messages that it causes, in one transaction. Times are those of the database.
import { BOUNDS } from '../platform/flow/bounds.js';
import { newUuidV7, type ProjectId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { AlertMessage } from './message.js';
import { type AlertState, advance, type Outcome } from './state.js';
import type { Row } from './when.js';

export const CHECKS_KEPT = 100;
/** Longer than a check takes, waiting included. Then another process may check the alert. */
export const CLAIM_SECONDS = 150;

export interface ClaimedAlert {
  readonly id: string;
  readonly claimId: string;
  readonly projectId: ProjectId;
  readonly key: string;
  readonly query: string;
  readonly condition: string;
  readonly timezone: string;
  readonly dashboard: { readonly id: string; readonly key: string; readonly title: string };
}

/** The alert that has waited longest, of a project with few running checks. */
export async function claimDueAlert(postgres: Postgres): Promise<ClaimedAlert | undefined> {
  const { rows } = await postgres.raw(
    `UPDATE alerts SET claim_id = gen_random_uuid(), claimed_until = now() + make_interval(secs => ?)
     FROM dashboards d, projects p
     WHERE d.id = alerts.dashboard_id AND p.id = alerts.project_id AND alerts.id = (
       SELECT due.id FROM alerts due JOIN projects of ON of.id = due.project_id
       WHERE due.next_due_at <= now() AND of.deleted_at IS NULL
         AND (due.claimed_until IS NULL OR due.claimed_until <= now())
         AND (SELECT count(*) FROM alerts other
              WHERE other.project_id = due.project_id AND other.claimed_until > now()) < ?
       ORDER BY due.next_due_at LIMIT 1 FOR UPDATE OF due SKIP LOCKED)
     RETURNING alerts.id, alerts.claim_id, alerts.project_id, alerts.key, alerts.query, alerts.condition,
       coalesce(alerts.timezone, p.timezone) AS timezone, d.id AS dashboard_id, d.key AS dashboard_key, d.title`,
    [CLAIM_SECONDS, BOUNDS.alertChecksPerProject],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    ...{ id: row.id, claimId: row.claim_id, projectId: toProjectId(row.project_id), key: row.key },
    ...{ query: row.query, condition: row.condition, timezone: row.timezone },
    dashboard: { id: row.dashboard_id, key: row.dashboard_key, title: row.title },
  };
}

/** Returns an alert that could not be checked, because its project has too many queries. */
export async function postponeCheck(postgres: Postgres, { id, claimId }: ClaimedAlert, seconds: number): Promise<void> {
  await postgres('alerts')
    .where({ id, claim_id: claimId })
    .update({
      claim_id: null,
      claimed_until: null,
      next_due_at: postgres.raw('now() + make_interval(secs => ?)', [seconds]),
    });
}

export interface CheckResult {
  readonly outcome: Outcome;
  readonly value: number | null;
  /** Why the check failed. */
  readonly error: string | null;
  /** The rows that a message names. */
  readonly rows: readonly Row[];
}

interface Locked {
  readonly state: AlertState;
  readonly failures: number;
  readonly transitions: number;
  readonly targets: readonly string[];
}

/**
 * Does nothing when the claim is over: the alert was changed, deleted, or is checked by another
 * process. `toMessage` gets the state before and after, when they differ.
 */
export async function recordCheck(
  postgres: Postgres,
  alert: ClaimedAlert,
  result: CheckResult,
  toMessage: (before: AlertState, after: AlertState) => AlertMessage,
): Promise<void> {
  await postgres.transaction(async (transaction) => {
    const before: Locked | undefined = await transaction('alerts')
      .where({ id: alert.id, claim_id: alert.claimId })
      .forUpdate()
      .first('state', 'failures', 'transitions', 'targets');
    if (before === undefined) return;
    const after = advance(before, result.outcome);
    const isChanged = after.state !== before.state;
    const transition = before.transitions + 1;
    if (isChanged) {
      const message = toMessage(before.state, after.state);
      const ofDelivery = { message: JSON.stringify(message), rows: JSON.stringify(result.rows) };
      const deliveries = before.targets.map((target) => ({
        ...{ id: newUuidV7(), project_id: alert.projectId, alert_id: alert.id, transition, target },
        ...ofDelivery,
      }));
      await transaction('alert_deliveries').insert(deliveries);
    }
    await transaction('alert_checks').insert({
      ...{ alert_id: alert.id, outcome: result.outcome, value: result.value, error: result.error },
      ...{ state: after.state, transition: isChanged ? transition : null },
    });
    await transaction('alerts')
      .where({ id: alert.id })
      .update({
        ...after,
        ...(isChanged && { transitions: transition, changed_at: transaction.fn.now() }),
        ...{ checked_at: transaction.fn.now(), claim_id: null, claimed_until: null },
        // However many times were missed, the next one is in the future.
        next_due_at: transaction.raw(
          `next_due_at + make_interval(secs => every_seconds *
             greatest(1, 1 + floor(extract(epoch FROM now() - next_due_at) / every_seconds)))`,
        ),
      });
    await forgetOldest(transaction, alert.id, transition);
  });
}

async function forgetOldest(transaction: Postgres, alertId: string, transition: number): Promise<void> {
  await transaction.raw(
    `DELETE FROM alert_checks WHERE alert_id = ? AND id <=
       (SELECT id FROM alert_checks WHERE alert_id = ? ORDER BY id DESC OFFSET ? LIMIT 1)`,
    [alertId, alertId, CHECKS_KEPT],
  );
  await transaction('alert_deliveries')
    .where({ alert_id: alertId })
    .whereNot({ status: 'waiting' })
    .where('transition', '<=', transition - CHECKS_KEPT)
    .delete();
}
