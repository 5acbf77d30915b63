// Calls of the routes that the console alone uses, for the comparison with the OpenAPI document.

import type { RouteName } from '../../src/access/route-matrix.js';
import { POSTHOG_PATHS } from '../../src/ingest/protocols/posthog/paths.js';
import { createClients } from '../../src/oauth/clients.js';
import type { Postgres } from '../../src/platform/postgres/client.js';
import { createSignInLink } from '../../src/sign-in/sign-in-links.js';
import { createTeam, type Sent } from './accounts.js';

export interface Call extends Sent {
  readonly route: RouteName;
  /** In the place of the path's parameters, in their order; a query string may follow. */
  readonly path?: string;
  readonly status: number;
}

interface Drafts {
  readonly session: NonNullable<Sent['session']>;
  /** A dashboard of the console, in its first version. */
  readonly draftId: string;
  readonly source: string;
}

export function dashboardCalls(path: string, { session, draftId, source }: Drafts): Call[] {
  const card = { title: 'B', kind: 'metric', viz: 'number', query: 'signup | count' };
  const body = { source_yaml: source };
  const one = `${path}/${draftId}`;
  const all = '/api/projects/{projectID}/dashboards';
  const calls: Call[] = [
    { route: `POST ${all}`, path: `${path}?key=other`, status: 201, body },
    { route: `POST ${all}`, path: `${path}?key=other`, status: 400, body },
    { route: `PUT ${all}/{dashboardID}`, path: `${one}?base_version=1&dry_run=true`, status: 200, body },
    { route: `PUT ${all}/{dashboardID}`, path: `${one}?base_version=7`, status: 400, body },
    { route: `PUT ${all}/{dashboardID}`, path: `${path}/none?base_version=1`, status: 404, body },
    { route: `POST ${all}/{dashboardID}/cards`, path: `${one}/cards`, status: 201, body: card },
    { route: `POST ${all}/{dashboardID}/cards`, path: `${one}/cards`, status: 400, body: {} },
    { route: `POST ${all}/{dashboardID}/alerts`, path: `${one}/alerts`, status: 400, body: {} },
    { route: `POST ${all}/{dashboardID}/reports`, path: `${one}/reports`, status: 400, body: {} },
    { route: `POST ${all}/{dashboardID}/draft`, path: `${one}/draft`, status: 200, body: { ...body, card } },
    { route: `POST ${all}/{dashboardID}/draft`, path: `${one}/draft`, status: 400, body: { ...body, remove: 'none' } },
    { route: `POST ${all}/{dashboardID}/queries`, path: `${one}/queries`, status: 200, body: {} },
    { route: `POST ${all}/{dashboardID}/queries`, path: `${one}/queries`, status: 400, body: { variables: { a: '' } } },
    { route: `GET ${all}/{dashboardID}/versions`, path: `${one}/versions`, status: 200 },
    { route: `GET ${all}/{dashboardID}/versions/{version}`, path: `${one}/versions/1`, status: 200 },
    { route: `GET ${all}/{dashboardID}/versions/{version}`, path: `${one}/versions/9`, status: 404 },
  ];
  return calls.map((call) => ({ ...call, session }));
}

/** Definitions by a key, then by the person of the session. */
export function definitionCalls(path: string, { session, key }: Pick<Drafts, 'session'> & { key: string }): Call[] {
  const all = '/api/projects/{projectID}/definitions';
  const body = {
    source_yaml:
      'version: 1\nmetrics: { sales: { query: purchase | count } }\nkeep: { default: 400d }\ndrop: [{ event: debug }]\n',
  };
  const wrong = { source_yaml: 'version: 2\n' };
  const own = '/api/definitions';
  const calls: Call[] = [
    { route: `GET ${all}/versions/{version}`, path: `${path}/versions/9`, status: 404 },
    { route: `PUT ${all}`, path: `${path}?base_version=1`, status: 400, body },
    { route: `PUT ${all}`, path: `${path}?base_version=0`, status: 201, body },
    { route: `PUT ${all}`, path: `${path}?base_version=1&dry_run=true`, status: 200, body },
    { route: `GET ${all}`, path, status: 200 },
    { route: `GET ${all}/uses`, path: `${path}/uses`, status: 200 },
    { route: `GET ${all}/keep`, path: `${path}/keep`, status: 200 },
    { route: `GET ${all}/dropped`, path: `${path}/dropped`, status: 200 },
    { route: `GET ${all}/versions`, path: `${path}/versions`, status: 200 },
    { route: `GET ${all}/versions/{version}`, path: `${path}/versions/1`, status: 200 },
  ];
  const ofKey: Call[] = [
    { route: `PUT ${own}`, path: own, status: 200, body },
    { route: `PUT ${own}`, path: own, status: 400, body: wrong },
    { route: `GET ${own}`, path: own, status: 200 },
    { route: `GET ${own}/uses`, path: `${own}/uses`, status: 200 },
    { route: `GET ${own}/keep`, path: `${own}/keep`, status: 200 },
    { route: `GET ${own}/dropped`, path: `${own}/dropped`, status: 200 },
  ];
  return [...calls.map((call) => ({ ...call, session })), ...ofKey.map((call) => ({ ...call, key }))];
}

/** Of an unknown person: an erasure of nothing, and an export of no lines; and of all events. */
export function privacyCalls(
  project: string,
  { session, key, erasedId }: Pick<Drafts, 'session'> & { key: string; erasedId: string },
): Call[] {
  const all = '/api/projects/{projectID}';
  const body = { user_id: 'none' };
  const files = [{ name: 'empty.csv', bytes: 0 }];
  const calls: Call[] = [
    { route: `POST ${all}/erasures`, path: `${project}/erasures`, status: 200, body },
    { route: `POST ${all}/erasures`, path: `${project}/erasures`, status: 400, body: {} },
    { route: `GET ${all}/erasures/{requestID}`, path: `${project}/erasures/${erasedId}`, status: 200 },
    { route: `GET ${all}/erasures/{requestID}`, path: `${project}/erasures/none`, status: 404 },
    { route: `POST ${all}/exports`, path: `${project}/exports`, status: 200, body },
    { route: `POST ${all}/exports`, path: `${project}/exports`, status: 400, body: { user_id: '' } },
    { route: `GET ${all}/exports/events`, path: `${project}/exports/events?to=2001-01-01`, status: 200 },
    { route: `GET ${all}/exports/events`, path: `${project}/exports/events?from=yesterday`, status: 400 },
    { route: `GET ${all}/exports/identities`, path: `${project}/exports/identities`, status: 200 },
    { route: `GET ${all}/exports/identities`, path: `${project}/exports/identities?to=2001-01-01`, status: 400 },
    { route: `POST ${all}/imports`, path: `${project}/imports?source=umami&dry_run=true`, status: 200, body: files },
    { route: `POST ${all}/imports`, path: `${project}/imports?source=none`, status: 400, body: files },
    { route: `GET ${all}/live`, path: `${project}/live?seconds=1`, status: 200 },
    { route: `GET ${all}/live`, path: `${project}/live?seconds=0`, status: 400 },
    { route: `GET ${all}/audit`, path: `${project}/audit?limit=1`, status: 200 },
    { route: `GET ${all}/audit`, path: `${project}/audit?limit=0`, status: 400 },
  ];
  const ofKey: Call[] = [
    { route: 'GET /api/export/events', status: 200 },
    { route: 'GET /api/export/events', path: '/api/export/events?from=yesterday', status: 400 },
    { route: 'GET /api/export/identities', status: 200 },
    { route: 'GET /api/export/identities', path: '/api/export/identities?to=2001-01-01', status: 400 },
  ];
  return [...calls.map((call) => ({ ...call, session })), ...ofKey.map((call) => ({ ...call, key }))];
}

function alertCalls({ project, alertId, reportId }: Operating): Call[] {
  const all = '/api/projects/{projectID}';
  const body = { query: 'signup | count', when: 'value < 5' };
  const one = `${project}/alerts/${alertId}`;
  return [
    { route: `GET ${all}/alerts`, path: `${project}/alerts`, status: 200 },
    { route: `POST ${all}/alerts/dry-run`, path: `${project}/alerts/dry-run`, status: 200, body },
    { route: `POST ${all}/alerts/dry-run`, path: `${project}/alerts/dry-run`, status: 400, body: {} },
    { route: `POST ${all}/alerts/{alertID}/dry-run`, path: `${one}/dry-run`, status: 200 },
    { route: `GET ${all}/alerts/{alertID}/checks`, path: `${one}/checks`, status: 200 },
    { route: `GET ${all}/alerts/{alertID}/checks`, path: `${project}/alerts/none/checks`, status: 404 },
    { route: `GET ${all}/reports`, path: `${project}/reports`, status: 200 },
    { route: `GET ${all}/reports/{reportID}/runs`, path: `${project}/reports/${reportId}/runs`, status: 200 },
    { route: `GET ${all}/reports/{reportID}/runs`, path: `${project}/reports/none/runs`, status: 404 },
    { route: `POST ${all}/reports/dry-run`, path: `${project}/reports/dry-run`, status: 400, body: {} },
    { route: `POST ${all}/reports/{reportID}/dry-run`, path: `${project}/reports/${reportId}/dry-run`, status: 200 },
    { route: 'GET /unsubscribe/{token}', path: '/unsubscribe/none', status: 404 },
    { route: 'POST /unsubscribe/{token}', path: '/unsubscribe/none', status: 404 },
    { route: `GET ${all}/webhook-secret`, path: `${project}/webhook-secret`, status: 200 },
    { route: `POST ${all}/rotate-webhook-secret`, path: `${project}/rotate-webhook-secret`, status: 200 },
  ];
}

/**
 * Delivery, alerts and the demo, without the one that loads: test/e2e/console-demo.test.ts does.
 */
export function operatingCalls(operating: Operating): Call[] {
  const { project, organization, session } = operating;
  const job = { queue: 'ingest', id: 'none' };
  const calls: Call[] = [
    { route: 'GET /api/projects/{projectID}/delivery', path: `${project}/delivery`, status: 200 },
    ...(['replay', 'discard'] as const).map((action) => ({
      route: `POST /api/projects/{projectID}/delivery/${action}` as const,
      path: `${project}/delivery/${action}`,
      status: 404,
      body: job,
    })),
    { route: 'GET /api/orgs/{orgID}/demo', path: `${organization}/demo`, status: 200 },
    { route: 'DELETE /api/orgs/{orgID}/demo', path: `${organization}/demo`, status: 404 },
    { route: 'POST /api/orgs/{orgID}/demo', path: '/api/orgs/none/demo', status: 404 },
    ...alertCalls(operating),
  ];
  return calls.map((call) => ({ ...call, session }));
}

interface Operating {
  readonly project: string;
  readonly organization: string;
  readonly session: string;
  /** One of the project. */
  readonly alertId: string;
  readonly reportId: string;
}

/** Calls of the SDKs of other products. */
export const protocolCalls = (key: string): Call[] => [
  { route: 'POST /v1/{call}', path: '/v1/track', status: 200, key, body: { event: 'signup', userId: 'ann' } },
  { route: 'POST /v1/{call}', path: '/v1/batch', status: 400, key, body: { batch: 5 } },
  { route: 'POST /v1/{call}', path: '/v1/unknown', status: 404, key, body: {} },
  { route: 'POST /v1/m', status: 200, body: { series: [] } },
  ...POSTHOG_PATHS.flatMap(({ method, path, auth }): Call[] => {
    if (path.includes('{')) return [];
    const route = `${method} ${path}` as Call['route'];
    if (auth === 'public') return [{ route, status: 200, ...(method === 'POST' && { body: {} }) }];
    return [
      { route, status: 200, key, body: [{ event: 'signup', distinct_id: 'ann' }] },
      { route, status: 400, key, body: {} },
    ];
  }),
  {
    route: 'GET /api/projects/@current/feature_flags/{flag}/remote_config',
    path: '/api/projects/@current/feature_flags/any/remote_config',
    status: 200,
  },
  { route: 'GET /array/{token}/config', path: '/array/pk/config', status: 200 },
  { route: 'GET /array/{token}/config.js', path: '/array/pk/config.js', status: 200 },
  { route: 'GET /array/{token}/config.js', path: '/array/%22/config.js', status: 404 },
  { route: 'POST /2/httpapi', status: 200, key, body: { events: [{ event_type: 'signup', user_id: 'ann' }] } },
  { route: 'POST /2/httpapi', status: 400, key, body: {} },
  { route: 'GET /v1/projects/{writeKey}/settings', path: '/v1/projects/pk/settings', status: 200 },
  { route: 'GET /cdn/v1/projects/{writeKey}/settings', path: '/cdn/v1/projects/pk/settings', status: 200 },
];

/** A one-time link is used once; a member leaves and deletes the account, an owner the team. */
export async function personCalls(postgres: Postgres, secretKeyBase: string): Promise<Call[]> {
  const { path } = await createSignInLink(postgres, { email: 'linked@example.com', secretKeyBase });
  const { organization, people } = await createTeam(postgres);
  const own = { session: people.member.session };
  const team = { organization_name: 'Team' };
  return [
    ...oauthCalls(secretKeyBase, own),
    ...brokenLinks(own),
    { route: 'GET /sign-in/{token}', path, status: 200 },
    { route: 'POST /sign-in/{token}', path, status: 303 },
    { route: 'POST /sign-in/{token}', path, status: 404 },
    { route: 'DELETE /api/me/orgs/{orgID}', path: `/api/me/orgs/${organization.id}`, status: 200, ...own, body: team },
    { route: 'DELETE /api/me', status: 400, ...own, body: {} },
    { route: 'DELETE /api/me', status: 200, ...own, body: { confirm: 'delete my account' } },
    {
      route: 'DELETE /api/orgs/{orgID}',
      path: `/api/orgs/${organization.id}`,
      status: 200,
      session: people.owner.session,
      body: { ...team, organization_name_confirm: 'Team' },
    },
  ];
}

/** Browsers get pages, and JSON below /api. */
function brokenLinks(own: Sent): Call[] {
  const headers = { Accept: 'text/html' };
  return [
    { route: 'GET /api/orgs/{orgID}', path: '/api/orgs/%ff', status: 400, ...own, headers },
    { route: 'GET /projects/{projectID}', path: '/projects/%ff', status: 400, headers },
    { route: 'GET /unsubscribe/{token}', path: '/unsubscribe/none', status: 404, headers },
    { route: 'GET /oauth/authorize', status: 400, headers },
  ];
}

const CALLBACK = 'https://client.example.com/callback';

function oauthCalls(secretKeyBase: string, own: Sent): Call[] {
  const metadata = { client_name: 'Client', redirect_uris: [CALLBACK] };
  const query = new URLSearchParams({
    client_id: createClients(secretKeyBase).register(metadata).id,
    ...{ response_type: 'code', code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' },
  });
  const path = `/oauth/authorize?${query}`;
  return [
    { route: 'GET /.well-known/oauth-protected-resource', status: 200 },
    { route: 'GET /.well-known/oauth-protected-resource/mcp', status: 200 },
    { route: 'GET /.well-known/oauth-authorization-server', status: 200 },
    { route: 'POST /mcp', status: 401 },
    { route: 'POST /oauth/register', status: 201, body: metadata },
    { route: 'POST /oauth/register', status: 400, body: {} },
    { route: 'GET /oauth/authorize', status: 400 },
    { route: 'GET /oauth/authorize', path, status: 302 },
    { route: 'GET /oauth/authorize', path, status: 200, ...own },
    { route: 'POST /oauth/authorize', status: 400, ...own },
    { route: 'POST /oauth/authorize', path, status: 200, ...own },
    { route: 'POST /oauth/token', status: 400 },
    { route: 'POST /oauth/revoke', status: 400 },
  ];
}
