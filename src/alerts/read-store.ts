// Reads alerts with their state and their checks for the routes: those of the project's dashboards,
// which every member may see. Targets are shown without their paths, which may be secrets.
import { compareTitles } from '../dashboards/compare-titles.js';
import { isUuid, type ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { AlertItem, CheckItem } from './answers.js';
import { CHECKS_KEPT, IS_DASHBOARD } from './claims.js';
import { shownTarget } from './targets.js';

/** In the order of dashboards and documents. */
export async function listAlerts(postgres: Postgres, projectId: ProjectId): Promise<AlertItem[]> {
  const rows = await alertsOf(postgres, projectId).orderBy(['d.title', 'd.id', 'a.position']);
  rows.sort((a, b) => compareTitles(a.title, b.title));
  return rows.map(toItem);
}

export async function findAlert(postgres: Postgres, projectId: ProjectId, id: string): Promise<AlertItem | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await alertsOf(postgres, projectId).where('a.id', id);
  return row === undefined ? undefined : toItem(row);
}

const alertsOf = (postgres: Postgres, projectId: ProjectId) =>
  postgres('alerts AS a')
    .join('projects AS p', 'p.id', 'a.project_id')
    .joinRaw(`LEFT JOIN dashboards AS d ON ${IS_DASHBOARD}`)
    .where({ 'a.project_id': projectId, 'a.kind': 'alert' })
    .joinRaw(
      `LEFT JOIN LATERAL (
         SELECT outcome, value, error FROM alert_checks WHERE alert_id = a.id ORDER BY id DESC LIMIT 1
       ) AS c ON true`,
    )
    .select(
      'a.*',
      { d_id: 'd.id', d_key: 'd.key' },
      'd.title',
      postgres.raw('coalesce(a.timezone, p.timezone) AS zone'),
    )
    .select('c.outcome', 'c.value', 'c.error');

// biome-ignore lint/suspicious/noExplicitAny: a row of the statement above
const toItem = (row: any): AlertItem => ({
  ...{ id: row.id, key: row.key, query: row.query, when: row.condition, every_seconds: row.every_seconds },
  ...{ state: row.state, changed_at: row.changed_at, checked_at: row.checked_at, next_due_at: row.next_due_at },
  written_in: row.dashboard_id === null ? 'definitions' : 'dashboard',
  dashboard: row.d_id === null ? null : { id: row.d_id, key: row.d_key, title: row.title },
  to: row.targets.map(shownTarget),
  timezone: row.zone,
  last_check: row.outcome === null ? null : { outcome: row.outcome, value: row.value, error: row.error },
});

/** The newest first. */
export async function listChecks(postgres: Postgres, alertId: string): Promise<CheckItem[]> {
  const checks = await postgres('alert_checks')
    .where({ alert_id: alertId })
    .orderBy('id', 'desc')
    .limit(CHECKS_KEPT)
    .select('at', 'outcome', 'value', 'error', 'state', 'transition');
  const deliveries = await postgres('alert_deliveries')
    .where({ alert_id: alertId })
    .orderBy(['transition', 'target'])
    .select('transition', 'target', 'status', 'attempts', 'error', 'ended_at');
  return checks.map(({ transition, ...check }) => ({
    ...check,
    deliveries: deliveries
      .filter((delivery) => delivery.transition === transition)
      .map(({ transition: _, target, ...delivery }) => ({ to: shownTarget(target), ...delivery })),
  }));
}
