// Routes of dashboards: PUT and DELETE /api/dashboard-sync/{dashboardKey} for credentials, which
// determine the project; list, read, delete and card queries for signed-in people.
import express, { type Response, type Router } from 'express';
import { type Credential, rateSubjectsOf } from '../access/credentials.js';
import { createGuardedRouter, type GuardDeps, membershipOf, projectIdOf } from '../access/guarded-router.js';
import { credentialOf } from '../access/middleware.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { isAtLeast } from '../access/roles.js';
import { personOf } from '../access/session-middleware.js';
import type { Quotas } from '../accounts/quotas.js';
import { parseFields, readJsonBody } from '../platform/http/json-body.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import { deleteDashboard, deleteDashboardByKey } from './delete-dashboard.js';
import { fillCard } from './fill-template.js';
import { deletionQuery, parseDashboardKey, parseFillBody, SOURCE_BYTES_MAX } from './schema.js';
import { listDashboards, requireCard, requireDashboard, type Synced, syncDashboard, type Writer } from './store.js';
import { syncTask } from './sync-task.js';

export interface DashboardDeps extends GuardDeps {
  /**
   * Limit of syncs and deletions. A sync compiles every query of the document, so it counts like a
   * query.
   */
  readonly rateLimit: LayeredRateLimit;
  /** Where documents are parsed and checked. */
  readonly threads: ThreadPool;
  readonly quotas: Quotas;
}

// Escaping every character makes a text six times as long.
const readSyncBody = express.raw({ type: () => true, limit: 6 * SOURCE_BYTES_MAX + 1024 });

export function createDashboardsRouter(deps: DashboardDeps): Router {
  const { postgres, rateLimit, threads, quotas } = deps;
  const { router, on } = createGuardedRouter(deps);

  on('PUT /api/dashboard-sync/{dashboardKey}', readSyncBody, async (req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    const key = parseDashboardKey(String(req.params.dashboardKey));
    const { projectId, timezone } = credential;
    const context = { key, projectId, timezone, nowMs: Date.now() };
    const checked = await threads.run(syncTask, { body: req.body ?? Buffer.alloc(0), context }, projectId);
    const synced = await syncDashboard(postgres, { ...checked, ...writerOf(credential), key, quotas });
    res.status(synced.isNew ? 201 : 200).json(toAnswer(synced));
  });
  on('DELETE /api/dashboard-sync/{dashboardKey}', async (req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    const key = parseDashboardKey(String(req.params.dashboardKey));
    const { visibility } = parseFields(deletionQuery, req.query);
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
  return router;
}

const writerOf = ({ projectId, personId, role = 'member' }: Credential): Writer => ({
  ...{ projectId, personId },
  isProjectEditor: personId === undefined || isAtLeast(role, 'admin'),
});

const signedInWriter = (res: Response): Writer => ({
  ...{ projectId: projectIdOf(res), personId: personOf(res).personId },
  isProjectEditor: isAtLeast(membershipOf(res).role, 'admin'),
});

const toAnswer = ({ dashboard, isChanged, isMetadataChanged }: Synced) => ({
  dashboard,
  changed: isChanged,
  metadata_changed: isMetadataChanged,
});
