// PUT /api/dashboard-sync/{dashboardKey}, the dashboards that a signed-in person sees, and the queries of their cards. The project of a sync comes from the
// credential alone.
import express, { type Router } from 'express';
import { rateKeyOf } from '../access/credentials.js';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import { credentialOf } from '../access/middleware.js';
import type { RateLimit } from '../access/rate-limits.js';
import { personOf } from '../access/session-middleware.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import { fillCard } from './fill-template.js';
import { parseDashboard } from './parse-dashboard.js';
import { fillBodySchema, parseDashboardKey, parseSyncBody, SOURCE_BYTES_MAX } from './schema.js';
import { listDashboards, requireCard, requireDashboard, type Synced, syncDashboard } from './store.js';

export interface DashboardDeps extends GuardDeps {
  /** A sync compiles every query of the document: it counts as a query does. */
  readonly rateLimit: RateLimit;
}

// A text is six times as long when every character of it is escaped.
const readSyncBody = express.json({ type: () => true, limit: 6 * SOURCE_BYTES_MAX + 1024, strict: false });

export function createDashboardsRouter(deps: DashboardDeps): Router {
  const { postgres, rateLimit } = deps;
  const { router, on } = createGuardedRouter(deps);

  on('PUT /api/dashboard-sync/{dashboardKey}', readSyncBody, async (req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateKeyOf(credential));
    const key = parseDashboardKey(String(req.params.dashboardKey));
    const { source_yaml: sourceYaml, visibility } = parseSyncBody(req.body);
    const { projectId, timezone, personId } = credential;
    const parsed = parseDashboard(sourceYaml, { key, projectId, timezone, nowMs: Date.now() });
    const synced = await syncDashboard(postgres, { ...parsed, key, projectId, personId, visibility, sourceYaml });
    res.status(synced.isNew ? 201 : 200).json(toAnswer(synced));
  });
  on('GET /api/projects/{projectID}/dashboards', async (_req, res) => {
    res.json(await listDashboards(postgres, { projectId: projectIdOf(res), personId: personOf(res).personId }));
  });
  on('GET /api/projects/{projectID}/dashboards/{dashboardID}', async (req, res) => {
    const reader = { projectId: projectIdOf(res), personId: personOf(res).personId };
    res.json(await requireDashboard(postgres, reader, String(req.params.dashboardID)));
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
      const { variables } = parseJsonBody(fillBodySchema, req.body ?? {});
      const filled = fillCard(config, card, new Map(Object.entries(variables)));
      res.json(filled.map(({ name, text }) => ({ name: name ?? card.title, q: text, timezone })));
    },
  );
  return router;
}

const toAnswer = ({ dashboard, isChanged, isMetadataChanged }: Synced) => ({
  dashboard,
  changed: isChanged,
  metadata_changed: isMetadataChanged,
});
