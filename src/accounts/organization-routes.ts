// Routes of organizations, members, invitations and domains.
import type { Request } from 'express';
import { type GuardedRouter, membershipOf } from '../access/guarded-router.js';
import { personOf } from '../access/session-middleware.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import { toOrganizationId } from '../platform/ids.js';
import { claimDomain, verifyDomain } from './domains.js';
import { acceptInvitation, createInvitation } from './invitations.js';
import { changeRole, listMembers, removeMember } from './members.js';
import type { AccountsDeps } from './routes.js';
import { domainBody, invitationBody, memberBody, organizationBody } from './schema.js';
import { createOrganization, listOrganizations, requireOrganization, rotateAdminKey } from './store.js';

export function addOrganizationRoutes({ on }: GuardedRouter, deps: AccountsDeps): void {
  const { postgres } = deps;

  on('GET /api/orgs', async (_req, res) => {
    res.json(await listOrganizations(postgres, personOf(res).personId));
  });

  on('POST /api/orgs', readJsonBody, async (req, res) => {
    const { name } = parseJsonBody(organizationBody, req.body);
    const { personId } = personOf(res);
    const created = await createOrganization(postgres, { name, ownerId: personId });
    const organization = await requireOrganization(postgres, personId, created.id);
    res.status(201).json({ ...organization, admin_key: created.adminKey });
  });

  on('GET /api/orgs/{orgID}', async (_req, res) => {
    res.json(await requireOrganization(postgres, personOf(res).personId, membershipOf(res).organizationId));
  });

  on('POST /api/orgs/{orgID}/rotate-admin-key', async (_req, res) => {
    res.json({ admin_key: await rotateAdminKey(postgres, membershipOf(res).organizationId) });
  });

  on('GET /api/orgs/{orgID}/members', async (_req, res) => {
    res.json(await listMembers(postgres, membershipOf(res).organizationId));
  });

  on('PATCH /api/orgs/{orgID}/members/{userID}', readJsonBody, async (req, res) => {
    const { role } = parseJsonBody(memberBody, req.body);
    res.json(await changeRole(postgres, memberKeyOf(req), role));
  });

  on('DELETE /api/orgs/{orgID}/members/{userID}', async (req, res) => {
    const key = memberKeyOf(req);
    await removeMember(postgres, key);
    res.json({ status: 'removed', user_id: key.personId });
  });

  on('POST /api/orgs/{orgID}/invitations', readJsonBody, async (req, res) => {
    const { email, role } = parseJsonBody(invitationBody, req.body);
    const { personId } = personOf(res);
    const { organizationId } = membershipOf(res);
    await deps.invitationLimit.take(organizationId);
    const invitation = await createInvitation(postgres, organizationId, { email, role, invitedBy: personId });
    const link = { token: invitation.token, accept_url: acceptUrlOf(deps.publicUrl, invitation.token) };
    if (deps.mailInvitation !== undefined) {
      const { name } = await requireOrganization(postgres, personId, organizationId);
      await deps.mailInvitation({ email, organization: name, acceptUrl: link.accept_url });
    }
    // Once it is in the mail, the link is for the one who reads that mail.
    const shown = deps.mailInvitation === undefined ? link : { token: null, accept_url: null };
    res.status(201).json({ ...invitation, ...shown });
  });

  on('POST /api/invitations/{token}/accept', async (req, res) => {
    const person = personOf(res);
    const organizationId = await acceptInvitation(postgres, String(req.params.token), person);
    res.json(await requireOrganization(postgres, person.personId, organizationId));
  });

  on('POST /api/orgs/{orgID}/domains', readJsonBody, async (req, res) => {
    const { domain } = parseJsonBody(domainBody, req.body);
    res.status(201).json(await claimDomain(postgres, membershipOf(res).organizationId, domain));
  });

  on('POST /api/orgs/{orgID}/domains/{domainID}/verify', async (req, res) => {
    const { organizationId } = membershipOf(res);
    const domainId = String(req.params.domainID);
    res.json(await verifyDomain(postgres, deps.findTxtRecords, { organizationId, domainId }));
  });
}

/** The guard has seen to it that the organization of the path is the caller's. */
const memberKeyOf = (req: Request) => ({
  organizationId: toOrganizationId(String(req.params.orgID)),
  personId: String(req.params.userID),
});

const acceptUrlOf = (publicUrl: URL, token: string): string => new URL(`/invitations/${token}`, publicUrl).href;
