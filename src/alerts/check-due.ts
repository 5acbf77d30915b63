// Checks the due alerts, several at a time and few of one project. A process that is killed loses
// its checks only: their alerts are due again when the claims end.
import { BOUNDS } from '../platform/flow/bounds.js';
import { runClaimed } from '../platform/flow/run-claimed.js';
import type { Logger } from '../platform/log.js';
import type { Postgres } from '../platform/postgres/client.js';
import { quote } from '../query/errors.js';
import { type CheckResult, type ClaimedAlert, claimDueAlert, recordCheck } from './check-store.js';
import { postpone } from './claims.js';
import { type AlertMessage, ROWS_TOLD } from './message.js';
import { OwnerTurns } from './owner-turns.js';
import type { AlertAnswer, AnsweredRows, RunAlertQuery } from './run-query.js';
import type { AlertState } from './state.js';
import { evaluate, parseWhen, type When } from './when.js';

const BUSY_RETRY_SECONDS = 15;
const ERROR_LENGTH_MAX = 1000;
/** In the audit of queries; no person has this id. */
const CALLER = 'alerts';

export interface CheckDeps {
  readonly postgres: Postgres;
  readonly runQuery: RunAlertQuery;
  readonly publicUrl: URL;
  readonly claimSeconds: number;
  readonly log: Logger;
}

/** Resolves when no alert is due any more. */
export async function checkDueAlerts(deps: CheckDeps, signal: AbortSignal): Promise<void> {
  const turns = new OwnerTurns();
  await runClaimed({
    claim: () => claimDueAlert(deps.postgres, turns, deps.claimSeconds),
    work: (alert) => checkAlert(deps, alert, signal),
    concurrency: BOUNDS.alertChecks,
    signal,
  });
}

async function checkAlert(deps: CheckDeps, alert: ClaimedAlert, signal: AbortSignal): Promise<void> {
  const { projectId, query, timezone } = alert;
  const answer = await deps.runQuery({ projectId, personId: CALLER, query, timezone }, signal);
  // A stopping process says nothing about the query. The claim ends, and another process checks.
  if (signal.aborted) return postpone(deps.postgres, alert, 0);
  if (answer.kind === 'busy') return postpone(deps.postgres, alert, BUSY_RETRY_SECONDS);
  const result = toResult(answer, alert.condition);
  const at = new Date().toISOString();
  await recordCheck(deps.postgres, alert, result, (before, state) =>
    toMessage(deps, alert, { before, state, result, at }),
  );
  if (result.error !== null) deps.log.warn({ alert: alert.id, projectId }, 'the check of an alert failed');
}

/** What the answer means for the condition. */
export function toResult(answer: Exclude<AlertAnswer, { kind: 'busy' }>, condition: string): CheckResult {
  if (answer.kind === 'failed') return failed(answer.error);
  const parsed = parseWhen(condition);
  if ('problem' in parsed) return failed(`the condition cannot be read: ${parsed.problem.message}`);
  const missing = findMissingColumn(parsed.when, answer);
  if (missing !== undefined) return failed(missing);
  const { isMet, value, rows } = evaluate(parsed.when, answer.rows);
  if (answer.isTruncated && dependsOnRest(parsed.when, isMet))
    return failed(`the answer has more than ${answer.rows.length} rows; narrow the query`);
  return { outcome: isMet ? 'firing' : 'ok', value, error: null, rows: isMet ? rows.slice(0, ROWS_TOLD) : [] };
}

/**
 * The column was there when the document was saved; a change of a definition may have taken it
 * away.
 */
function findMissingColumn(when: When, { columns, rows: [first] }: AnsweredRows): string | undefined {
  if (when.kind === 'no_rows' || first === undefined || Object.hasOwn(first, when.column)) return undefined;
  return `the answer has no column ${quote(when.column)}; its columns are ${columns.join(', ')}`;
}

/** Whether rows that were not read could change what those that were say. */
const dependsOnRest = (when: When, isMet: boolean): boolean =>
  when.kind === 'comparison' && (when.rows === 'all' ? isMet : !isMet);

const failed = (error: string): CheckResult => ({
  ...{ outcome: 'failed', value: null, rows: [] },
  error: error.slice(0, ERROR_LENGTH_MAX),
});

interface Changed {
  readonly before: AlertState;
  readonly state: AlertState;
  readonly result: CheckResult;
  readonly at: string;
}

type MessageSource = Pick<
  ClaimedAlert,
  'projectId' | 'projectName' | 'key' | 'query' | 'condition' | 'timezone' | 'dashboard'
>;

/** Path in the console: that of the dashboard, or of the query. */
function pathOf({ projectId, dashboard, query, timezone }: MessageSource): string {
  if (dashboard !== undefined) return `/projects/${projectId}/dashboards/${dashboard.id}`;
  return `/projects/${projectId}/ask#${new URLSearchParams({ q: query, tz: timezone })}`;
}

export const toMessage = (
  { publicUrl }: Pick<CheckDeps, 'publicUrl'>,
  alert: MessageSource,
  { before, state, result: { value, error }, at }: Changed,
): AlertMessage => ({
  ...{ alert: alert.key, dashboard: alert.dashboard?.key ?? null, title: alert.dashboard?.title ?? alert.projectName },
  ...{ query: alert.query, condition: alert.condition, before, state, value, error, at },
  url: new URL(pathOf(alert), publicUrl).href,
});
