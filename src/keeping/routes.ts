// Routes of keeping: the edges, what the next night will delete (a dry run), and the receipts.
import { rateSubjectsOf } from '../access/credentials.js';
import { createGuardedRouter, type GuardDeps, projectIdOf } from '../access/guarded-router.js';
import { credentialOf } from '../access/middleware.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { personOf } from '../access/session-middleware.js';
import type { RunAlertQuery } from '../alerts/run-query.js';
import { findDefinitions } from '../definitions/store.js';
import type { ProjectId } from '../platform/ids.js';
import type { KeptEvents } from './answers.js';
import { countDue } from './count-due.js';
import { listReceipts, showEdge } from './store.js';

export interface KeepingRouterDeps extends GuardDeps {
  /** Each read counts events, as queries do. */
  readonly rateLimit: LayeredRateLimit;
  readonly runQuery: RunAlertQuery;
}

export function createKeepingRouter(deps: KeepingRouterDeps) {
  const { postgres, rateLimit, runQuery } = deps;
  const { router, on } = createGuardedRouter(deps);

  async function show(projectId: ProjectId): Promise<KeptEvents> {
    const keep = (await findDefinitions(postgres, projectId))?.content.keep;
    const signal = AbortSignal.timeout(60_000);
    const edges = keep === undefined ? [] : await countDue(runQuery, { projectId, keep, signal }, Date.now());
    return {
      edges: edges.map(({ due, ...edge }) => ({ ...showEdge(edge), due })),
      receipts: await listReceipts(postgres, projectId),
    };
  }

  on('GET /api/definitions/keep', async (_req, res) => {
    const credential = credentialOf(res);
    await rateLimit.take(rateSubjectsOf(credential));
    res.json(await show(credential.projectId));
  });
  on('GET /api/projects/{projectID}/definitions/keep', async (_req, res) => {
    const [projectId, { personId }] = [projectIdOf(res), personOf(res)];
    await rateLimit.take({ key: personId, project: projectId, person: personId });
    res.json(await show(projectId));
  });
  return router;
}
