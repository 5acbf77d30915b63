// Permissions of every route with every kind of credential: valid, revoked and of others. The table
// is written from the interface, not from the code, and must name every route in the code.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { digestKey } from '../../src/access/keys.js';
import type { Scope } from '../../src/access/roles.js';
import { ROUTES } from '../../src/access/route-matrix.js';
import { rotateSecretKey } from '../../src/accounts/projects.js';
import { createSession, endSession } from '../../src/accounts/sessions.js';
import { createOrganization, rotateAdminKey } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { type Answer, createTeam, createTeamProject, join, type Sent, send, signIn } from '../support/accounts.js';
import { createToken } from '../support/agent.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let fixture: Fixture;

beforeAll(async () => {
  databases = await createTestDatabases({
    ...{ IDP_PRESET: 'google', IDP_CLIENT_ID: 'test', IDP_CLIENT_SECRET: 'test' },
    // Each load of the demo fails, so that no shop is stored while other cells are checked.
    PROJECTS_PER_ORGANIZATION_MAX: '1',
  });
  postgres = createPostgres(databases.config);
  fixture = await createFixture();
  processes = await startProcesses(databases.env);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

/** Every kind of credential. The first word is the kind, the rest its state. */
const CALLERS = [
  'nothing',
  'nonsense',
  'pk',
  'pk of a deleted project',
  'sk',
  'sk before rotation',
  'sk of a deleted project',
  'aat track',
  'aat query',
  'aat dashboards',
  'aat admin',
  'aat revoked',
  'aat expired',
  'aat of a deleted project',
  'aat of a person who left',
  'ak',
  'ak before rotation',
  'ak of another organization',
  'owner',
  'admin',
  'member',
  'outsider',
  'session ended',
  'session expired',
] as const;
type Caller = (typeof CALLERS)[number];

const NOBODY = CALLERS.filter((caller) => /^nothing|^nonsense|before|deleted|revoked|expired|ended|left/.test(caller));
const INVALID: ReadonlySet<Caller> = new Set(NOBODY);

/** Route → who may, in the words of the interface. `*`: anyone. */
const MATRIX: Readonly<Record<string, string>> = {
  'GET /': '*',
  'GET /start': '*',
  'GET /projects/{projectID}': '*',
  'GET /projects/{projectID}/{screen}': '*',
  'GET /projects/{projectID}/{screen}/{item}': '*',
  'GET /login': '*',
  'GET /invitations/{token}': '*',
  'POST /invitations/{token}': 'signed in',
  'GET /unsubscribe/{token}': '*',
  'POST /unsubscribe/{token}': '*',
  'GET /sign-in/{token}': '*',
  'POST /sign-in/{token}': '*',
  'GET /auth/idp': '*',
  'GET /auth/idp/cb': '*',
  'POST /auth/logout': '*',
  'GET /.well-known/oauth-protected-resource': '*',
  'GET /.well-known/oauth-protected-resource/mcp': '*',
  'GET /.well-known/oauth-authorization-server': '*',
  'POST /oauth/register': '*',
  'GET /oauth/authorize': '*',
  'POST /oauth/authorize': 'signed in',
  'POST /oauth/token': '*',
  'POST /oauth/revoke': '*',
  'GET /public/service.js': '*',
  'GET /llms.txt': '*',
  'GET /openapi.json': '*',
  'GET /healthz': '*',
  'GET /readyz': '*',
  'GET /metrics': '*',

  'POST /track': 'pk, sk, aat track',
  'POST /identify': 'pk, sk, aat track',
  'POST /identify/batch': 'sk, aat admin',
  'POST /v1/{call}': 'pk, sk, aat track',
  'POST /v1/m': '*',
  'GET /v1/projects/{writeKey}/settings': '*',
  'GET /cdn/v1/projects/{writeKey}/settings': '*',
  'POST /batch': 'pk, sk, aat track',
  'POST /batch/': 'pk, sk, aat track',
  'POST /e': 'pk, sk, aat track',
  'POST /e/': 'pk, sk, aat track',
  'POST /i/v0/e': 'pk, sk, aat track',
  'POST /i/v0/e/': 'pk, sk, aat track',
  'POST /i/v0/ai/batch': 'pk, sk, aat track',
  'POST /i/v0/ai/batch/': 'pk, sk, aat track',
  'POST /i/v1/analytics/events': 'pk, sk, aat track',
  'POST /capture': 'pk, sk, aat track',
  'POST /capture/': 'pk, sk, aat track',
  'POST /flags': '*',
  'POST /flags/': '*',
  'POST /decide': '*',
  'POST /decide/': '*',
  'POST /s': '*',
  'POST /s/': '*',
  'POST /i/v1/logs': '*',
  'POST /i/v1/metrics': '*',
  'POST /i/v1/traces': '*',
  'GET /flags/definitions': '*',
  'GET /api/projects/@current/feature_flags/{flag}/remote_config': '*',
  'GET /api/surveys': '*',
  'GET /api/surveys/': '*',
  'GET /api/early_access_features': '*',
  'GET /api/early_access_features/': '*',
  'GET /api/product_tours': '*',
  'GET /api/product_tours/': '*',
  'GET /api/web_experiments': '*',
  'GET /api/web_experiments/': '*',
  'GET /array/{token}/config': '*',
  'GET /array/{token}/config.js': '*',
  'POST /2/httpapi': 'pk, sk, aat track',
  'POST /query': 'sk, aat query',
  'GET /catalog': 'sk, aat query',
  'POST /mcp': 'aat query, aat dashboards',
  'PUT /api/dashboard-sync/{dashboardKey}': 'sk, aat dashboards',
  'DELETE /api/dashboard-sync/{dashboardKey}': 'sk, aat dashboards',
  'PUT /api/definitions': 'sk, aat dashboards',
  'GET /api/definitions': 'sk, aat dashboards',
  'GET /api/definitions/uses': 'sk, aat dashboards',
  'GET /api/definitions/dropped': 'sk, aat dashboards',
  'GET /api/definitions/keep': 'sk, aat dashboards',
  'DELETE /api/gdpr/users/{userID}': 'sk, aat admin',
  'GET /api/gdpr/users/{userID}/export': 'sk, aat admin',
  'GET /api/gdpr/requests/{requestID}': 'sk, aat admin',
  'GET /api/gdpr/audit': 'sk, aat admin',
  'GET /api/export/events': 'sk, aat admin',
  'GET /api/export/identities': 'sk, aat admin',

  'GET /api/orgs': 'signed in',
  'POST /api/orgs': 'signed in',
  'GET /api/orgs/{orgID}': 'member',
  'PATCH /api/orgs/{orgID}': 'owner',
  'DELETE /api/orgs/{orgID}': 'owner',
  'POST /api/orgs/{orgID}/rotate-admin-key': 'owner',
  'GET /api/orgs/{orgID}/members': 'owner',
  'PATCH /api/orgs/{orgID}/members/{userID}': 'owner',
  'DELETE /api/orgs/{orgID}/members/{userID}': 'owner',
  'GET /api/orgs/{orgID}/invitations': 'owner',
  'POST /api/orgs/{orgID}/invitations': 'owner',
  'DELETE /api/orgs/{orgID}/invitations/{invitationID}': 'owner',
  'POST /api/invitations/{token}/accept': 'signed in',
  'GET /api/orgs/{orgID}/domains': 'owner',
  'POST /api/orgs/{orgID}/domains': 'owner',
  'DELETE /api/orgs/{orgID}/domains/{domainID}': 'owner',
  'POST /api/orgs/{orgID}/domains/{domainID}/verify': 'owner',
  'GET /api/orgs/{orgID}/demo': 'member',
  'POST /api/orgs/{orgID}/demo': 'admin',
  'DELETE /api/orgs/{orgID}/demo': 'admin',
  'GET /api/orgs/{orgID}/projects': 'member',
  'POST /api/orgs/{orgID}/projects': 'admin',
  'GET /api/projects/{projectID}': 'member',
  'PATCH /api/projects/{projectID}': 'admin',
  'DELETE /api/projects/{projectID}': 'owner',
  'POST /api/projects/{projectID}/query': 'member',
  'GET /api/projects/{projectID}/catalog': 'member',
  'GET /api/projects/{projectID}/dashboards': 'member',
  'GET /api/projects/{projectID}/dashboards/{dashboardID}': 'member',
  'DELETE /api/projects/{projectID}/dashboards/{dashboardID}': 'member',
  'POST /api/projects/{projectID}/dashboards/{dashboardID}/cards/{cardID}/queries': 'member',
  'POST /api/projects/{projectID}/dashboards': 'member',
  'PUT /api/projects/{projectID}/dashboards/{dashboardID}': 'member',
  'POST /api/projects/{projectID}/dashboards/{dashboardID}/cards': 'member',
  'POST /api/projects/{projectID}/dashboards/{dashboardID}/alerts': 'member',
  'POST /api/projects/{projectID}/dashboards/{dashboardID}/reports': 'member',
  'POST /api/projects/{projectID}/dashboards/{dashboardID}/draft': 'member',
  'POST /api/projects/{projectID}/dashboards/{dashboardID}/queries': 'member',
  'GET /api/projects/{projectID}/dashboards/{dashboardID}/versions': 'member',
  'GET /api/projects/{projectID}/dashboards/{dashboardID}/versions/{version}': 'member',
  'GET /api/projects/{projectID}/definitions': 'member',
  'PUT /api/projects/{projectID}/definitions': 'admin',
  'GET /api/projects/{projectID}/definitions/uses': 'member',
  'GET /api/projects/{projectID}/definitions/dropped': 'member',
  'GET /api/projects/{projectID}/definitions/keep': 'member',
  'GET /api/projects/{projectID}/definitions/versions': 'member',
  'GET /api/projects/{projectID}/definitions/versions/{version}': 'member',
  'GET /api/projects/{projectID}/alerts': 'member',
  'POST /api/projects/{projectID}/alerts/dry-run': 'member',
  'POST /api/projects/{projectID}/alerts/{alertID}/dry-run': 'member',
  'GET /api/projects/{projectID}/alerts/{alertID}/checks': 'member',
  'GET /api/projects/{projectID}/reports': 'member',
  'POST /api/projects/{projectID}/reports/dry-run': 'member',
  'POST /api/projects/{projectID}/reports/{reportID}/dry-run': 'member',
  'GET /api/projects/{projectID}/reports/{reportID}/runs': 'member',
  'GET /api/projects/{projectID}/webhook-secret': 'admin',
  'POST /api/projects/{projectID}/rotate-webhook-secret': 'admin',
  'POST /api/projects/{projectID}/rotate-secret-key': 'admin',
  'POST /api/projects/{projectID}/tokens': 'member',
  'GET /api/projects/{projectID}/tokens': 'member',
  'DELETE /api/projects/{projectID}/tokens/{tokenID}': 'member',
  'GET /api/projects/{projectID}/usage': 'member',
  'GET /api/projects/{projectID}/rejected': 'member',
  'GET /api/projects/{projectID}/live': 'member',
  'POST /api/projects/{projectID}/imports': 'admin',
  'POST /api/projects/{projectID}/erasures': 'admin',
  'GET /api/projects/{projectID}/erasures/{requestID}': 'admin',
  'POST /api/projects/{projectID}/exports': 'admin',
  'GET /api/projects/{projectID}/exports/events': 'admin',
  'GET /api/projects/{projectID}/exports/identities': 'admin',
  'GET /api/projects/{projectID}/audit': 'admin',
  'GET /api/projects/{projectID}/delivery': 'owner',
  'POST /api/projects/{projectID}/delivery/replay': 'owner',
  'POST /api/projects/{projectID}/delivery/discard': 'owner',
  'GET /api/me/tokens': 'signed in',
  'DELETE /api/me/tokens/{tokenID}': 'signed in',
  'DELETE /api/me/orgs/{orgID}': 'member',
  'DELETE /api/me': 'signed in',

  'GET /api/admin/projects': 'ak',
  'POST /api/admin/projects': 'ak',
  'GET /api/admin/projects/{projectID}': 'ak',
  'DELETE /api/admin/projects/{projectID}': 'ak',
  'POST /api/admin/projects/{projectID}/rotate-secret-key': 'ak',
  'GET /api/admin/projects/{projectID}/usage': 'ak',
};

test('the matrix contains exactly the routes of the code', () => {
  expect(Object.keys(MATRIX)).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`));
});

const SESSIONS: readonly Caller[] = ['owner', 'admin', 'member', 'outsider'];
const KEYS: readonly Caller[] = CALLERS.filter((caller) => /^(?:pk|sk|aat|ak)/.test(caller) && !INVALID.has(caller));
const ROLES_FROM: Readonly<Record<string, readonly Caller[]>> = {
  'signed in': SESSIONS,
  member: ['owner', 'admin', 'member'],
  admin: ['owner', 'admin'],
  owner: ['owner'],
};

type Verdict = 'passes' | 401 | 403 | 404;

/**
 * 401: no credential, or not a kind that the route accepts. 403: insufficient role or scope. 404:
 * the caller may not know that it exists.
 */
function verdictOn(route: string, caller: Caller): Verdict {
  const allowed = MATRIX[route] ?? '';
  if (allowed === '*') return 'passes';
  const isProjectOfAdmin = route.includes('/api/admin/projects/');
  if (allowed in ROLES_FROM) {
    if (!SESSIONS.includes(caller)) return 401;
    if (ROLES_FROM[allowed]?.includes(caller)) return 'passes';
    return caller === 'outsider' ? 404 : 403;
  }
  if (!KEYS.includes(caller)) return 401;
  if (caller === 'ak of another organization' && allowed === 'ak') return isProjectOfAdmin ? 404 : 'passes';
  return allowed.split(', ').includes(caller) ? 'passes' : 403;
}

// A valid call ends the session: sign-in.test.ts tests it.
const LAST = 'POST /auth/logout';

test.each(Object.keys(MATRIX).filter((route) => route !== LAST))(
  '%s allows exactly the credentials of the matrix',
  async (route) => {
    const verdicts: Record<string, unknown> = {};
    for (const caller of CALLERS) verdicts[caller] = verdictIn(await come(route, caller));
    expect(verdicts).toEqual(Object.fromEntries(CALLERS.map((caller) => [caller, verdictOn(route, caller)])));
  },
);

const come = (route: string, caller: Caller): Promise<Answer> =>
  send(processes.url, pathTo(route), { ...fixture.callers[caller], body: bodyFor(route) });

/** Later errors (an invalid body, a missing object) count as passed; other tests cover them. */
function verdictIn({ status, body: answered }: Answer): Verdict | Answer {
  const body = answered ?? {};
  const isHidden = status === 404 && /^there is no such (?:organization|project)$/.test(body.error);
  if (status === 401 || status === 403 || isHidden) return status as Verdict;
  const isRoute = !/no such route|not available yet/.test(body.error ?? '');
  return isRoute && [200, 201, 202, 302, 400, 404].includes(status) ? 'passes' : { status, body };
}

interface Fixture {
  readonly callers: Readonly<Record<Caller, Sent>>;
  /** Values of path parameters by name. */
  readonly ids: Readonly<Record<string, string>>;
  readonly adminIds: Readonly<Record<string, string>>;
}

const NO_ONE = '00000000-0000-7000-8000-000000000000';

/** A length that the live feed refuses after the check, because an open feed would never end. */
const STREAM = '?seconds=0';

const pathTo = (route: string): string =>
  route.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const ids = route.includes('/api/admin/') ? fixture.adminIds : fixture.ids;
    return ids[name] ?? NO_ONE;
  }) + (route.endsWith('/live') ? STREAM : '');

/**
 * An empty body, which every route that needs one refuses after the check, so that no call changes
 * anything.
 */
const bodyFor = (route: string): unknown =>
  /^(?:POST|PUT|PATCH)|^DELETE \/api\/(?:(?:admin\/)?projects\/\{projectID\}|(?:me\/)?orgs\/\{orgID\}|me)$/.test(route)
    ? {}
    : undefined;

/**
 * The keys belong to one organization, and the ids in paths to another with the same members, so
 * that a route that rotates a key does not invalidate the keys of other cells.
 */
async function createFixture(): Promise<Fixture> {
  const keys = await createTeam(postgres);
  const target = await createOrganization(postgres, { name: 'Target' });
  for (const role of ['owner', 'admin', 'member'] as const) await join(postgres, target.id, keys.people[role], role);
  const outsider = await signIn(postgres);
  const otherTeam = await createTeam(postgres);

  const project = await createTeamProject(postgres, databases, keys.organization.id);
  const rotated = await createTeamProject(postgres, databases, keys.organization.id);
  const deleted = await createTeamProject(postgres, databases, keys.organization.id);
  await rotateSecretKey(postgres, rotated.id, databases.config.SECRET_KEY_BASE);
  await postgres('projects').where({ id: deleted.id }).update({ deleted_at: new Date() });
  const rotatedTeam = await createTeam(postgres);
  await rotateAdminKey(postgres, rotatedTeam.organization.id);

  const [ended, expired] = [await createSession(postgres, outsider.id), await createSession(postgres, outsider.id)];
  await endSession(postgres, ended);
  await postgres('sessions')
    .where({ id_digest: digestKey(expired) })
    .update({ expires_at: new Date(0) });
  const { owner, admin, member } = keys.people;

  return {
    callers: {
      nothing: {},
      nonsense: { key: 'sk_nonsense', session: 'nonsense' },
      pk: { key: project.publicKey },
      'pk of a deleted project': { key: deleted.publicKey },
      sk: { key: project.secretKey },
      'sk before rotation': { key: rotated.secretKey },
      'sk of a deleted project': { key: deleted.secretKey },
      'aat track': { key: await createToken(postgres, project.id, ['track']) },
      'aat query': { key: await createToken(postgres, project.id, ['query']) },
      'aat dashboards': { key: await createToken(postgres, project.id, ['dashboards']) },
      'aat admin': { key: await createToken(postgres, project.id, ['admin']) },
      'aat revoked': { key: await createToken(postgres, project.id, ALL_SCOPES, { revoked_at: new Date() }) },
      'aat expired': { key: await createToken(postgres, project.id, ALL_SCOPES, { expires_at: new Date(0) }) },
      'aat of a deleted project': { key: await createToken(postgres, deleted.id, ALL_SCOPES) },
      'aat of a person who left': {
        key: await createToken(postgres, project.id, ALL_SCOPES, { kind: 'personal', created_by: outsider.id }),
      },
      ak: { key: keys.organization.adminKey },
      'ak before rotation': { key: rotatedTeam.organization.adminKey },
      'ak of another organization': { key: otherTeam.organization.adminKey },
      owner: { session: owner.session },
      admin: { session: admin.session },
      member: { session: member.session },
      outsider: { session: outsider.session },
      'session ended': { session: ended },
      'session expired': { session: expired },
    },
    ids: { call: 'batch', orgID: target.id, projectID: (await createTeamProject(postgres, databases, target.id)).id },
    adminIds: { projectID: (await createTeamProject(postgres, databases, keys.organization.id)).id },
  };
}

const ALL_SCOPES: readonly Scope[] = ['track', 'query', 'dashboards', 'admin'];
