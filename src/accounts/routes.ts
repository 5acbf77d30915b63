// The routes of organizations and what belongs to them: members, invitations, domains, projects, tokens, usage. Who may use
// each stands in src/access/route-matrix.ts; here is what it does.
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
  /** What secret keys are encrypted with. */
  readonly secretKeyBase: string;
  /** The address people reach the service by. */
  readonly publicUrl: URL;
  readonly invitationLimit: LayeredRateLimit;
  /** Taken for mails alone: a link in the answer reaches no one who did not ask for it. */
  readonly invitationMailLimit: LayeredRateLimit;
  readonly quotas: Quotas;
  readonly findTxtRecords: FindTxtRecords;
  /** On a cluster no project is deleted yet: what is deleted there has other names. */
  readonly isCluster: boolean;
  /** Undefined when no mail server is configured: then the link is in the answer. */
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
