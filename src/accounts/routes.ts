// Account routes: organizations, members, invitations, domains, projects, tokens, usage. Their
// permissions are in the route matrix (src/access/route-matrix.ts).
import type { Router } from 'express';
import { createGuardedRouter, type GuardDeps } from '../access/guarded-router.js';
import { addDomainRoutes, type DomainRoutesDeps } from './domain-routes.js';
import { addInvitationRoutes, type InvitationRoutesDeps } from './invitation-routes.js';
import { addOrganizationRoutes, type OrganizationRoutesDeps } from './organization-routes.js';
import { addProjectRoutes, type ProjectRoutesDeps } from './project-routes.js';
import { addTokenRoutes, type TokenRoutesDeps } from './token-routes.js';

export type AccountsDeps = GuardDeps &
  OrganizationRoutesDeps &
  InvitationRoutesDeps &
  DomainRoutesDeps &
  ProjectRoutesDeps &
  TokenRoutesDeps;

export function createAccountsRouter(deps: AccountsDeps): Router {
  const routes = createGuardedRouter(deps);
  addOrganizationRoutes(routes, deps);
  addInvitationRoutes(routes, deps);
  addDomainRoutes(routes, deps);
  addProjectRoutes(routes, deps);
  addTokenRoutes(routes, deps);
  return routes.router;
}
