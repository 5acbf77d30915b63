// Reports in PostgreSQL: claims a due report, reads the dashboard that it sends, records a run
// together with its messages, and moves the times of reports with the time zone of their project.
import { type Claim, type ClaimedRow, claimDue, recordResult } from '../alerts/claims.js';
import type { OwnerTurns } from '../alerts/owner-turns.js';
import type { DashboardConfig } from '../dashboards/config-schema.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { ReportCard } from './answers.js';
import type { ReportMessage } from './message.js';
import { nextTimeOf } from './schedule.js';

export type ClaimedReport = Omit<ClaimedRow, 'query' | 'condition'>;

export const claimDueReport = (
  postgres: Postgres,
  turns: OwnerTurns,
  seconds: number,
): Promise<ClaimedReport | undefined> =>
  claimDue(postgres, turns, { kind: 'report', perProject: BOUNDS.reportRunsPerProject, seconds });

export interface SentDashboard {
  readonly config: DashboardConfig;
  /** Time zone of the project. */
  readonly timezone: string;
}

/** The current version; undefined when the dashboard was deleted. */
export async function findSentDashboard(
  postgres: Postgres,
  dashboardId: string | undefined,
): Promise<SentDashboard | undefined> {
  if (dashboardId === undefined) return undefined;
  return postgres('dashboards AS d')
    .join('dashboard_versions AS v', (on) => on.on('v.dashboard_id', 'd.id').on('v.version', 'd.version'))
    .join('projects AS p', 'p.id', 'd.project_id')
    .where('d.id', dashboardId)
    .first('v.config', 'p.timezone');
}

export interface ReportRun {
  readonly cards: readonly ReportCard[];
  readonly message: (run: { readonly schedule: string; readonly timezone: string; readonly at: Date }) => ReportMessage;
}

/**
 * Does nothing when the claim is over. However many times were missed, the next one is in the
 * future.
 */
export async function recordRun(postgres: Postgres, claim: Claim, { cards, message }: ReportRun): Promise<void> {
  await recordResult(postgres, claim, ({ schedule, timezone, now, next_due_at: due }) => {
    const stored = schedule ?? '';
    // A clock that was set back does not make a time due again.
    const after = new Date(Math.max(due.getTime(), now.getTime()));
    return {
      check: { outcome: 'ok', value: null, error: null, state: 'ok' },
      told: { message: message({ schedule: stored, timezone, at: now }), rows: cards },
      row: { failures: 0, next_due_at: nextTimeOf(stored, timezone, after) },
    };
  });
}

const RETRY_SECONDS = 60;

/** Records that no card could be answered; the report is run again after a minute. */
export async function recordFailedRun(postgres: Postgres, claim: Claim, error: string): Promise<void> {
  await recordResult(postgres, claim, ({ failures }) => ({
    check: { outcome: 'failed', value: null, error, state: 'ok' },
    told: undefined,
    row: {
      failures: failures + 1,
      next_due_at: postgres.raw('now() + make_interval(secs => ?)', [RETRY_SECONDS]),
    },
  }));
}

/** After a change of the project's time zone. Times that are due stay due. */
export async function rescheduleReports(transaction: Postgres, projectId: ProjectId): Promise<void> {
  const reports = await transaction('alerts AS a')
    .join('projects AS p', 'p.id', 'a.project_id')
    .where({ 'a.project_id': projectId, 'a.kind': 'report', 'a.timezone': null })
    .where('a.next_due_at', '>', transaction.fn.now())
    .select('a.id', 'a.schedule', 'p.timezone', { now: transaction.fn.now() });
  for (const { id, schedule, timezone, now } of reports) {
    await transaction('alerts')
      .where({ id })
      .update({ next_due_at: nextTimeOf(schedule, timezone, now) });
  }
}
