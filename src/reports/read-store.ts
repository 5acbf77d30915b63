// Reads reports with their runs for the routes: those of the project's dashboards, which every
// member may see. Targets are shown without their paths, which may be secrets.
import { IS_DASHBOARD } from '../alerts/claims.js';
import { listChecks } from '../alerts/read-store.js';
import { shownTarget } from '../alerts/targets.js';
import { compareTitles } from '../dashboards/compare-titles.js';
import { isUuid, type ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { ReportItem, RunItem } from './answers.js';

/** In the order of dashboards and documents. */
export async function listReports(postgres: Postgres, projectId: ProjectId): Promise<ReportItem[]> {
  const rows = await reportsOf(postgres, projectId).orderBy(['d.title', 'd.id', 'a.position']);
  rows.sort((a, b) => compareTitles(a.title, b.title));
  return rows.map(toItem);
}

export async function findReport(
  postgres: Postgres,
  projectId: ProjectId,
  id: string,
): Promise<ReportItem | undefined> {
  if (!isUuid(id)) return undefined;
  const [row] = await reportsOf(postgres, projectId).where('a.id', id);
  return row === undefined ? undefined : toItem(row);
}

/** By its key. Undefined for personal dashboards, for which no report runs. */
export const findReportable = (
  postgres: Postgres,
  projectId: ProjectId,
  key: string,
): Promise<NonNullable<ReportItem['dashboard']> | undefined> =>
  postgres('dashboards').where({ project_id: projectId, key, visibility: 'project' }).first('id', 'key', 'title');

const reportsOf = (postgres: Postgres, projectId: ProjectId) =>
  postgres('alerts AS a')
    .join('projects AS p', 'p.id', 'a.project_id')
    .joinRaw(`LEFT JOIN dashboards AS d ON ${IS_DASHBOARD}`)
    .where({ 'a.project_id': projectId, 'a.kind': 'report' })
    .select(
      'a.*',
      { d_id: 'd.id', d_key: 'd.key' },
      'd.title',
      postgres.raw('coalesce(a.timezone, p.timezone) AS zone'),
    );

// biome-ignore lint/suspicious/noExplicitAny: a row of the statement above
const toItem = (row: any): ReportItem => ({
  ...{ id: row.id, key: row.key, at: row.schedule, timezone: row.zone, to: row.targets.map(shownTarget) },
  written_in: row.dashboard_id === null ? 'definitions' : 'dashboard',
  dashboard: row.d_id === null ? null : { id: row.d_id, key: row.d_key, title: row.title },
  ...{ last_run_at: row.checked_at, next_due_at: row.next_due_at },
});

/** The newest first. */
export async function listRuns(postgres: Postgres, reportId: string): Promise<RunItem[]> {
  const checks = await listChecks(postgres, reportId);
  return checks.map(({ at, error, deliveries }) => ({ at, error, deliveries }));
}
