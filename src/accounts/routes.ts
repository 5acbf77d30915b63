// Account routes: organizations, members, invitations, domains, projects, tokens, usage. Their permissions are in the route
// matrix (src/access/route-matrix.ts).
import type { Router } from 'express';
import { createGuardedRouter, type GuardDeps } from '../access/guarded-router.js';
import type { LayeredRateLimit } from '../access/rate-limits.js';
import type { Redis } from '../platform/redis/client.js';
import { addAdminRoutes } from './admin-routes.js';
import { addDomainRoutes } from './domain-routes.js';
import type { InvitationMailer } from './invitation-mail.js';
import { addInvitationRoutes } from './invitation-routes.js';
import { addOrganizationRoutes } from './organization-routes.js';
import { addProjectRoutes } from './project-routes.js';
import type { Quotas } from './quotas.js';
import { addTokenRoutes } from './token-routes.js';
import type { FindTxtRecords } from './txt-records.js';

export interface AccountsDeps extends GuardDeps {
  readonly redis: Redis;
  /** Encrypts secret keys. */
  readonly secretKeyBase: string;
  /** Public base URL. */
  readonly publicUrl: URL;
  readonly invitationLimit: LayeredRateLimit;
  /** For mails only: a link in the response reaches only the caller. */
  readonly invitationMailLimit: LayeredRateLimit;
  readonly quotas: Quotas;
  readonly findTxtRecords: FindTxtRecords;
  /** Project deletion is not implemented for clusters. */
  readonly isCluster: boolean;
  /** Undefined without SMTP_URL: then the response contains the link. */
  readonly mailInvitation: InvitationMailer | undefined;
}

export function createAccountsRouter(deps: AccountsDeps): Router {
  const routes = createGuardedRouter(deps);
  addOrganizationRoutes(routes, deps);
  addInvitationRoutes(routes, deps);
  addDomainRoutes(routes, deps);
  addProjectRoutes(routes, deps);
  addTokenRoutes(routes, deps);
  addAdminRoutes(routes, deps);
  return routes.router;
}
