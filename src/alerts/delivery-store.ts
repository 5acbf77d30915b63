// The outbox of alerts and reports in PostgreSQL: one row for each transition (a change of state,
// or a run of a report) and target. A row is claimed by one process at a time, and tried again with
// a growing interval for two days.
import { BOUNDS } from '../platform/flow/bounds.js';
import { newUuidV7, type ProjectId, toProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { OutboxMessage } from './outbox-message.js';
import { BY_TURNS, HAS_PLACE, OWNER, type OwnerTurns } from './owner-turns.js';

/** Longer than a call takes (BOUNDS.webhookMs). Then another process may take the row. */
const CLAIM_SECONDS = 60;
const FIRST_RETRY_SECONDS = 10;
const RETRY_FACTOR = 3;
const RETRY_SECONDS_MAX = 3600;
const GIVE_UP_AFTER = '2 days';

export interface ClaimedDelivery {
  /** The delivery id, the same for each attempt. */
  readonly id: string;
  readonly claimId: string;
  readonly projectId: ProjectId;
  readonly target: string;
  readonly message: OutboxMessage;
  /** Undefined after an erasure. */
  readonly rows: readonly unknown[] | undefined;
}

/** A message, and its content of the project's events apart from it. */
export interface Told {
  readonly message: OutboxMessage;
  readonly rows: readonly unknown[];
}

interface NewDeliveries extends Told {
  readonly projectId: ProjectId;
  readonly alertId: string;
  readonly transition: number;
  readonly targets: readonly string[];
}

/** Fails for a transition that has been told, because a target gets each once. */
export async function addDeliveries(
  transaction: Postgres,
  { projectId, alertId, transition, targets, message, rows }: NewDeliveries,
): Promise<void> {
  const content = { message: toJsonb(message), rows: toJsonb(rows) };
  const deliveries = targets.map((target) => ({
    ...{ id: newUuidV7(), project_id: projectId, alert_id: alertId, transition, target },
    ...content,
  }));
  await transaction('alert_deliveries').insert(deliveries);
}

/** PostgreSQL rejects halves of characters in jsonb; titles and cut texts may have one. */
const toJsonb = (value: unknown): string =>
  JSON.stringify(value, (_key, item) => (typeof item === 'string' ? item.toWellFormed() : item));

export async function forgetOldDeliveries(transaction: Postgres, alertId: string, upTo: number): Promise<void> {
  await transaction('alert_deliveries')
    .where({ alert_id: alertId })
    .whereNot({ status: 'waiting' })
    .where('transition', '<=', upTo)
    .delete();
}

/**
 * Messages about one alert reach a target in the order of its changes. Those to a target that did
 * not take an earlier one come after the others of the owner: a server that hangs delays no other.
 */
export async function claimDelivery(postgres: Postgres, turns: OwnerTurns): Promise<ClaimedDelivery | undefined> {
  const { rows } = await postgres.raw(
    `WITH running AS (
       SELECT project_id, ${OWNER} AS owner
       FROM alert_deliveries JOIN projects p ON p.id = project_id JOIN organizations o ON o.id = p.organization_id
       WHERE status = 'waiting' AND claimed_until > now()),
     failing AS (SELECT project_id, target FROM alert_deliveries WHERE status = 'waiting' AND attempts > 0),
     next AS (
       SELECT due.id, ${OWNER} AS owner
       FROM alert_deliveries due JOIN projects p ON p.id = due.project_id
         JOIN organizations o ON o.id = p.organization_id
       WHERE due.status = 'waiting' AND due.next_attempt_at <= now()
         AND p.deleted_at IS NULL AND (due.claimed_until IS NULL OR due.claimed_until <= now())
         AND ${HAS_PLACE}
         AND NOT EXISTS (SELECT FROM alert_deliveries earlier WHERE earlier.alert_id = due.alert_id
           AND earlier.target = due.target AND earlier.transition < due.transition AND earlier.status = 'waiting')
       ORDER BY ${BY_TURNS}, (due.project_id, due.target) IN (SELECT project_id, target FROM failing), due.next_attempt_at
       LIMIT 1 FOR UPDATE OF due SKIP LOCKED)
     UPDATE alert_deliveries SET claim_id = gen_random_uuid(), claimed_until = now() + make_interval(secs => ?)
     FROM next WHERE alert_deliveries.id = next.id
     RETURNING alert_deliveries.id, claim_id, project_id, target, message, rows, owner`,
    [BOUNDS.alertMessagesPerProject, turns.served, CLAIM_SECONDS],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  turns.take(row.owner);
  return {
    ...{ id: row.id, claimId: row.claim_id, projectId: toProjectId(row.project_id) },
    ...{ target: row.target, message: row.message, rows: row.rows ?? undefined },
  };
}

/**
 * Renews the claim, and reads the rows again, which an erasure may have removed meanwhile.
 * Undefined when the claim is over.
 */
export async function confirmClaim(
  postgres: Postgres,
  delivery: ClaimedDelivery,
): Promise<ClaimedDelivery | undefined> {
  const { id, claimId } = delivery;
  const [row]: { rows: readonly unknown[] | null }[] = await postgres('alert_deliveries')
    .where({ id, claim_id: claimId })
    .update({ claimed_until: postgres.raw('now() + make_interval(secs => ?)', [CLAIM_SECONDS]) })
    .returning('rows');
  return row && { ...delivery, rows: row.rows ?? undefined };
}

export async function markSent(postgres: Postgres, { id, claimId }: ClaimedDelivery): Promise<void> {
  await postgres('alert_deliveries')
    .where({ id, claim_id: claimId })
    .update({ ...ended(postgres), status: 'sent', error: null, attempts: postgres.raw('attempts + 1') });
}

/** Tries again later, unless the failure is final or two days have passed. */
export async function markFailed(
  postgres: Postgres,
  { id, claimId }: ClaimedDelivery,
  { reason, isFinal }: { reason: string; isFinal: boolean },
): Promise<void> {
  await postgres.raw(
    `UPDATE alert_deliveries SET attempts = attempts + 1, error = ?, claim_id = NULL, claimed_until = NULL,
       next_attempt_at = now() + make_interval(secs => least(?, ? * power(?, least(attempts, 10)))),
       status = CASE WHEN is_over THEN 'failed' ELSE 'waiting' END,
       ended_at = CASE WHEN is_over THEN now() END,
       rows = CASE WHEN is_over THEN NULL ELSE rows END
     FROM (SELECT ? OR created_at < now() - interval '${GIVE_UP_AFTER}' AS is_over FROM alert_deliveries WHERE id = ?) judged
     WHERE id = ? AND claim_id = ?`,
    [reason, RETRY_SECONDS_MAX, FIRST_RETRY_SECONDS, RETRY_FACTOR, isFinal, id, id, claimId],
  );
}

const ended = (postgres: Postgres) => ({
  claim_id: null,
  claimed_until: null,
  ended_at: postgres.fn.now(),
  rows: null,
});

/**
 * Removes the rows of answers from waiting messages, because they may contain an erased person, and
 * drops the results of running checks for the same reason. A claimed message keeps its claim: its
 * process reads the rows again before it sends them.
 */
export async function forgetRows(postgres: Postgres, projectId: ProjectId): Promise<void> {
  await postgres('alerts')
    .where({ project_id: projectId })
    .whereNotNull('claim_id')
    .update({ claim_id: null, claimed_until: null });
  await postgres('alert_deliveries').where({ project_id: projectId }).whereNotNull('rows').update({ rows: null });
}
