// Writes the alerts of a dashboard's document, in the transaction that stores the document. Alerts
// of a personal dashboard do not run: its owner may leave the project, and its targets would stay.
import { type Quotas, requireAlertQuota } from '../accounts/quotas.js';
import { newUuidV7, type ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { type AlertConfig, tryParseInterval } from './config-schema.js';

export interface AlertsOfDashboard {
  readonly projectId: ProjectId;
  readonly dashboardId: string;
  /** None for a personal dashboard. */
  readonly alerts: readonly AlertConfig[];
  /** Of the document; undefined: that of the project. */
  readonly timezone: string | undefined;
  readonly quotas: Quotas;
}

interface Stored {
  readonly id: string;
  readonly key: string;
  readonly query: string;
  readonly condition: string;
  readonly timezone: string | null;
}

/**
 * An alert with the same id, query and condition keeps its state. Another query or condition is
 * another question, so it starts with the state `ok` and is checked at once.
 */
export async function syncAlerts(transaction: Postgres, dashboard: AlertsOfDashboard): Promise<void> {
  const { dashboardId, alerts } = dashboard;
  const stored: Stored[] = await transaction('alerts')
    .where({ dashboard_id: dashboardId })
    .forUpdate()
    .select('id', 'key', 'query', 'condition', 'timezone');
  if (stored.length === 0 && alerts.length === 0) return;
  const kept = alerts.map(({ id }) => id);
  await transaction('alerts').where({ dashboard_id: dashboardId }).whereNotIn('key', kept).delete();
  await requireAlertQuota(transaction, dashboard.quotas, { ...dashboard, count: alerts.length });
  for (const [position, alert] of alerts.entries()) {
    const row = toRow(dashboard, alert, position);
    const before = stored.find(({ key }) => key === alert.id);
    if (before === undefined) await transaction('alerts').insert({ ...row, id: newUuidV7() });
    else await change(transaction, before, row);
  }
}

const toRow = ({ projectId, dashboardId, timezone }: AlertsOfDashboard, alert: AlertConfig, position: number) => ({
  project_id: projectId,
  dashboard_id: dashboardId,
  key: alert.id,
  position,
  query: alert.query,
  condition: alert.when,
  every_seconds: (tryParseInterval(alert.every) ?? 0) / 1000,
  targets: [...new Set(alert.to)],
  timezone: timezone ?? null,
});

async function change(transaction: Postgres, before: Stored, row: ReturnType<typeof toRow>): Promise<void> {
  const isSame = (['query', 'condition', 'timezone'] as const).every((field) => before[field] === row[field]);
  const now = transaction.fn.now();
  const restarted = {
    state: 'ok',
    changed_at: null,
    failures: 0,
    next_due_at: now,
    claim_id: null,
    claimed_until: null,
  };
  // A shorter interval takes effect now, not when the longer one has passed.
  const soon = transaction.raw('least(next_due_at, now() + make_interval(secs => ?))', [row.every_seconds]);
  await transaction('alerts')
    .where({ id: before.id })
    .update({ ...row, ...(isSame ? { next_due_at: soon } : restarted) });
}
