// Routes of dashboards: PUT and DELETE /api/dashboard-sync/{dashboardKey} for credentials, which
// determine the project; list, read, delete and card queries for signed-in people.
import type { Router } from 'express';
import { rateSubjectsOf } from '../access/credentials.js';
import { createGuardedRouter, projectIdOf } from '../access/guarded-router.js';
import { credentialOf } from '../access/middleware.js';
import { personOf } from '../access/session-middleware.js';
import { readQueryNames } from '../definitions/query-names.js';
import { parseParameters, readJsonBody } from '../platform/http/json-body.js';
import { deleteDashboard, deleteDashboardByKey } from './delete-dashboard.js';
import { addEditRoutes } from './edit-routes.js';
import { fillCard } from './fill-template.js';
import { type DashboardDeps, readSyncBody, signedInWriter, toAnswer, toDryAnswer, writerOf } from './requests.js';
import { deletionQuery, parseDashboardKey, parseFillBody, syncQuery } from './schema.js';
import { listDashboards, requireCard, requireDashboard, syncDashboard } from './store.js';
import { syncTask } from './sync-task.js';

export function createDashboardsRouter(deps: DashboardDeps): Router {
  const { postgres, rateLimit, threads, settings } = deps;
  const { router, on } = createGuardedRouter(deps);

  on('PUT /api/dashboard-sync/{dashboardKey}', readSyncBody, async (req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    const key = parseDashboardKey(String(req.params.dashboardKey));
    const isDryRun = parseParameters(syncQuery, req.query).dry_run === 'true';
    const { projectId, timezone } = credential;
    const context = {
      ...{ key, projectId, timezone, nowMs: Date.now(), privateAddresses: settings.WEBHOOK_PRIVATE_ADDRESSES },
      ...(await readQueryNames(deps, projectId)),
    };
    const checked = await threads.run(syncTask, { body: req.body ?? Buffer.alloc(0), context }, projectId);
    const sync = { ...checked, ...writerOf(credential), key, settings, isSynced: true, isDryRun };
    const synced = await syncDashboard(postgres, sync);
    res.status(synced.isNew && !isDryRun ? 201 : 200).json(isDryRun ? toDryAnswer(synced) : toAnswer(synced));
  });
  on('DELETE /api/dashboard-sync/{dashboardKey}', async (req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    const key = parseDashboardKey(String(req.params.dashboardKey));
    const { visibility } = parseParameters(deletionQuery, req.query);
    const id = await deleteDashboardByKey(postgres, writerOf(credential), { key, visibility });
    res.json({ status: 'deleted', id });
  });
  on('GET /api/projects/{projectID}/dashboards', async (_req, res) => {
    res.json(await listDashboards(postgres, { projectId: projectIdOf(res), personId: personOf(res).personId }));
  });
  on('GET /api/projects/{projectID}/dashboards/{dashboardID}', async (req, res) => {
    const reader = { projectId: projectIdOf(res), personId: personOf(res).personId };
    res.json(await requireDashboard(postgres, reader, String(req.params.dashboardID)));
  });
  on('DELETE /api/projects/{projectID}/dashboards/{dashboardID}', async (req, res) => {
    const id = await deleteDashboard(postgres, signedInWriter(res), String(req.params.dashboardID));
    res.json({ status: 'deleted', id });
  });
  on(
    'POST /api/projects/{projectID}/dashboards/{dashboardID}/cards/{cardID}/queries',
    readJsonBody,
    async (req, res) => {
      const reader = { projectId: projectIdOf(res), personId: personOf(res).personId };
      const { config, card, timezone } = await requireCard(postgres, reader, {
        dashboardId: String(req.params.dashboardID),
        cardId: String(req.params.cardID),
      });
      const { variables } = parseFillBody(req.body ?? {});
      const filled = fillCard(config, card, new Map(Object.entries(variables)));
      res.json(filled.map(({ name, text }) => ({ name: name ?? card.title, q: text, timezone })));
    },
  );
  addEditRoutes({ router, on }, deps);
  return router;
}
