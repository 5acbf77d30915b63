// Routes of organizations and their members, and of people who leave.
import type { Request, Response } from 'express';
import { type GuardedRouter, membershipOf } from '../access/guarded-router.js';
import { clearSessionCookie } from '../access/session-cookie.js';
import { personOf, type SessionGuards } from '../access/session-middleware.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import { toOrganizationId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { deleteOrganization } from './delete-organization.js';
import { changeRole, leaveOrganization, listMembers, removeMember } from './members.js';
import { deletePerson } from './people.js';
import type { Quotas } from './quotas.js';
import { requireOrganizationQuota } from './quotas.js';
import { accountDeletionBody, leavingBody, memberBody, organizationBody, organizationDeletionBody } from './schema.js';
import {
  createOrganization,
  listOrganizations,
  renameOrganization,
  requireOrganization,
  rotateAdminKey,
} from './store.js';

export interface OrganizationRoutesDeps {
  readonly postgres: Postgres;
  readonly quotas: Quotas;
  readonly sessions: Pick<SessionGuards, 'publicUrl'>;
}

export function addOrganizationRoutes({ on }: GuardedRouter, deps: OrganizationRoutesDeps): void {
  const { postgres, quotas } = deps;
  const { publicUrl } = deps.sessions;
  on('GET /api/orgs', async (_req, res) => {
    res.json(await listOrganizations(postgres, personOf(res).personId));
  });

  on('POST /api/orgs', readJsonBody, async (req, res) => {
    const { name } = parseJsonBody(organizationBody, req.body);
    const { personId } = personOf(res);
    const created = await postgres.transaction(async (transaction) => {
      await requireOrganizationQuota(transaction, quotas, personId);
      return createOrganization(transaction, { name, ownerId: personId });
    });
    const organization = await requireOrganization(postgres, personId, created.id);
    res.status(201).json({ ...organization, admin_key: created.adminKey });
  });

  on('GET /api/orgs/{orgID}', async (_req, res) => {
    res.json(await requireOrganization(postgres, personOf(res).personId, membershipOf(res).organizationId));
  });

  on('PATCH /api/orgs/{orgID}', readJsonBody, async (req, res) => {
    const { name } = parseJsonBody(organizationBody, req.body);
    const { organizationId } = membershipOf(res);
    await renameOrganization(postgres, organizationId, name);
    res.json(await requireOrganization(postgres, personOf(res).personId, organizationId));
  });

  on('DELETE /api/orgs/{orgID}', readJsonBody, async (req, res) => {
    const deletion = parseJsonBody(organizationDeletionBody, req.body);
    const { organizationId } = membershipOf(res);
    await deleteOrganization(postgres, { organizationId, personId: personOf(res).personId }, deletion);
    res.json({ status: 'deleted', id: organizationId });
  });

  on('POST /api/orgs/{orgID}/rotate-admin-key', async (_req, res) => {
    res.json({ admin_key: await rotateAdminKey(postgres, membershipOf(res).organizationId) });
  });

  on('GET /api/orgs/{orgID}/members', async (_req, res) => {
    res.json(await listMembers(postgres, membershipOf(res).organizationId));
  });

  on('PATCH /api/orgs/{orgID}/members/{userID}', readJsonBody, async (req, res) => {
    const { role } = parseJsonBody(memberBody, req.body);
    res.json(await changeRole(postgres, changeOf(req, res), role));
  });

  on('DELETE /api/orgs/{orgID}/members/{userID}', async (req, res) => {
    const key = changeOf(req, res);
    await removeMember(postgres, key);
    res.json({ status: 'removed', user_id: key.personId });
  });

  on('DELETE /api/me/orgs/{orgID}', readJsonBody, async (req, res) => {
    const leaving = parseJsonBody(leavingBody, req.body);
    const { organizationId } = membershipOf(res);
    await leaveOrganization(postgres, { organizationId, personId: personOf(res).personId }, leaving);
    res.json({ status: 'left', id: organizationId });
  });

  on('DELETE /api/me', readJsonBody, async (req, res) => {
    parseJsonBody(accountDeletionBody, req.body);
    const { personId } = personOf(res);
    await deletePerson(postgres, personId);
    clearSessionCookie(res, publicUrl);
    res.json({ status: 'deleted', id: personId });
  });
}

/** The guard has checked that the caller belongs to this organization. */
const changeOf = (req: Request, res: Response) => ({
  organizationId: toOrganizationId(String(req.params.orgID)),
  personId: String(req.params.userID),
  by: personOf(res).personId,
});
