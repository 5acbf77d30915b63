// Checks `alerts:` and `reports:` of definitions, as those of a dashboard: queries with the
// definitions of the same document, and the dashboards that reports name.
import { checkAlerts } from '../alerts/check-alerts.js';
import { checkTargets, type TargetsContext } from '../alerts/check-targets.js';
import { newBudget, type QueryContext } from '../dashboards/check-queries.js';
import type { DashboardProblem } from '../dashboards/problems.js';
import type { YamlSource } from '../dashboards/yaml-source.js';
import { findNearest, quote } from '../query/errors.js';
import { checkReports } from '../reports/check-reports.js';
import type { DefinitionsDocument } from './config-schema.js';

export interface AlertsContext extends QueryContext, TargetsContext {
  /** Keys of the dashboards of the project. */
  readonly dashboards: readonly string[];
}

export function checkAlertsOf(
  source: YamlSource,
  { reports = [] }: DefinitionsDocument,
  { dashboards, ...context }: AlertsContext,
): DashboardProblem[] {
  const unknown = reports.flatMap(({ dashboard }, index) => {
    if (dashboards.includes(dashboard)) return [];
    const nearest = findNearest(dashboard, dashboards);
    const hint = nearest === undefined ? 'store the dashboard first' : `nearest is "${nearest}"`;
    const message = `the project has no dashboard ${quote(dashboard)}`;
    return [source.problemAt(['reports', index, 'dashboard'], { message, hint })];
  });
  const ofAlerts = checkAlerts({ source, context, budget: newBudget() });
  return [...ofAlerts, ...checkReports(source), ...checkTargets(source, context), ...unknown];
}
