// Routes of reports for signed-in people: list, last runs, and dry runs.
import type { Response, Router } from 'express';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { personOf } from '../access/session-middleware.js';
import type { RunAlertQuery } from '../alerts/run-query.js';
import { PublicError } from '../platform/errors.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import { untilClosed } from '../platform/http/until-closed.js';
import type { ReportDryRun, ReportItem } from './answers.js';
import { toHtml, toSubject, toText } from './message.js';
import { findReport, findReportable, listReports, listRuns } from './read-store.js';
import { findSentDashboard } from './report-store.js';
import { runCards } from './run-cards.js';
import { toMessage } from './run-due.js';
import { reportDryRunBody } from './schema.js';

export interface ReportRoutesDeps extends GuardDeps {
  readonly rateLimit: LayeredRateLimit;
  readonly runQuery: RunAlertQuery;
  readonly publicUrl: URL;
}

const ALL = '/api/projects/{projectID}/reports';
const ONE = `${ALL}/{reportID}` as const;
/** The client waits for it. */
const DRY_RUN_MS = 60_000;

export function createReportsRouter(deps: ReportRoutesDeps): Router {
  const { postgres, rateLimit } = deps;
  const { router, on } = createGuardedRouter(deps);
  const requireReport = async (res: Response, id: unknown): Promise<ReportItem> => {
    const report = await findReport(postgres, projectIdOf(res), String(id));
    if (report === undefined) throw noSuchReport();
    return report;
  };

  on(`GET ${ALL}`, async (_req, res) => {
    res.json(await listReports(postgres, projectIdOf(res)));
  });
  on(`POST ${ALL}/dry-run`, readJsonBody, async (req, res) => {
    const [projectId, { personId }] = [projectIdOf(res), personOf(res)];
    await rateLimit.take({ key: personId, project: projectId, person: personId });
    const { dashboard: key, at, timezone } = parseJsonBody(reportDryRunBody, req.body);
    const dashboard = await findReportable(postgres, projectId, key);
    if (dashboard === undefined) {
      throw new PublicError('not_found', `the project has no dashboard "${key}" that all its members see`);
    }
    const answer = await dryRun(deps, res, { key: 'report', dashboard, at, timezone });
    if (answer !== undefined) res.json(answer);
  });
  on(`POST ${ONE}/dry-run`, async (req, res) => {
    const report = await requireReport(res, req.params.reportID);
    const [projectId, { personId }] = [projectIdOf(res), personOf(res)];
    await rateLimit.take({ key: personId, project: projectId, person: personId });
    const answer = await dryRun(deps, res, report);
    if (answer !== undefined) res.json(answer);
  });
  on(`GET ${ONE}/runs`, async (req, res) => {
    const { id } = await requireReport(res, req.params.reportID);
    res.json(await listRuns(postgres, id));
  });
  return router;
}

const noSuchReport = () => new PublicError('not_found', 'there is no such report');

type Asked = Pick<ReportItem, 'key' | 'dashboard' | 'at'> & {
  /** Undefined: that of the dashboard, else that of the project. */
  readonly timezone: string | undefined;
};

/** What would be sent now; stores and sends nothing. Undefined when the client has disconnected. */
async function dryRun(
  { postgres, runQuery, publicUrl }: ReportRoutesDeps,
  res: Response,
  report: Asked,
): Promise<ReportDryRun | undefined> {
  const [projectId, { personId }] = [projectIdOf(res), personOf(res)];
  const { dashboard } = report;
  const sent = await findSentDashboard(postgres, dashboard?.id);
  if (dashboard === null || sent === undefined)
    throw new PublicError('not_found', 'the dashboard of the report does not exist');
  const signal = untilClosed(res);
  const cards = await runCards({ projectId, personId, runQuery, ...sent, withinMs: DRY_RUN_MS, signal });
  if (cards === undefined) return undefined;
  const timezone = report.timezone ?? sent.config.timezone ?? sent.timezone;
  const run = { schedule: report.at, timezone, at: new Date() };
  const message = toMessage({ publicUrl }, { ...report, dashboard, projectId, dashboardKey: dashboard.key }, run);
  // A link that unsubscribes belongs to a mailbox.
  const unsubscribeUrl = '#';
  return {
    subject: toSubject(message),
    text: toText(message, cards),
    html: toHtml(message, cards, unsubscribeUrl),
    cards,
  };
}
