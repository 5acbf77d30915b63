// Routes of projects: the same for people, and for the admin key of an organization, which also
// sees the keys.
import type { Response } from 'express';
import { adminOf, type GuardedRouter, membershipOf, projectIdOf } from '../access/guarded-router.js';
import { personOf } from '../access/session-middleware.js';
import { readRejected } from '../ingest/rejected/store.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import type { OrganizationId, ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { Redis } from '../platform/redis/client.js';
import type { AuditActor } from '../privacy/audit-store.js';
import { parseUsageRange } from '../usage/range.js';
import { readUsage } from '../usage/store.js';
import {
  addProject,
  listProjects,
  markProjectDeleted,
  requireProject,
  rotateSecretKey,
  updateProject,
  type Viewer,
} from './projects.js';
import type { Quotas } from './quotas.js';
import { projectBody, projectChanges, projectDeletionBody } from './schema.js';

export interface ProjectRoutesDeps {
  readonly postgres: Postgres;
  readonly redis: Redis;
  /** Encrypts secret keys. */
  readonly secretKeyBase: string;
  readonly quotas: Quotas;
}

interface Caller {
  readonly organizationId: OrganizationId;
  readonly viewer: Viewer;
}

interface CallerRoutes {
  readonly all: '/api/orgs/{orgID}/projects' | '/api/admin/projects';
  readonly one: '/api/projects/{projectID}' | '/api/admin/projects/{projectID}';
  readonly callerOf: (res: Response) => Caller;
  readonly actorOf: (res: Response) => AuditActor;
}

export function addProjectRoutes(guarded: GuardedRouter, deps: ProjectRoutesDeps): void {
  addCallerRoutes(guarded, deps, {
    all: '/api/admin/projects',
    one: '/api/admin/projects/{projectID}',
    callerOf: (res) => ({ organizationId: adminOf(res).organizationId, viewer: 'admin_key' }),
    actorOf: (res) => ({ kind: 'admin', id: adminOf(res).id }),
  });
  addCallerRoutes(guarded, deps, {
    all: '/api/orgs/{orgID}/projects',
    one: '/api/projects/{projectID}',
    callerOf: (res) => ({ organizationId: membershipOf(res).organizationId, viewer: membershipOf(res).role }),
    actorOf: (res) => ({ kind: 'person', id: personOf(res).personId }),
  });
  guarded.on('GET /api/projects/{projectID}/rejected', async (_req, res) => {
    res.json(await readRejected(deps.redis, projectIdOf(res), Date.now()));
  });
  guarded.on('PATCH /api/projects/{projectID}', readJsonBody, async (req, res) => {
    await updateProject(deps.postgres, projectIdOf(res), parseJsonBody(projectChanges, req.body));
    const { secretKeyBase } = deps;
    res.json(await requireProject(deps.postgres, projectIdOf(res), { viewer: membershipOf(res).role, secretKeyBase }));
  });
}

function addCallerRoutes(
  { on }: GuardedRouter,
  deps: ProjectRoutesDeps,
  { all, one, callerOf, actorOf }: CallerRoutes,
) {
  const { postgres, secretKeyBase } = deps;
  const show = (res: Response, projectId: ProjectId) =>
    requireProject(postgres, projectId, { viewer: callerOf(res).viewer, secretKeyBase });

  on(`GET ${all}`, async (_req, res) => {
    const { organizationId, viewer } = callerOf(res);
    res.json(await listProjects(postgres, organizationId, viewer));
  });

  on(`POST ${all}`, readJsonBody, async (req, res) => {
    const { name } = parseJsonBody(projectBody, req.body);
    const { organizationId } = callerOf(res);
    const id = await addProject(postgres, deps.quotas, { organizationId, name, secretKeyBase });
    res.status(201).json(await show(res, id));
  });

  on(`GET ${one}`, async (_req, res) => {
    res.json(await show(res, projectIdOf(res)));
  });

  on(`DELETE ${one}`, readJsonBody, async (req, res) => {
    const id = projectIdOf(res);
    const deletion = parseJsonBody(projectDeletionBody, req.body);
    await markProjectDeleted(postgres, id, { deletion, actor: actorOf(res) });
    res.json({ status: 'deleted', id });
  });

  on(`POST ${one}/rotate-secret-key`, async (_req, res) => {
    await rotateSecretKey(postgres, projectIdOf(res), secretKeyBase);
    res.json(await show(res, projectIdOf(res)));
  });

  on(`GET ${one}/usage`, async (req, res) => {
    res.json(await readUsage(postgres, projectIdOf(res), parseUsageRange(req.query, new Date())));
  });
}
