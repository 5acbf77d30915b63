// Session routes of projects.
import type { Response } from 'express';
import { type GuardedRouter, membershipOf, projectIdOf } from '../access/guarded-router.js';
import { personOf } from '../access/session-middleware.js';
import { readRejected } from '../ingest/rejected/store.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import type { ProjectId } from '../platform/ids.js';
import { parseUsageRange } from '../usage/range.js';
import { readUsage } from '../usage/store.js';
import {
  addProject,
  listProjects,
  markProjectDeleted,
  requireProject,
  rotateSecretKey,
  updateProject,
} from './projects.js';
import type { AccountsDeps } from './routes.js';
import { projectBody, projectChanges, projectDeletionBody } from './schema.js';

export function addProjectRoutes({ on }: GuardedRouter, deps: AccountsDeps): void {
  const { postgres, redis, secretKeyBase, isCluster } = deps;
  const show = (res: Response, projectId: ProjectId) =>
    requireProject(postgres, projectId, { viewer: membershipOf(res).role, secretKeyBase });

  on('GET /api/orgs/{orgID}/projects', async (_req, res) => {
    const { organizationId, role } = membershipOf(res);
    res.json(await listProjects(postgres, organizationId, role));
  });

  on('POST /api/orgs/{orgID}/projects', readJsonBody, async (req, res) => {
    const { name } = parseJsonBody(projectBody, req.body);
    const { organizationId } = membershipOf(res);
    const id = await addProject(postgres, deps.quotas, { organizationId, name, secretKeyBase });
    res.status(201).json(await show(res, id));
  });

  on('GET /api/projects/{projectID}', async (_req, res) => {
    res.json(await show(res, projectIdOf(res)));
  });

  on('PATCH /api/projects/{projectID}', readJsonBody, async (req, res) => {
    await updateProject(postgres, projectIdOf(res), parseJsonBody(projectChanges, req.body));
    res.json(await show(res, projectIdOf(res)));
  });

  on('DELETE /api/projects/{projectID}', readJsonBody, async (req, res) => {
    const id = projectIdOf(res);
    const actor = { kind: 'person', id: personOf(res).personId };
    const deletion = parseJsonBody(projectDeletionBody, req.body);
    await markProjectDeleted(postgres, id, { deletion, actor, isCluster });
    res.json({ status: 'deleted', id });
  });

  on('POST /api/projects/{projectID}/rotate-secret-key', async (_req, res) => {
    await rotateSecretKey(postgres, projectIdOf(res), secretKeyBase);
    res.json(await show(res, projectIdOf(res)));
  });

  on('GET /api/projects/{projectID}/usage', async (req, res) => {
    res.json(await readUsage(postgres, projectIdOf(res), parseUsageRange(req.query, new Date())));
  });

  on('GET /api/projects/{projectID}/rejected', async (_req, res) => {
    res.json(await readRejected(redis, projectIdOf(res), Date.now()));
  });
}
