// Every documented route once, as intended, on the real processes. `send` validates each response
// against the OpenAPI document; the first test shows that it detects differences.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES, type RouteName } from '../../src/access/route-matrix.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { type Answer, createTeam, createTeamProject, join, type Sent, send, signIn } from '../support/accounts.js';
import {
  type Call,
  dashboardCalls,
  definitionCalls,
  operatingCalls,
  personCalls,
  privacyCalls,
  protocolCalls,
} from '../support/console-calls.js';
import { expectDocumented } from '../support/contract.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let calls: readonly Call[];
const asked = new Set<string>();

beforeAll(async () => {
  databases = await createTestDatabases({ IDP_PRESET: 'google', IDP_CLIENT_ID: 'test', IDP_CLIENT_SECRET: 'test' });
  postgres = createPostgres(databases.config);
  processes = await startProcesses(databases.env);
  calls = await createCalls();
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const YAML = `version: 1
title: Sales
sections:
  - title: S
    cards:
      - {id: a, title: A, kind: metric, viz: number, query: signup | count}
alerts: [{id: a, query: signup | count, when: value < 5, every: 1d, to: ['https://x.invalid/']}]
reports: [{id: r, at: monday 08:00, to: ['https://x.invalid/']}]
`;

async function createCalls(): Promise<Call[]> {
  const { organization, people } = await createTeam(postgres);
  const org = organization.id;
  const project = await createTeamProject(postgres, databases, org, 'Shop');
  const [doomed, condemned] = [
    await createTeamProject(postgres, databases, org, 'A'),
    await createTeamProject(postgres, databases, org, 'B'),
  ];
  const signInAs = (name: string) => signIn(postgres, { email: `${name}@example.com` });
  const [leaver, guest, visitor] = [await signInAs('leaver'), await signInAs('guest'), await signInAs('visitor')];
  await join(postgres, org, leaver, 'member');
  const own = { session: people.owner.session };
  const sk = { key: project.secretKey };
  const ak = { key: organization.adminKey };

  const prepare = async (route: string, sent: Sent): Promise<Answer['body']> =>
    (await send(processes.url, route, sent)).body;
  const invite = (name: string) =>
    prepare(`POST /api/orgs/${org}/invitations`, { ...own, body: { email: `${name}@example.com`, role: 'member' } });
  const [toGuest, onPage, revoked] = [await invite('guest'), await invite('visitor'), await invite('third')];
  const claimed = await prepare(`POST /api/orgs/${org}/domains`, { ...own, body: { domain: 'claimed.example' } });
  const newToken = { name: 'T', kind: 'personal', scopes: ['query'] };
  const tokens = [
    await prepare(`POST /api/projects/${project.id}/tokens`, { ...own, body: newToken }),
    await prepare(`POST /api/projects/${project.id}/tokens`, { ...own, body: newToken }),
  ];
  const { dashboard } = await prepare('PUT /api/dashboard-sync/first', { ...sk, body: { source_yaml: YAML } });
  const { dashboard: draft } = await prepare(`POST /api/projects/${project.id}/dashboards?key=draft`, {
    ...own,
    body: { source_yaml: YAML },
  });
  const [alert] = await prepare(`GET /api/projects/${project.id}/alerts`, own);
  const [report] = await prepare(`GET /api/projects/${project.id}/reports`, own);
  const erased = await prepare('DELETE /api/gdpr/users/nobody', sk);
  const at = (path: string) => `/api/projects/${project.id}${path}`;

  return [
    { route: 'GET /', status: 200 },
    { route: 'GET /', status: 200, headers: { Accept: 'text/html' } },
    { route: 'GET /start', status: 302 },
    { route: 'GET /start', status: 200, ...own },
    { route: 'GET /projects/{projectID}', status: 302 },
    { route: 'GET /projects/{projectID}', path: `/projects/${project.id}`, status: 200, ...own },
    { route: 'GET /projects/{projectID}/{screen}', path: `/projects/${project.id}/ask`, status: 200, ...own },
    { route: 'GET /projects/{projectID}/{screen}', status: 302 },
    {
      route: 'GET /projects/{projectID}/{screen}/{item}',
      path: `/projects/${project.id}/dashboards/a`,
      status: 200,
      ...own,
    },
    { route: 'GET /login', status: 200 },
    { route: 'GET /login', status: 302, ...own },
    { route: 'GET /invitations/{token}', path: `/invitations/${onPage.token}`, status: 200 },
    { route: 'POST /invitations/{token}', path: `/invitations/${onPage.token}`, status: 303, session: visitor.session },
    { route: 'POST /invitations/{token}', path: '/invitations/none', status: 404, session: guest.session },
    ...(await personCalls(postgres, databases.config.SECRET_KEY_BASE)),
    { route: 'GET /auth/idp/cb', status: 400 },
    { route: 'GET /auth/idp/cb', status: 400, headers: { Accept: 'text/html' } },
    { route: 'POST /auth/logout', status: 200, session: leaver.session, headers: { Accept: 'application/json' } },
    { route: 'GET /public/service.js', status: 200 },
    { route: 'GET /llms.txt', status: 200 },
    { route: 'GET /openapi.json', status: 200 },
    { route: 'GET /healthz', status: 200 },
    { route: 'GET /readyz', status: 200 },
    { route: 'GET /metrics', status: 200 },

    { route: 'POST /track', status: 200, key: project.publicKey, body: { event_type: 'signup', user_id: 'ann' } },
    { route: 'POST /track', status: 200, ...sk, body: { events: [{ event_type: 'signup', user_id: 'ann' }, {}] } },
    { route: 'POST /track', status: 400, ...sk, body: { events: 5 } },
    { route: 'POST /track', status: 413, ...sk, body: { events: ['x'.repeat(6 * 1024 * 1024)] } },
    { route: 'POST /identify', status: 200, ...sk, body: { user_id: 'ann', user_properties: { plan: 'pro' } } },
    { route: 'POST /identify/batch', status: 200, ...sk, body: { calls: [{ user_id: 'ann', time: 1767225600 }] } },
    { route: 'POST /identify', status: 400, ...sk, body: { user_id: '' } },
    ...protocolCalls(sk.key),
    ...['llm', 'json', 'csv'].map(
      (format): Call => ({ route: 'POST /query', status: 200, ...sk, body: { q: 'signup | count by day', format } }),
    ),
    ...[
      'users',
      'sessions',
      'fields',
      'inspect *',
      'choice c | results pay',
      'funnel a -> b | by day',
      'retention a',
      'paths from a',
      '* | list',
      '* | latest _path',
    ].map((q): Call => ({ route: 'POST /query', status: 200, ...sk, body: { q, format: 'json' } })),
    { route: 'POST /query', status: 400, ...sk, body: { q: 'signup | cuont', format: 'json' } },
    { route: 'POST /query', status: 200, ...sk, body: { q: 'signup | count by day', explain: true } },
    { route: 'POST /query', status: 400, ...sk, body: { q: 'signup', explain: 'yes' } },
    { route: 'GET /catalog', status: 200, ...sk },
    {
      route: 'POST /mcp',
      status: 200,
      key: tokens[0].token,
      body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} },
    },
    { route: 'GET /api/projects/{projectID}/catalog', path: at('/catalog'), status: 200, ...own },
    {
      route: 'POST /api/projects/{projectID}/query',
      path: at('/query'),
      status: 200,
      ...own,
      body: { q: '*', format: 'json' },
    },
    ...([201, 200, 400, 413] as const).map(
      (status): Call => ({
        route: 'PUT /api/dashboard-sync/{dashboardKey}',
        path: '/api/dashboard-sync/sales',
        ...{ status, ...sk },
        body: { source_yaml: { 201: YAML, 200: YAML, 400: 'a: 1', 413: 'x'.repeat(70_000) }[status] },
      }),
    ),
    { route: 'GET /api/projects/{projectID}/dashboards', path: at('/dashboards'), status: 200, ...own },
    {
      route: 'GET /api/projects/{projectID}/dashboards/{dashboardID}',
      path: at(`/dashboards/${dashboard.id}`),
      status: 200,
      ...own,
    },
    ...[
      { card: 'a', body: {}, status: 200 },
      { card: 'a', body: { variables: { region: 'eu' } }, status: 400 },
      { card: 'none', body: {}, status: 404 },
    ].map(
      ({ card, ...sent }): Call => ({
        route: 'POST /api/projects/{projectID}/dashboards/{dashboardID}/cards/{cardID}/queries',
        path: at(`/dashboards/${dashboard.id}/cards/${card}/queries`),
        ...own,
        ...sent,
      }),
    ),
    ...operatingCalls({
      project: at(''),
      organization: `/api/orgs/${org}`,
      session: own.session,
      alertId: alert.id,
      reportId: report.id,
    }),
    ...privacyCalls(at(''), { session: own.session, ...sk, erasedId: erased.request_id }),
    ...definitionCalls(at('/definitions'), { session: own.session, key: sk.key }),
    ...dashboardCalls(at('/dashboards'), { session: own.session, draftId: draft.id, source: YAML }),
    {
      route: 'GET /api/projects/{projectID}/dashboards/{dashboardID}',
      path: at('/dashboards/none'),
      status: 404,
      ...own,
    },

    {
      route: 'DELETE /api/projects/{projectID}/dashboards/{dashboardID}',
      path: at(`/dashboards/${dashboard.id}`),
      status: 200,
      ...own,
    },
    ...(
      [
        ['sales?visibility=public', 400],
        ['sales', 200],
        ['sales', 404],
      ] as const
    ).map(
      ([key, status]): Call => ({
        route: 'DELETE /api/dashboard-sync/{dashboardKey}',
        path: `/api/dashboard-sync/${key}`,
        status,
        ...sk,
      }),
    ),

    { route: 'GET /api/gdpr/users/{userID}/export', path: '/api/gdpr/users/ann/export', status: 200, ...sk },
    { route: 'DELETE /api/gdpr/users/{userID}', path: '/api/gdpr/users/ann', status: 200, ...sk },
    {
      route: 'GET /api/gdpr/requests/{requestID}',
      path: `/api/gdpr/requests/${erased.request_id}`,
      status: 200,
      ...sk,
    },
    { route: 'GET /api/gdpr/audit', path: '/api/gdpr/audit?limit=10', status: 200, ...sk },
    { route: 'GET /api/gdpr/audit', path: '/api/gdpr/audit?limit=x', status: 400, ...sk },

    { route: 'GET /api/orgs', status: 200, ...own },
    { route: 'POST /api/orgs', status: 201, ...own, body: { name: 'Another' } },
    { route: 'POST /api/orgs', status: 400, ...own, body: {} },
    { route: 'GET /api/orgs/{orgID}', path: `/api/orgs/${org}`, status: 200, ...own },
    { route: 'PATCH /api/orgs/{orgID}', path: `/api/orgs/${org}`, status: 200, ...own, body: { name: 'Renamed' } },
    { route: 'GET /api/orgs/{orgID}/members', path: `/api/orgs/${org}/members`, status: 200, ...own },
    {
      route: 'PATCH /api/orgs/{orgID}/members/{userID}',
      path: `/api/orgs/${org}/members/${people.member.id}`,
      status: 200,
      ...own,
      body: { role: 'admin' },
    },
    {
      route: 'DELETE /api/orgs/{orgID}/members/{userID}',
      path: `/api/orgs/${org}/members/${leaver.id}`,
      status: 200,
      ...own,
    },
    {
      route: 'POST /api/orgs/{orgID}/invitations',
      path: `/api/orgs/${org}/invitations`,
      status: 201,
      ...own,
      body: { email: 'x@example.com', role: 'admin' },
    },
    { route: 'GET /api/orgs/{orgID}/invitations', path: `/api/orgs/${org}/invitations`, status: 200, ...own },
    {
      route: 'DELETE /api/orgs/{orgID}/invitations/{invitationID}',
      path: `/api/orgs/${org}/invitations/${revoked.id}`,
      status: 200,
      ...own,
    },
    {
      route: 'POST /api/invitations/{token}/accept',
      path: `/api/invitations/${toGuest.token}/accept`,
      status: 200,
      session: guest.session,
    },
    { route: 'GET /api/orgs/{orgID}/domains', path: `/api/orgs/${org}/domains`, status: 200, ...own },
    {
      route: 'DELETE /api/orgs/{orgID}/domains/{domainID}',
      path: `/api/orgs/${org}/domains/${claimed.id}`,
      status: 200,
      ...own,
    },
    {
      route: 'POST /api/orgs/{orgID}/domains',
      path: `/api/orgs/${org}/domains`,
      status: 201,
      ...own,
      body: { domain: 'example.org' },
    },
    // The resolver of this test does not know the name; domains.test.ts tests the success.
    {
      route: 'POST /api/orgs/{orgID}/domains/{domainID}/verify',
      path: `/api/orgs/${org}/domains/none/verify`,
      status: 404,
      ...own,
    },
    { route: 'GET /api/orgs/{orgID}/projects', path: `/api/orgs/${org}/projects`, status: 200, ...own },
    {
      route: 'POST /api/orgs/{orgID}/projects',
      path: `/api/orgs/${org}/projects`,
      status: 201,
      ...own,
      body: { name: 'New' },
    },
    { route: 'GET /api/projects/{projectID}', path: at(''), status: 200, ...own },
    {
      route: 'PATCH /api/projects/{projectID}',
      path: at(''),
      status: 200,
      ...own,
      body: { timezone: 'Europe/Berlin' },
    },
    {
      route: 'GET /api/projects/{projectID}/usage',
      path: at('/usage?from=2026-01-01&to=2026-01-31'),
      status: 200,
      ...own,
    },
    { route: 'GET /api/projects/{projectID}/usage', path: at('/usage?from=soon'), status: 400, ...own },
    { route: 'GET /api/projects/{projectID}/rejected', path: at('/rejected'), status: 200, ...own },
    { route: 'POST /api/projects/{projectID}/tokens', path: at('/tokens'), status: 201, ...own, body: newToken },
    { route: 'GET /api/projects/{projectID}/tokens', path: at('/tokens'), status: 200, ...own },
    {
      route: 'DELETE /api/projects/{projectID}/tokens/{tokenID}',
      path: at(`/tokens/${tokens[0].id}`),
      status: 200,
      ...own,
    },
    { route: 'GET /api/me/tokens', status: 200, ...own },
    { route: 'DELETE /api/me/tokens/{tokenID}', path: `/api/me/tokens/${tokens[1].id}`, status: 200, ...own },

    { route: 'GET /api/admin/projects', status: 200, ...ak },
    { route: 'POST /api/admin/projects', status: 201, ...ak, body: { name: 'New' } },
    { route: 'GET /api/admin/projects/{projectID}', path: `/api/admin/projects/${project.id}`, status: 200, ...ak },
    {
      route: 'GET /api/admin/projects/{projectID}/usage',
      path: `/api/admin/projects/${project.id}/usage`,
      status: 200,
      ...ak,
    },
    {
      route: 'POST /api/admin/projects/{projectID}/rotate-secret-key',
      path: `/api/admin/projects/${project.id}/rotate-secret-key`,
      status: 200,
      ...ak,
    },
    {
      route: 'DELETE /api/admin/projects/{projectID}',
      path: `/api/admin/projects/${doomed.id}`,
      status: 200,
      ...ak,
      body: { project_name: 'A', project_name_confirm: 'A' },
    },
    { route: 'POST /api/projects/{projectID}/rotate-secret-key', path: at('/rotate-secret-key'), status: 200, ...own },
    {
      route: 'DELETE /api/projects/{projectID}',
      path: `/api/projects/${condemned.id}`,
      status: 200,
      ...own,
      body: { project_name: 'B', project_name_confirm: 'B' },
    },
    {
      route: 'POST /api/orgs/{orgID}/rotate-admin-key',
      path: `/api/orgs/${org}/rotate-admin-key`,
      status: 200,
      ...own,
    },
  ];
}

/** Tested in sign-in.test.ts, because it requires an identity provider. */
const TESTED_ELSEWHERE: readonly RouteName[] = ['GET /auth/idp'];

test('every route answers as documented', async () => {
  for (const { route, path, status, ...sent } of calls) {
    const [method = '', template = ''] = route.split(' ');
    const answered = await send(processes.url, `${method} ${path ?? template}`, sent);
    expect([route, sent.body, answered.status, answered.body]).toEqual([route, sent.body, status, answered.body]);
    asked.add(route);
  }
  const routes = ROUTES.map(({ method, path }) => `${method} ${path}`);
  expect(routes.filter((route) => !asked.has(route))).toEqual(TESTED_ELSEWHERE);
}, 240_000);

test('GET /openapi.json returns the document of the code', async () => {
  const served = await (await fetch(`${processes.url}/openapi.json`)).json();
  expect(served).toMatchObject({ openapi: '3.1.0', paths: { '/track': { post: { operationId: 'track' } } } });
});

describe('expectDocumented', () => {
  const JSON_TYPE = 'application/json; charset=utf-8';
  test.each<[string, string, number, string, string]>([
    ['a missing field', 'POST /track', 200, JSON_TYPE, '{}'],
    ['a field of another type', 'POST /track', 200, JSON_TYPE, '{"accepted":"1"}'],
    ['an additional field', 'POST /track', 200, JSON_TYPE, '{"accepted":1,"rejected":1}'],
    ['another media type', 'POST /track', 200, 'text/plain', '1'],
    ['a missing header', 'POST /track', 429, JSON_TYPE, '{"error":"too many"}'],
    ['an undocumented status', 'GET /api/orgs', 418, JSON_TYPE, '{"error":"tea"}'],
    ['an error of another shape', 'GET /api/orgs', 403, JSON_TYPE, '{"message":"no"}'],
    ['an object instead of a list', 'GET /api/orgs', 200, JSON_TYPE, '{"organizations":[]}'],
    ['an item of another shape', 'GET /api/projects/x/usage', 200, JSON_TYPE, '[{"date":"today"}]'],
  ])('rejects %s', (_, route, status, contentType, text) => {
    expect(() => expectDocumented(route, { status, contentType, text })).toThrow('the OpenAPI document');
  });
});
