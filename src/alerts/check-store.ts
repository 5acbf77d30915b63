// Checks of alerts in PostgreSQL: claims a due alert, and records the result of its check together
// with the messages that it causes.
import { BOUNDS } from '../platform/flow/bounds.js';
import type { Postgres } from '../platform/postgres/client.js';
import { type ClaimedRow, claimDue, recordResult } from './claims.js';
import type { AlertMessage } from './message.js';
import type { OwnerTurns } from './owner-turns.js';
import { type AlertState, advance, type Outcome } from './state.js';
import type { Row } from './when.js';

export type ClaimedAlert = Omit<ClaimedRow, 'failures'>;

export const claimDueAlert = (
  postgres: Postgres,
  turns: OwnerTurns,
  seconds: number,
): Promise<ClaimedAlert | undefined> =>
  claimDue(postgres, turns, { kind: 'alert', perProject: BOUNDS.alertChecksPerProject, seconds });

export interface CheckResult {
  readonly outcome: Outcome;
  readonly value: number | null;
  /** Why the check failed. */
  readonly error: string | null;
  /** The rows that a message names. */
  readonly rows: readonly Row[];
}

/** `toMessage` gets the state before and after, when they differ. */
export async function recordCheck(
  postgres: Postgres,
  alert: ClaimedAlert,
  { rows, ...result }: CheckResult,
  toMessage: (before: AlertState, after: AlertState) => AlertMessage,
): Promise<void> {
  await recordResult(postgres, alert, (before) => {
    const after = advance(before, result.outcome);
    const isChanged = after.state !== before.state;
    return {
      check: { ...result, state: after.state },
      told: isChanged ? { message: toMessage(before.state, after.state), rows } : undefined,
      row: {
        ...after,
        // However many times were missed, the next one is in the future.
        next_due_at: postgres.raw(
          `next_due_at + make_interval(secs => every_seconds *
             greatest(1, 1 + floor(extract(epoch FROM now() - next_due_at) / every_seconds)))`,
        ),
      },
    };
  });
}
