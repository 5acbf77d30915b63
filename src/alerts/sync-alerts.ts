// Writes the alerts and reports of a document, a dashboard or definitions, in the transaction that
// stores the document. Those of a personal dashboard do not run: its owner may leave the project,
// and its targets would stay.
import { type Quotas, requireAlertQuota } from '../accounts/quotas.js';
import type { Config } from '../platform/config.js';
import { newUuidV7, type ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { ReportConfig } from '../reports/config-schema.js';
import { nextTimeOf } from '../reports/schedule.js';
import type { Kind } from './claims.js';
import { type AlertConfig, tryParseInterval } from './config-schema.js';
import { canonicalTarget } from './targets.js';

export type AlertSettings = Quotas & Pick<Config, 'WEBHOOK_PRIVATE_ADDRESSES'>;

export interface AlertsOfDocument {
  readonly projectId: ProjectId;
  /** Null for those of the definitions. */
  readonly dashboardId: string | null;
  /** None for a personal dashboard. */
  readonly alerts: readonly AlertConfig[];
  /** Reports of the definitions name their dashboard by its key. */
  readonly reports: readonly (ReportConfig & { readonly dashboard?: string })[];
  /** Time zone of the document; undefined: that of the project. */
  readonly timezone: string | undefined;
  readonly settings: AlertSettings;
}

/** Columns that the document determines. */
interface Row {
  readonly kind: Kind;
  readonly key: string;
  readonly targets: readonly string[];
  readonly timezone: string | null;
  readonly query: string | null;
  readonly condition: string | null;
  readonly every_seconds: number | null;
  readonly schedule: string | null;
  readonly dashboard_key: string | null;
}

/** With another one of these, it is another alert or report, although it has the same id. */
const IDENTITY = ['query', 'condition', 'schedule', 'timezone'] as const;

type Stored = Pick<Row, 'kind' | 'key' | (typeof IDENTITY)[number]> & { readonly id: string };

/** Time of the database, and time zone of the project. */
interface Clock {
  readonly now: Date;
  readonly timezone: string;
}

/** Throws when the project would have too many alerts and reports. A dry run asks this, too. */
export async function requireStorable(transaction: Postgres, document: AlertsOfDocument): Promise<void> {
  const count = document.alerts.length + document.reports.length;
  await requireAlertQuota(transaction, document.settings, { ...document, count });
}

/**
 * An alert with the same id, query and condition keeps its state. Another query or condition is
 * another question, so it starts with the state `ok` and is checked at once. A report with another
 * time begins at the next such time.
 */
export async function syncAlerts(transaction: Postgres, document: AlertsOfDocument): Promise<void> {
  const { projectId, dashboardId } = document;
  const ofDocument = { project_id: projectId, dashboard_id: dashboardId };
  const stored: Stored[] = await transaction('alerts')
    .where(ofDocument)
    .forUpdate()
    .select('id', 'kind', 'key', ...IDENTITY);
  const rows = toRows(document);
  if (stored.length === 0 && rows.length === 0) return;
  const beforeOf = (row: Row) => stored.find(({ kind, key }) => kind === row.kind && key === row.key);
  const kept = rows.flatMap((row) => beforeOf(row)?.id ?? []);
  await transaction('alerts').where(ofDocument).whereNotIn('id', kept).delete();
  await requireStorable(transaction, document);
  const clock: Clock = await transaction('projects')
    .where({ id: projectId })
    .first('timezone', { now: transaction.fn.now() });
  for (const [position, row] of rows.entries()) {
    const placed = { ...row, position };
    const before = beforeOf(row);
    if (before !== undefined) {
      await transaction('alerts')
        .where({ id: before.id })
        .update({ ...placed, ...changesOf(transaction, { before, row, clock }) });
      continue;
    }
    const next_due_at = firstTimeOf(row, clock);
    await transaction('alerts').insert({
      ...{ ...placed, ...ofDocument, next_due_at, id: newUuidV7() },
    });
  }
}

function toRows({ alerts, reports, ...document }: AlertsOfDocument): Row[] {
  const timezone = document.timezone ?? null;
  return [
    ...alerts.map(
      (alert): Row => ({
        ...{ kind: 'alert', key: alert.id, query: alert.query, condition: alert.when, timezone, schedule: null },
        ...{ every_seconds: (tryParseInterval(alert.every) ?? 0) / 1000, targets: targetsOf(alert.to) },
        dashboard_key: null,
      }),
    ),
    ...reports.map(
      (report): Row => ({
        ...{ kind: 'report', key: report.id, schedule: report.at, timezone: report.timezone ?? timezone },
        ...{ query: null, condition: null, every_seconds: null, targets: targetsOf(report.to) },
        dashboard_key: report.dashboard ?? null,
      }),
    ),
  ];
}

const targetsOf = (to: readonly string[]): string[] => [...new Set(to.map(canonicalTarget))];

/** An alert is checked at once. */
const firstTimeOf = ({ schedule, timezone }: Row, clock: Clock): Date =>
  schedule === null ? clock.now : nextTimeOf(schedule, timezone ?? clock.timezone, clock.now);

function changesOf(
  transaction: Postgres,
  { before, row, clock }: { readonly before: Stored; readonly row: Row; readonly clock: Clock },
) {
  if (IDENTITY.every((field) => before[field] === row[field])) {
    if (row.kind === 'report') return {};
    // A shorter interval takes effect now, not when the longer one has passed.
    return {
      next_due_at: transaction.raw('least(next_due_at, now() + make_interval(secs => ?))', [row.every_seconds]),
    };
  }
  return {
    ...{ state: 'ok', changed_at: null, failures: 0, claim_id: null, claimed_until: null },
    next_due_at: firstTimeOf(row, clock),
  };
}
