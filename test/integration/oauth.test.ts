// Agents that people connect without a token: the official SDKs find the addresses, register, send
// the person here, and exchange the code.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestKey } from '../../src/access/keys.js';
import { createProject } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis } from '../../src/platform/redis/client.js';
import { createToken } from '../support/agent.js';
import { CookieJar } from '../support/cookie-jar.js';
import { eventually } from '../support/eventually.js';
import {
  CALLBACK,
  continuedAt,
  createCurrentClient,
  createEarlierClient,
  createOAuthState,
  decide,
} from '../support/oauth-client.js';
import { type SignInStack, signedInAs, signIn, startSignInStack } from '../support/sign-in.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;
let stack: SignInStack;
let jar: CookieJar;
let projectId: string;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  stack = await startSignInStack(databases, { kinds: ['query', 'web'], env: { TOKENS_PER_PERSON_MAX: '12' } });
  jar = await signedInAs(stack.url, 'ann@example.com');
  ({ id: projectId } = await postgres('projects').first('id'));
});

afterAll(async () => {
  await stack?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

async function register(body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${stack.url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function clientIdOf(redirectUri = CALLBACK): Promise<string> {
  const { body } = await register({ client_name: 'Editor', redirect_uris: [redirectUri] });
  return String(body.client_id);
}

function authorizeUrl(fields: Readonly<Record<string, string>>): string {
  const query = { response_type: 'code', code_challenge: CHALLENGE, code_challenge_method: 'S256', ...fields };
  return `${stack.url}/oauth/authorize?${new URLSearchParams(query)}`;
}

async function exchange(fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${stack.url}/oauth/token`, {
    method: 'POST',
    headers,
    body: new URLSearchParams({ grant_type: 'authorization_code', code_verifier: VERIFIER, ...fields }),
  });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body, headers: response.headers };
}

const allow = (url: string, by = jar) => decide(by, url, { decision: 'allow', project: projectId });

async function newCode(clientId: string): Promise<string> {
  const page = await allow(authorizeUrl({ client_id: clientId, redirect_uri: CALLBACK }));
  return continuedAt(page).searchParams.get('code') ?? '';
}

test.each([
  ['the current SDK', createCurrentClient],
  ['the earlier SDK', createEarlierClient],
])('%s connects with the address of /mcp alone', async (name, createClient) => {
  const state = createOAuthState(name);
  const first = createClient(stack.url, state);
  await expect(first.connect()).rejects.toThrow(/authoriz/i);

  const page = await jar.visit(state.authorizeAt());
  expect(page.status).toBe(200);
  expect(page.text).toContain(`<h1>Connect ${name}</h1>`);
  expect(page.text).toContain('a program on this machine</strong> (localhost:1455)');
  const answered = continuedAt(
    await decide(jar, state.authorizeAt(), { decision: 'allow', project: projectId, dashboards: 'on' }),
  );
  expect(answered.href.startsWith(`${CALLBACK}?`)).toBe(true);
  expect(answered.searchParams.get('state')).toBe('state-1');
  expect(answered.searchParams.get('iss')).toBe(stack.url);
  await first.finish(answered.searchParams);

  const second = createClient(stack.url, state);
  await second.connect();
  expect((await second.toolNames()).sort()).toEqual(['check', 'dashboards', 'query', 'save_dashboard', 'schema']);
  expect(await second.query('* | count')).toContain('0');
  await second.close();

  const token = await postgres('access_tokens').where({ name }).first();
  expect(token).toMatchObject({ kind: 'personal', project_id: projectId, scopes: ['query', 'dashboards'] });
  expect(Math.round((token.expires_at - token.created_at) / 86_400_000)).toBe(90);
});

test('a person without a session signs in first, and comes back to the page', async () => {
  const url = authorizeUrl({ client_id: await clientIdOf(), redirect_uri: CALLBACK, state: 's'.repeat(300) });
  const other = new CookieJar();
  const { location = '' } = await other.visit(url);
  expect(location.startsWith(`${stack.url}/login?next=`)).toBe(true);
  const next = new URL(location).searchParams.get('next') ?? '';
  const answer = await signIn(other, { url: stack.url, email: 'ben@example.com', next });
  expect(answer.location).toBe(url);
  expect((await other.visit(url)).text).toContain('Connect Editor');
});

test('a code is valid for a minute', async () => {
  const redis = createRedis(databases.config);
  try {
    const before = new Set(await redis.keys('oauth:code:*'));
    await newCode(await clientIdOf());
    const made = (await redis.keys('oauth:code:*')).filter((key) => !before.has(key));
    expect(made).toHaveLength(1);
    const left = await redis.ttl(made[0] ?? '');
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60);
  } finally {
    redis.disconnect();
  }
});

test('scopes that are not ticked are not given', async () => {
  const clientId = await clientIdOf();
  const { body, headers } = await exchange({ client_id: clientId, code: await newCode(clientId) });
  expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 90 * 86_400, scope: 'query' });
  expect(body.access_token).toMatch(/^aat_/);
  expect(headers.get('cache-control')).toBe('no-store');
});

test('a client that asks for queries alone is not offered dashboards', async () => {
  const fields = { client_id: await clientIdOf(), redirect_uri: CALLBACK };
  const asked = await jar.visit(authorizeUrl({ ...fields, scope: 'query openid' }));
  expect(asked.text).not.toContain('name="dashboards"');
  expect((await jar.visit(authorizeUrl({ ...fields, scope: 'openid' }))).text).toContain('name="dashboards"');
  const page = await decide(jar, authorizeUrl({ ...fields, scope: 'query' }), {
    ...{ decision: 'allow', project: projectId, dashboards: 'on' },
  });
  const code = continuedAt(page).searchParams.get('code') ?? '';
  expect((await exchange({ client_id: fields.client_id, code })).body.scope).toBe('query');
});

test('cancelled: the client is told so', async () => {
  const url = authorizeUrl({ client_id: await clientIdOf(), redirect_uri: CALLBACK, state: 'x&y"' });
  const answered = continuedAt(await decide(jar, url, { decision: 'deny' }));
  expect(Object.fromEntries(answered.searchParams)).toEqual({ error: 'access_denied', iss: stack.url, state: 'x&y"' });
});

test('a token ends with the membership, as any other personal token', async () => {
  const clientId = await clientIdOf();
  const ben = await signedInAs(stack.url, 'cat@example.com');
  const { id: organization_id } = await postgres('organizations').orderBy('id').first('id');
  const { id: person_id } = await postgres('people').where({ email: 'cat@example.com' }).first('id');
  await postgres('members').insert({ organization_id, person_id, role: 'member' });
  const page = await allow(authorizeUrl({ client_id: clientId, redirect_uri: CALLBACK }), ben);
  const code = continuedAt(page).searchParams.get('code') ?? '';
  await postgres('members').where({ organization_id, person_id }).delete();
  expect(await exchange({ client_id: clientId, code })).toMatchObject({
    status: 400,
    body: { error: 'invalid_grant' },
  });
});

describe('POST /oauth/token refuses', () => {
  test('a code that was used', async () => {
    const clientId = await clientIdOf();
    const fields = { client_id: clientId, code: await newCode(clientId) };
    expect((await exchange(fields)).status).toBe(200);
    expect(await exchange(fields)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  test.each([
    [{ code_verifier: 'w'.repeat(43) }, 400, 'invalid_grant'],
    [{ redirect_uri: 'http://localhost:1456/callback' }, 400, 'invalid_grant'],
    [{ resource: 'https://other.example.com/mcp' }, 400, 'invalid_target'],
    [{ client_id: 'e30.abc' }, 401, 'invalid_client'],
    [{ grant_type: 'refresh_token' }, 400, 'unsupported_grant_type'],
  ] as const)('%j', async (wrong, status, error) => {
    const clientId = await clientIdOf();
    const answer = await exchange({ client_id: clientId, code: await newCode(clientId), ...wrong });
    expect(answer).toMatchObject({ status, body: { error } });
    expect(answer.body.error_description).toBeTypeOf('string');
  });

  test('a client of another service with a challenge, when it sends an Authorization header', async () => {
    const unknown = { client_id: 'e30.abc', code: 'x' };
    expect((await exchange(unknown)).headers.get('www-authenticate')).toBeNull();
    const { status, headers } = await exchange(unknown, { Authorization: `Basic ${btoa('e30.abc:secret')}` });
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Basic realm="Event Analytics Service"']);
  });

  test('the code of another client, and a request without a code', async () => {
    const code = await newCode(await clientIdOf());
    const other = await clientIdOf('https://other.example.com/cb');
    expect(await exchange({ client_id: other, code })).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await exchange({ client_id: other })).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });
});

describe('GET /oauth/authorize refuses, and leads nowhere', () => {
  test.each([
    [{ client_id: 'made.up' }, 'client_id was not made here'],
    [{ redirect_uri: 'https://evil.example.com/' }, 'not one that it registered'],
    [{ redirect_uri: 'http://localhost:1455/other' }, 'not one that it registered'],
    [{ response_type: 'token' }, 'response_type'],
    [{ code_challenge: '' }, 'code_challenge'],
    [{ code_challenge_method: 'plain' }, 'code_challenge'],
    [{ resource: 'https://other.example.com/mcp' }, 'resource is not'],
  ] as const)('%j', async (wrong, message) => {
    const url = authorizeUrl({ client_id: await clientIdOf(), redirect_uri: CALLBACK, ...wrong });
    for (const visit of [await jar.visit(url), await allow(url)]) {
      expect(visit).toMatchObject({ status: 400, location: undefined });
      expect(visit.text).toContain(message);
      expect(visit.text).not.toContain('http-equiv');
    }
  });

  test('the form of another site, a project of others, and one token too many', async () => {
    const url = authorizeUrl({ client_id: await clientIdOf(), redirect_uri: CALLBACK });
    const foreign = await jar.visit(url, {
      ...{ method: 'POST', headers: { 'Sec-Fetch-Site': 'cross-site' } },
      body: new URLSearchParams({ decision: 'allow', project: projectId }),
    });
    expect(foreign.status).toBe(403);
    const stranger = await signedInAs(stack.url, 'dan@example.com');
    expect((await allow(url, stranger)).status).toBe(404);
    for (let token = 0; token < 12; token += 1) {
      const clientId = await clientIdOf();
      await exchange({ client_id: clientId, code: await newCode(clientId).catch(() => '') });
    }
    const full = await allow(url);
    expect(full.status).toBe(403);
    expect(full.text).toContain('revoke one first');
    await postgres('access_tokens').delete();
  });
});

test('a program on the machine may listen on another port than the registered one', async () => {
  const clientId = await clientIdOf('http://127.0.0.1/cb');
  const url = authorizeUrl({ client_id: clientId, redirect_uri: 'http://127.0.0.1:5123/cb' });
  expect(continuedAt(await allow(url)).origin).toBe('http://127.0.0.1:5123');
});

test('another port of an address that is not on the machine is refused', async () => {
  const clientId = await clientIdOf('https://claude.ai/cb');
  const page = await jar.visit(authorizeUrl({ client_id: clientId, redirect_uri: 'https://claude.ai:8443/cb' }));
  expect(page.status).toBe(400);
  expect(page.text).toContain('its redirect_uri is not one that it registered');
});

test('the page offers no project of other organizations, and none that is deleted', async () => {
  const { organization_id: organizationId } = await postgres('projects').where({ id: projectId }).first();
  const { SECRET_KEY_BASE: secretKeyBase } = databases.config;
  const gone = await createProject(postgres, { organizationId, name: 'Project of old', secretKeyBase });
  const offered = async () => (await jar.visit(authorizeUrl({ client_id: await clientIdOf() }))).text;
  expect(await offered()).toContain('Project of old');
  const stranger = await signedInAs(stack.url, 'eve@example.com');
  const shown = (await stranger.visit(authorizeUrl({ client_id: await clientIdOf() }))).text;
  expect(shown).toContain('Connect Editor');
  expect(shown).not.toContain('Project of old');
  await postgres('projects').where({ id: gone.id }).update({ deleted_at: postgres.fn.now() });
  expect(await offered()).not.toContain('Project of old');
});

describe('POST /oauth/register', () => {
  test.each([
    ['https://claude.ai/api/mcp/auth_callback', 'claude.ai'],
    ['cursor://anysphere.cursor-retrieval/oauth/callback', 'cursor'],
    ['http://[::1]:3000/cb', '[::1]:3000'],
  ])('takes %s, and names it by its host without a name', async (uri, name) => {
    const { status, body } = await register({ redirect_uris: [uri], token_endpoint_auth_method: 'client_secret_post' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ client_name: name, redirect_uris: [uri], token_endpoint_auth_method: 'none' });
    const page = await jar.visit(authorizeUrl({ client_id: String(body.client_id), redirect_uri: uri }));
    expect(page.text).toContain(`<strong>${name === 'claude.ai' ? name : 'a program on this machine'}</strong>`);
  });

  test.each([
    'http://example.com/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ms-officecmd:open',
    'search-ms:query=a',
    'jar:https://client.example/a.jar!/',
    'https://user:pass@example.com/',
    'https://example.com/#fragment',
    'not an address',
  ])('refuses %s', async (uri) => {
    expect(await register({ redirect_uris: [uri] })).toMatchObject({
      status: 400,
      body: { error: 'invalid_redirect_uri', error_description: expect.stringContaining('redirect_uris') },
    });
  });

  test('refuses too many, too long and missing addresses', async () => {
    const long = `https://example.com/${'x'.repeat(1000)}`;
    for (const uris of [undefined, [], [long], Array.from({ length: 11 }, (_, at) => `https://example.com/${at}`)]) {
      expect((await register({ redirect_uris: uris })).status).toBe(400);
    }
  });
});

describe('POST /oauth/revoke', () => {
  const revoke = (token: string) =>
    fetch(`${stack.url}/oauth/revoke`, { method: 'POST', body: new URLSearchParams({ token }) });
  const isActive = async (token: string): Promise<boolean> =>
    (await fetch(`${stack.url}/mcp`, { method: 'POST', headers: { Authorization: `Bearer ${token}` }, body: '{}' }))
      .status !== 401;

  test('ends the token of a client that disconnects', async () => {
    const clientId = await clientIdOf();
    const { body } = await exchange({ client_id: clientId, code: await newCode(clientId) });
    const token = String(body.access_token);
    expect(await isActive(token)).toBe(true);
    expect((await revoke(token)).status).toBe(200);
    await eventually(async () => expect(await isActive(token)).toBe(false));
    const { revoked_at } = await postgres('access_tokens')
      .where({ digest: digestKey(token) })
      .first();
    expect(revoked_at).toBeInstanceOf(Date);
    expect((await revoke(token)).status).toBe(200);
  });

  test('leaves tokens alone that were not made for a person, and answers the same', async () => {
    const token = await createToken(postgres, projectId, ['query']);
    expect((await revoke(token)).status).toBe(200);
    expect(
      await postgres('access_tokens')
        .where({ digest: digestKey(token) })
        .first('revoked_at'),
    ).toEqual({
      revoked_at: null,
    });
    expect((await revoke('aat_unknown')).status).toBe(200);
  });

  test('names what is missing', async () => {
    const answer = await revoke('');
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error: 'invalid_request', error_description: 'token is required' });
  });
});

test('the documents name every address, and that answers name the issuer', async () => {
  const read = async (name: string) => (await fetch(`${stack.url}/.well-known/${name}`)).json();
  expect(await read('oauth-authorization-server')).toEqual({
    issuer: stack.url,
    authorization_endpoint: `${stack.url}/oauth/authorize`,
    token_endpoint: `${stack.url}/oauth/token`,
    registration_endpoint: `${stack.url}/oauth/register`,
    revocation_endpoint: `${stack.url}/oauth/revoke`,
    scopes_supported: ['query', 'dashboards'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  expect(await read('oauth-protected-resource/mcp')).toEqual({
    resource: `${stack.url}/mcp`,
    authorization_servers: [stack.url],
    scopes_supported: ['query', 'dashboards'],
    bearer_methods_supported: ['header'],
    resource_name: 'Event Analytics Service',
  });
});

test('scripts of other pages may read the documents and exchange codes', async () => {
  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server']) {
    const response = await fetch(`${stack.url}${path}`, { headers: { Origin: 'https://inspector.example.com' } });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  }
  const preflight = await fetch(`${stack.url}/oauth/token`, { method: 'OPTIONS' });
  expect(preflight.status).toBe(204);
});
