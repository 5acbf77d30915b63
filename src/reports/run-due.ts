// Runs the due reports. A process that is killed loses the run only: the report is due again when
// its claim ends, and its messages are stored once, with the run.
import { extendClaim, postpone } from '../alerts/claims.js';
import { OwnerTurns } from '../alerts/owner-turns.js';
import type { RunAlertQuery } from '../alerts/run-query.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import { runClaimed } from '../platform/flow/run-claimed.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { ReportCard } from './answers.js';
import type { ReportMessage } from './message.js';
import { type ClaimedReport, claimDueReport, findSentDashboard, recordFailedRun, recordRun } from './report-store.js';
import { runCards } from './run-cards.js';

/** Runs without an answer; then the report is sent with its errors. */
const FAILURES_MAX = 2;
/** In the audit of queries; no person has this id. */
const CALLER = 'reports';

export interface ReportDeps {
  readonly postgres: Postgres;
  readonly runQuery: RunAlertQuery;
  readonly publicUrl: URL;
  readonly claimSeconds: number;
  readonly log: Logger;
}

/** Resolves when no report is due any more. */
export async function runDueReports(deps: ReportDeps, signal: AbortSignal): Promise<void> {
  const turns = new OwnerTurns();
  await runClaimed({
    claim: () => claimDueReport(deps.postgres, turns, deps.claimSeconds),
    work: (report) => runReport(deps, report, signal),
    concurrency: BOUNDS.reportRuns,
    signal,
  });
}

async function runReport(deps: ReportDeps, report: ClaimedReport, signal: AbortSignal): Promise<void> {
  const { postgres, runQuery, log } = deps;
  const { projectId, dashboard } = report;
  const sent = await findSentDashboard(postgres, dashboard?.id);
  const cards = sent
    ? await runCards({
        ...{ projectId, personId: CALLER, runQuery, signal, ...sent, withinMs: BOUNDS.reportMs },
        mayContinue: () => extendClaim(postgres, report, deps.claimSeconds),
      })
    : [noDashboard(report)];
  // A stopping process says nothing about the queries. The claim ends, and another process runs it.
  if (signal.aborted) return postpone(postgres, report, 0);
  if (cards === undefined) return;
  const error = errorOf(cards);
  if (error !== undefined) log.warn({ report: report.id, projectId }, 'no card of a report could be answered');
  if (error !== undefined && report.failures < FAILURES_MAX) return recordFailedRun(postgres, report, error);
  await recordRun(postgres, report, { cards, message: (run) => toMessage(deps, report, run) });
}

const ERROR_LENGTH_MAX = 1000;

const noDashboard = ({ dashboardKey, dashboard }: Pick<ClaimedReport, 'dashboardKey' | 'dashboard'>): ReportCard => {
  const key = dashboard?.key ?? dashboardKey;
  return { title: String(key), error: `the project has no dashboard "${key}"` };
};

/** Error of the first card, when no card has an answer. */
function errorOf(cards: readonly ReportCard[]): string | undefined {
  const [first] = cards;
  const isAnswered = cards.length === 0 || cards.some((card) => !('error' in card));
  return isAnswered || first === undefined || !('error' in first) ? undefined : first.error.slice(0, ERROR_LENGTH_MAX);
}

type MessageSource = Pick<ClaimedReport, 'key' | 'dashboard' | 'dashboardKey' | 'projectId'>;

export const toMessage = (
  { publicUrl }: Pick<ReportDeps, 'publicUrl'>,
  { projectId, key, dashboard, dashboardKey }: MessageSource,
  { schedule, timezone, at }: { readonly schedule: string; readonly timezone: string; readonly at: Date },
): ReportMessage => ({
  ...{
    report: key,
    dashboard: dashboard?.key ?? String(dashboardKey),
    title: dashboard?.title ?? String(dashboardKey),
  },
  ...{ schedule, timezone },
  url: new URL(`/projects/${projectId}/dashboards${dashboard ? `/${dashboard.id}` : ''}`, publicUrl).href,
  at: at.toISOString(),
});
