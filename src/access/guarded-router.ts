// Router that mounts routes by the route matrix: the required guards run before each handler, and a
// route without an entry cannot be mounted. An organization or project of another caller answers
// 404, existing or not; an insufficient role 403.
import type { Request, RequestHandler, Response, Router } from 'express';
import { PublicError } from '../platform/errors.js';
import { createRouter } from '../platform/http/router.js';
import type { ProjectId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { authenticateAgent } from './agent-access.js';
import { type AdminCredential, type CredentialStore, ownerIdOf } from './credentials.js';
import { holdBody } from './held-bodies.js';
import { findMembership, findProjectMembership, findProjectOf, type Membership } from './membership.js';
import { authenticateAdmin, credentialOf, requireCredential } from './middleware.js';
import type { LayeredRateLimit } from './rate-limits.js';
import type { Role } from './roles.js';
import { isAtLeast } from './roles.js';
import { type RouteName, type RouteRule, ruleOf, toExpressPath } from './route-matrix.js';
import { personOf, requireSession, type SessionGuards } from './session-middleware.js';

export interface GuardDeps {
  readonly postgres: Postgres;
  readonly credentials: CredentialStore;
  readonly sessions: SessionGuards;
}

export interface GuardedRouter {
  readonly router: Router;
  /** Mounts the handlers of a route behind its guards. */
  on(name: RouteName, ...handlers: RequestHandler[]): void;
}

export function createGuardedRouter(deps: GuardDeps): GuardedRouter {
  const router = createRouter();
  return {
    router,
    on(name, ...handlers) {
      const rule = ruleOf(name);
      const path = toExpressPath(rule.path);
      const method = rule.method.toLowerCase() as Lowercase<RouteRule['method']>;
      const readers = handlers.slice(0, -1);
      router
        .route(path)
        [method](...guardsOf(rule, deps), ...readers, ...stillGuardsOf(rule, deps), ...handlers.slice(-1));
    },
  };
}

function guardsOf(rule: RouteRule, { postgres, credentials, sessions }: GuardDeps): RequestHandler[] {
  switch (rule.auth) {
    case 'public':
      return [];
    case 'session':
      return [
        ...requireSession(postgres, sessions),
        holdBody((res) => personOf(res).personId),
        ...(rule.role === undefined ? [] : [requireRole(postgres, rule.role)]),
      ];
    case 'admin':
      return [requireAdminKey(postgres, credentials, sessions.rateLimit), holdBody((res) => ownerIdOf(adminOf(res)))];
    case 'agent':
      return [requireAgent(credentials, sessions.publicUrl)];
    default:
      return [requireCredential(credentials, rule.auth.scope), holdBody((res) => ownerIdOf(credentialOf(res)))];
  }
}

/** What is checked again once the body has been read. */
const stillGuardsOf = ({ auth, role }: RouteRule, { postgres }: GuardDeps): RequestHandler[] =>
  auth === 'session' && role !== undefined ? [requireRoleStill(postgres, role)] : [];

/**
 * A person who is removed or demoted while the body arrives, for a minute at most, would change the
 * project afterwards, or read its new secret key.
 */
function requireRoleStill(postgres: Postgres, least: Role): RequestHandler {
  const check = requireRole(postgres, least);
  return (req, res, next) => (res.locals.hadBody === true ? next() : check(req, res, next));
}

function requireRole(postgres: Postgres, least: Role): RequestHandler {
  return async (req, res, next) => {
    res.locals.hadBody = req.complete;
    await checkRole(postgres, { req, res, least });
    next();
  };
}

/** Throws unless the person has the role; also for a handler that reads the body by itself. */
export async function checkRole(
  postgres: Postgres,
  { req, res, least }: { readonly req: Request; readonly res: Response; readonly least: Role },
): Promise<void> {
  const { projectID, orgID } = req.params;
  const { personId } = personOf(res);
  if (projectID === undefined) {
    const found = await findMembership(postgres, personId, String(orgID));
    if (found === undefined) throw new PublicError('not_found', 'there is no such organization');
    return admit(res, found, least);
  }
  const found = await findProjectMembership(postgres, personId, String(projectID));
  if (found === undefined) throw noSuchProject();
  admit(res, found, least);
  res.locals.projectId = found.projectId;
  res.locals.timezone = found.timezone;
  res.locals.ownerId = found.ownerId;
}

function admit(res: Response, membership: Membership, least: Role): void {
  if (!isAtLeast(membership.role, least)) {
    throw new PublicError('forbidden', `requires role ${least}; your role is ${membership.role}`);
  }
  res.locals.membership = membership;
}

function requireAdminKey(
  postgres: Postgres,
  credentials: CredentialStore,
  rateLimit: LayeredRateLimit,
): RequestHandler {
  return async (req: Request, res, next) => {
    const admin = await authenticateAdmin(credentials, req);
    await rateLimit.take({ key: admin.organizationId, person: ownerIdOf(admin) });
    const { projectID } = req.params;
    if (projectID !== undefined) {
      const projectId = await findProjectOf(postgres, admin.organizationId, String(projectID));
      if (projectId === undefined) throw noSuchProject();
      res.locals.projectId = projectId;
    }
    res.locals.admin = admin;
    next();
  };
}

const requireAgent =
  (credentials: CredentialStore, publicUrl: URL): RequestHandler =>
  async (req, res, next) => {
    res.locals.credential = await authenticateAgent({ credentials, publicUrl }, req, res);
    next();
  };

const noSuchProject = () => new PublicError('not_found', 'there is no such project');

/** For session routes with an organization or project in the path. */
export const membershipOf = (res: Response): Membership => res.locals.membership as Membership;
/** For routes with a project in the path: a project that the caller may access. */
export const projectIdOf = (res: Response): ProjectId => res.locals.projectId as ProjectId;
/** Who owns that project, for session routes. */
export const projectOwnerIdOf = (res: Response): string => res.locals.ownerId as string;
/** The time zone of that project, for session routes. */
export const timezoneOf = (res: Response): string => res.locals.timezone as string;
/** The admin key, for routes that require one. */
export const adminOf = (res: Response): AdminCredential => res.locals.admin as AdminCredential;
