// Routes of invitations: owners send, list and revoke them; the invited person accepts.
import { type GuardedRouter, membershipOf } from '../access/guarded-router.js';
import { digestKey } from '../access/keys.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import { personOf } from '../access/session-middleware.js';
import { parseJsonBody, readJsonBody } from '../platform/http/json-body.js';
import type { Postgres } from '../platform/postgres/client.js';
import type { InvitationMailer } from './invitation-mail.js';
import {
  acceptInvitation,
  createInvitation,
  listInvitations,
  requireNoMember,
  revokeInvitation,
} from './invitations.js';
import { invitationBody } from './schema.js';
import { requireOrganization } from './store.js';

export interface InvitationRoutesDeps {
  readonly postgres: Postgres;
  readonly publicUrl: URL;
  readonly invitationLimit: LayeredRateLimit;
  /** For mails only: a link in the response reaches only the caller. */
  readonly invitationMailLimit: LayeredRateLimit;
  /** Undefined without SMTP_URL: then the response contains the link. */
  readonly mailInvitation: InvitationMailer | undefined;
}

export function addInvitationRoutes({ on }: GuardedRouter, deps: InvitationRoutesDeps): void {
  const { postgres } = deps;

  on('GET /api/orgs/{orgID}/invitations', async (_req, res) => {
    res.json(await listInvitations(postgres, membershipOf(res).organizationId));
  });

  on('POST /api/orgs/{orgID}/invitations', readJsonBody, async (req, res) => {
    const { email, role } = parseJsonBody(invitationBody, req.body);
    const { personId } = personOf(res);
    const { organizationId } = membershipOf(res);
    await requireNoMember(postgres, organizationId, email);
    await deps.invitationLimit.take({ organization: organizationId, person: personId });
    if (deps.mailInvitation !== undefined) {
      const address = digestKey(email).toString('base64url');
      const subjects = { personAndAddress: `${personId} ${address}`, address, installation: 'all' };
      await deps.invitationMailLimit.take(subjects);
    }
    const invitation = await createInvitation(postgres, organizationId, { email, role, invitedBy: personId });
    const link = { token: invitation.token, accept_url: acceptUrlOf(deps.publicUrl, invitation.token) };
    if (deps.mailInvitation !== undefined) {
      const { name } = await requireOrganization(postgres, personId, organizationId);
      await deps.mailInvitation({ email, organization: name, acceptUrl: link.accept_url });
    }
    // When the link is mailed, only the reader of the mail may get it.
    const shown = deps.mailInvitation === undefined ? link : { token: null, accept_url: null };
    res.status(201).json({ ...invitation, ...shown });
  });

  on('DELETE /api/orgs/{orgID}/invitations/{invitationID}', async (req, res) => {
    const invitationId = String(req.params.invitationID);
    await revokeInvitation(postgres, { organizationId: membershipOf(res).organizationId, invitationId });
    res.json({ status: 'revoked', id: invitationId });
  });

  on('POST /api/invitations/{token}/accept', async (req, res) => {
    const person = personOf(res);
    const organizationId = await acceptInvitation(postgres, String(req.params.token), person);
    res.json(await requireOrganization(postgres, person.personId, organizationId));
  });
}

const acceptUrlOf = (publicUrl: URL, token: string): string => new URL(`/invitations/${token}`, publicUrl).href;
