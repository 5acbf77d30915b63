// Admin-key routes: projects of an organization, including their keys.

import { adminOf, type GuardedRouter, projectIdOf } from '../access/guarded-router.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import type { ProjectId } from '../platform/ids.js';
import { parseUsageRange } from '../usage/range.js';
import { readUsage } from '../usage/store.js';
import { addProject, listProjects, markProjectDeleted, requireProject, rotateSecretKey } from './projects.js';
import type { AccountsDeps } from './routes.js';
import { projectBody, projectDeletionBody } from './schema.js';

export function addAdminRoutes({ on }: GuardedRouter, deps: AccountsDeps): void {
  const { postgres, secretKeyBase, isCluster } = deps;
  const show = (projectId: ProjectId) => requireProject(postgres, projectId, { viewer: 'admin_key', secretKeyBase });

  on('GET /api/admin/projects', async (_req, res) => {
    res.json(await listProjects(postgres, adminOf(res).organizationId, 'admin_key'));
  });

  on('POST /api/admin/projects', readJsonBody, async (req, res) => {
    const { name } = parseJsonBody(projectBody, req.body);
    const { organizationId } = adminOf(res);
    const id = await addProject(postgres, deps.quotas, { organizationId, name, secretKeyBase });
    res.status(201).json(await show(id));
  });

  on('GET /api/admin/projects/{projectID}', async (_req, res) => {
    res.json(await show(projectIdOf(res)));
  });

  on('DELETE /api/admin/projects/{projectID}', readJsonBody, async (req, res) => {
    const id = projectIdOf(res);
    const actor = { kind: 'admin', id: adminOf(res).id };
    const deletion = parseJsonBody(projectDeletionBody, req.body);
    await markProjectDeleted(postgres, id, { deletion, actor, isCluster });
    res.json({ status: 'deleted', id });
  });

  on('POST /api/admin/projects/{projectID}/rotate-secret-key', async (_req, res) => {
    await rotateSecretKey(postgres, projectIdOf(res), secretKeyBase);
    res.json(await show(projectIdOf(res)));
  });

  on('GET /api/admin/projects/{projectID}/usage', async (req, res) => {
    res.json(await readUsage(postgres, projectIdOf(res), parseUsageRange(req.query, new Date())));
  });
}
