// Route matrix: every route with the credentials that may use it. Session and admin routes are
// mounted from this table (guarded-router.ts), a test compares the others with it, and the OpenAPI
// document is generated from it.
import { PROTOCOL_PATHS } from '../ingest/protocols/paths.js';
import type { Role, Scope } from './roles.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `public`: no credential. `session`: session cookie. `admin`: admin key of an organization.
 * `agent`: token with the scope query or dashboards, also as a bearer token. `{scope}`: project key
 * or token with the scope. `role`: minimum role in the organization of the path.
 */
export interface RouteRule {
  readonly method: Method;
  readonly path: string;
  readonly auth: 'public' | 'session' | 'admin' | 'agent' | { readonly scope: Scope };
  readonly role?: Role;
}

export const ROUTES = [
  { method: 'GET', path: '/', auth: 'public' },
  { method: 'GET', path: '/start', auth: 'public' },
  { method: 'GET', path: '/projects/{projectID}', auth: 'public' },
  { method: 'GET', path: '/projects/{projectID}/{screen}', auth: 'public' },
  { method: 'GET', path: '/projects/{projectID}/{screen}/{item}', auth: 'public' },
  { method: 'GET', path: '/login', auth: 'public' },
  { method: 'GET', path: '/invitations/{token}', auth: 'public' },
  { method: 'POST', path: '/invitations/{token}', auth: 'session' },
  { method: 'GET', path: '/unsubscribe/{token}', auth: 'public' },
  { method: 'POST', path: '/unsubscribe/{token}', auth: 'public' },
  { method: 'GET', path: '/sign-in/{token}', auth: 'public' },
  { method: 'POST', path: '/sign-in/{token}', auth: 'public' },
  { method: 'GET', path: '/auth/idp', auth: 'public' },
  { method: 'GET', path: '/auth/idp/cb', auth: 'public' },
  { method: 'POST', path: '/auth/logout', auth: 'public' },
  { method: 'GET', path: '/.well-known/oauth-protected-resource', auth: 'public' },
  { method: 'GET', path: '/.well-known/oauth-protected-resource/mcp', auth: 'public' },
  { method: 'GET', path: '/.well-known/oauth-authorization-server', auth: 'public' },
  { method: 'POST', path: '/oauth/register', auth: 'public' },
  { method: 'GET', path: '/oauth/authorize', auth: 'public' },
  { method: 'POST', path: '/oauth/authorize', auth: 'session' },
  { method: 'POST', path: '/oauth/token', auth: 'public' },
  { method: 'POST', path: '/oauth/revoke', auth: 'public' },
  { method: 'GET', path: '/public/service.js', auth: 'public' },
  { method: 'GET', path: '/llms.txt', auth: 'public' },
  { method: 'GET', path: '/openapi.json', auth: 'public' },
  { method: 'GET', path: '/healthz', auth: 'public' },
  { method: 'GET', path: '/readyz', auth: 'public' },
  { method: 'GET', path: '/metrics', auth: 'public' },

  { method: 'POST', path: '/track', auth: { scope: 'track' } },
  { method: 'POST', path: '/identify', auth: { scope: 'track' } },
  { method: 'POST', path: '/identify/batch', auth: { scope: 'admin' } },
  ...PROTOCOL_PATHS,
  { method: 'POST', path: '/query', auth: { scope: 'query' } },
  { method: 'GET', path: '/catalog', auth: { scope: 'query' } },
  { method: 'POST', path: '/mcp', auth: 'agent' },
  { method: 'PUT', path: '/api/dashboard-sync/{dashboardKey}', auth: { scope: 'dashboards' } },
  { method: 'DELETE', path: '/api/dashboard-sync/{dashboardKey}', auth: { scope: 'dashboards' } },
  { method: 'PUT', path: '/api/definitions', auth: { scope: 'dashboards' } },
  { method: 'GET', path: '/api/definitions', auth: { scope: 'dashboards' } },
  { method: 'GET', path: '/api/definitions/uses', auth: { scope: 'dashboards' } },
  { method: 'GET', path: '/api/definitions/dropped', auth: { scope: 'dashboards' } },
  { method: 'GET', path: '/api/definitions/keep', auth: { scope: 'dashboards' } },
  { method: 'DELETE', path: '/api/gdpr/users/{userID}', auth: { scope: 'admin' } },
  { method: 'GET', path: '/api/gdpr/users/{userID}/export', auth: { scope: 'admin' } },
  { method: 'GET', path: '/api/gdpr/requests/{requestID}', auth: { scope: 'admin' } },
  { method: 'GET', path: '/api/gdpr/audit', auth: { scope: 'admin' } },
  { method: 'GET', path: '/api/export/events', auth: { scope: 'admin' } },
  { method: 'GET', path: '/api/export/identities', auth: { scope: 'admin' } },

  { method: 'GET', path: '/api/orgs', auth: 'session' },
  { method: 'POST', path: '/api/orgs', auth: 'session' },
  { method: 'GET', path: '/api/orgs/{orgID}', auth: 'session', role: 'member' },
  { method: 'PATCH', path: '/api/orgs/{orgID}', auth: 'session', role: 'owner' },
  { method: 'DELETE', path: '/api/orgs/{orgID}', auth: 'session', role: 'owner' },
  { method: 'POST', path: '/api/orgs/{orgID}/rotate-admin-key', auth: 'session', role: 'owner' },
  { method: 'GET', path: '/api/orgs/{orgID}/members', auth: 'session', role: 'owner' },
  { method: 'PATCH', path: '/api/orgs/{orgID}/members/{userID}', auth: 'session', role: 'owner' },
  { method: 'DELETE', path: '/api/orgs/{orgID}/members/{userID}', auth: 'session', role: 'owner' },
  { method: 'GET', path: '/api/orgs/{orgID}/invitations', auth: 'session', role: 'owner' },
  { method: 'POST', path: '/api/orgs/{orgID}/invitations', auth: 'session', role: 'owner' },
  { method: 'DELETE', path: '/api/orgs/{orgID}/invitations/{invitationID}', auth: 'session', role: 'owner' },
  { method: 'POST', path: '/api/invitations/{token}/accept', auth: 'session' },
  { method: 'GET', path: '/api/orgs/{orgID}/domains', auth: 'session', role: 'owner' },
  { method: 'POST', path: '/api/orgs/{orgID}/domains', auth: 'session', role: 'owner' },
  { method: 'DELETE', path: '/api/orgs/{orgID}/domains/{domainID}', auth: 'session', role: 'owner' },
  { method: 'POST', path: '/api/orgs/{orgID}/domains/{domainID}/verify', auth: 'session', role: 'owner' },
  { method: 'GET', path: '/api/orgs/{orgID}/demo', auth: 'session', role: 'member' },
  { method: 'POST', path: '/api/orgs/{orgID}/demo', auth: 'session', role: 'admin' },
  { method: 'DELETE', path: '/api/orgs/{orgID}/demo', auth: 'session', role: 'admin' },
  { method: 'GET', path: '/api/orgs/{orgID}/projects', auth: 'session', role: 'member' },
  { method: 'POST', path: '/api/orgs/{orgID}/projects', auth: 'session', role: 'admin' },
  { method: 'GET', path: '/api/projects/{projectID}', auth: 'session', role: 'member' },
  { method: 'PATCH', path: '/api/projects/{projectID}', auth: 'session', role: 'admin' },
  { method: 'DELETE', path: '/api/projects/{projectID}', auth: 'session', role: 'owner' },
  { method: 'POST', path: '/api/projects/{projectID}/query', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/catalog', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/dashboards', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/dashboards/{dashboardID}', auth: 'session', role: 'member' },
  { method: 'DELETE', path: '/api/projects/{projectID}/dashboards/{dashboardID}', auth: 'session', role: 'member' },
  {
    method: 'POST',
    path: '/api/projects/{projectID}/dashboards/{dashboardID}/cards/{cardID}/queries',
    auth: 'session',
    role: 'member',
  },
  { method: 'POST', path: '/api/projects/{projectID}/dashboards', auth: 'session', role: 'member' },
  { method: 'PUT', path: '/api/projects/{projectID}/dashboards/{dashboardID}', auth: 'session', role: 'member' },
  { method: 'POST', path: '/api/projects/{projectID}/dashboards/{dashboardID}/cards', auth: 'session', role: 'member' },
  {
    method: 'POST',
    path: '/api/projects/{projectID}/dashboards/{dashboardID}/alerts',
    auth: 'session',
    role: 'member',
  },
  {
    method: 'POST',
    path: '/api/projects/{projectID}/dashboards/{dashboardID}/reports',
    auth: 'session',
    role: 'member',
  },
  { method: 'POST', path: '/api/projects/{projectID}/dashboards/{dashboardID}/draft', auth: 'session', role: 'member' },
  {
    method: 'POST',
    path: '/api/projects/{projectID}/dashboards/{dashboardID}/queries',
    auth: 'session',
    role: 'member',
  },
  {
    method: 'GET',
    path: '/api/projects/{projectID}/dashboards/{dashboardID}/versions',
    auth: 'session',
    role: 'member',
  },
  {
    method: 'GET',
    path: '/api/projects/{projectID}/dashboards/{dashboardID}/versions/{version}',
    auth: 'session',
    role: 'member',
  },
  { method: 'GET', path: '/api/projects/{projectID}/definitions', auth: 'session', role: 'member' },
  { method: 'PUT', path: '/api/projects/{projectID}/definitions', auth: 'session', role: 'admin' },
  { method: 'GET', path: '/api/projects/{projectID}/definitions/uses', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/definitions/dropped', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/definitions/keep', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/definitions/versions', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/definitions/versions/{version}', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/alerts', auth: 'session', role: 'member' },
  { method: 'POST', path: '/api/projects/{projectID}/alerts/dry-run', auth: 'session', role: 'member' },
  { method: 'POST', path: '/api/projects/{projectID}/alerts/{alertID}/dry-run', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/alerts/{alertID}/checks', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/reports', auth: 'session', role: 'member' },
  { method: 'POST', path: '/api/projects/{projectID}/reports/dry-run', auth: 'session', role: 'member' },
  { method: 'POST', path: '/api/projects/{projectID}/reports/{reportID}/dry-run', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/reports/{reportID}/runs', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/webhook-secret', auth: 'session', role: 'admin' },
  { method: 'POST', path: '/api/projects/{projectID}/rotate-webhook-secret', auth: 'session', role: 'admin' },
  { method: 'POST', path: '/api/projects/{projectID}/rotate-secret-key', auth: 'session', role: 'admin' },
  { method: 'POST', path: '/api/projects/{projectID}/tokens', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/tokens', auth: 'session', role: 'member' },
  { method: 'DELETE', path: '/api/projects/{projectID}/tokens/{tokenID}', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/usage', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/rejected', auth: 'session', role: 'member' },
  { method: 'GET', path: '/api/projects/{projectID}/live', auth: 'session', role: 'member' },
  { method: 'POST', path: '/api/projects/{projectID}/imports', auth: 'session', role: 'admin' },
  { method: 'POST', path: '/api/projects/{projectID}/erasures', auth: 'session', role: 'admin' },
  { method: 'GET', path: '/api/projects/{projectID}/erasures/{requestID}', auth: 'session', role: 'admin' },
  { method: 'POST', path: '/api/projects/{projectID}/exports', auth: 'session', role: 'admin' },
  { method: 'GET', path: '/api/projects/{projectID}/exports/events', auth: 'session', role: 'admin' },
  { method: 'GET', path: '/api/projects/{projectID}/exports/identities', auth: 'session', role: 'admin' },
  { method: 'GET', path: '/api/projects/{projectID}/audit', auth: 'session', role: 'admin' },
  { method: 'GET', path: '/api/projects/{projectID}/delivery', auth: 'session', role: 'owner' },
  { method: 'POST', path: '/api/projects/{projectID}/delivery/replay', auth: 'session', role: 'owner' },
  { method: 'POST', path: '/api/projects/{projectID}/delivery/discard', auth: 'session', role: 'owner' },
  { method: 'GET', path: '/api/me/tokens', auth: 'session' },
  { method: 'DELETE', path: '/api/me/tokens/{tokenID}', auth: 'session' },
  { method: 'DELETE', path: '/api/me/orgs/{orgID}', auth: 'session', role: 'member' },
  { method: 'DELETE', path: '/api/me', auth: 'session' },

  { method: 'GET', path: '/api/admin/projects', auth: 'admin' },
  { method: 'POST', path: '/api/admin/projects', auth: 'admin' },
  { method: 'GET', path: '/api/admin/projects/{projectID}', auth: 'admin' },
  { method: 'DELETE', path: '/api/admin/projects/{projectID}', auth: 'admin' },
  { method: 'POST', path: '/api/admin/projects/{projectID}/rotate-secret-key', auth: 'admin' },
  { method: 'GET', path: '/api/admin/projects/{projectID}/usage', auth: 'admin' },
] as const satisfies readonly RouteRule[];

/** Route name in code, such as `GET /api/orgs/{orgID}`. */
export type RouteName = (typeof ROUTES)[number] extends infer R
  ? R extends { method: infer M extends string; path: infer P extends string }
    ? `${M} ${P}`
    : never
  : never;

/** In the notation of express: `/api/orgs/:orgID`. */
export const toExpressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

export function ruleOf(name: RouteName): RouteRule {
  const rule = ROUTES.find(({ method, path }) => `${method} ${path}` === name);
  if (rule === undefined) throw new Error(`the route table has no ${name}`);
  return rule;
}
