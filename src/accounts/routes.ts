// The routes of organizations and what belongs to them. Who may use each stands in src/access/route-matrix.ts.
import type { Router } from 'express';
import { createGuardedRouter, type GuardDeps } from '../access/guarded-router.js';
import { personOf } from '../access/session-middleware.js';
import { listOrganizations } from './store.js';

export function createAccountsRouter(deps: GuardDeps): Router {
  const { router, on } = createGuardedRouter(deps);
  on('GET /api/orgs', async (_req, res) => {
    res.json(await listOrganizations(deps.postgres, personOf(res).personId));
  });
  return router;
}
