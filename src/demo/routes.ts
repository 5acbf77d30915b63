// Routes of the demo project of an organization: load it, watch the progress, delete it. A worker
// loads it (workers/load-demo.ts).
import type { Router } from 'express';
import { createGuardedRouter, type GuardDeps, membershipOf } from '../access/guarded-router.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { personOf } from '../access/session-middleware.js';
import { PublicError } from '../platform/errors.js';
import type { OrganizationId } from '../platform/ids.js';
import { readNow } from '../platform/postgres/read-now.js';
import type { DemoState } from './answers.js';
import { deleteDemo, findDemo } from './create-demo.js';
import { type DemoQueue, enqueueDemo, findDemoJob } from './queue.js';
import { QUESTIONS } from './stories.js';

export interface DemoRoutesDeps extends GuardDeps {
  readonly queue: DemoQueue;
  readonly limit: LayeredRateLimit;
  /** Where workers reach the service. */
  readonly url: () => string;
}

const EMPTY = { events: 0, users: 0, share: 0, error: null, questions: QUESTIONS } as const;

export function createDemoRouter(deps: DemoRoutesDeps): Router {
  const { postgres, queue } = deps;
  const { router, on } = createGuardedRouter(deps);

  async function readState(organizationId: OrganizationId): Promise<DemoState> {
    // The job first: it is removed after the project is complete.
    const job = await findDemoJob(queue, organizationId);
    const project = await findDemo(postgres, organizationId);
    const projectId = project?.id ?? null;
    if (job !== undefined && (job.status !== 'failed' || project === undefined)) {
      const { status, progress, error } = job;
      return { ...EMPTY, ...progress, status, project_id: projectId, error };
    }
    if (project === undefined) return { ...EMPTY, status: 'none', project_id: null };
    return { ...EMPTY, status: 'ready', project_id: projectId, share: 1 };
  }

  on('GET /api/orgs/{orgID}/demo', async (_req, res) => {
    res.json(await readState(membershipOf(res).organizationId));
  });

  on('POST /api/orgs/{orgID}/demo', async (_req, res) => {
    const { organizationId } = membershipOf(res);
    const { personId } = personOf(res);
    const { status } = await readState(organizationId);
    if (status === 'ready') {
      throw new PublicError('bad_request', 'the organization has a demo project already; delete it to load a new one');
    }
    if (status === 'none' || status === 'failed') {
      await deps.limit.take({ organization: organizationId, person: personId });
      const job = { version: 1, organizationId, personId, url: deps.url() } as const;
      await enqueueDemo(queue, { ...job, askedAtMs: await readNow(postgres) });
    }
    res.status(202).json(await readState(organizationId));
  });

  on('DELETE /api/orgs/{orgID}/demo', async (_req, res) => {
    const { organizationId } = membershipOf(res);
    const { status } = await readState(organizationId);
    if (status === 'waiting' || status === 'loading') {
      throw new PublicError('bad_request', 'the demo project is being loaded; delete it when that is done');
    }
    const actor = { kind: 'person', id: personOf(res).personId };
    const project = await deleteDemo({ postgres }, { organizationId, actor });
    if (project === undefined) throw new PublicError('not_found', 'the organization has no demo project');
    res.json({ status: 'deleted', id: project.id });
  });
  return router;
}
