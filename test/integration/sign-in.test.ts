// Sign-in with the real local provider: all redirects, and their failures.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestKey } from '../../src/access/keys.js';
import { createOrganization } from '../../src/accounts/store.js';
import { newUuidV7 } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { CookieJar } from '../support/cookie-jar.js';
import { type SignInStack, signedInAs, signIn, startSignInStack, untilCallback } from '../support/sign-in.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const DAY_MS = 24 * 60 * 60_000;

let databases: TestDatabases;
let postgres: Postgres;
let stack: SignInStack;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  stack = await startSignInStack(databases);
});

afterAll(async () => {
  await stack?.stop();
  await postgres?.destroy();
  await databases?.close();
});

let people = 0;
const newEmail = (domain = 'example.com') => `person-${++people}@${domain}`;
const callback = (jar: CookieJar, options: Partial<Parameters<typeof untilCallback>[1]> = {}) =>
  untilCallback(jar, { url: stack.url, email: newEmail(), ...options });
const organizationsOf = async (jar: CookieJar) => {
  const { status, text } = await jar.visit(`${stack.url}/api/orgs`, { headers: { Accept: 'application/json' } });
  return { status, body: JSON.parse(text) };
};

describe('sign-in', () => {
  test('redirects to the provider with state, nonce and PKCE, and stores them in an encrypted cookie', async () => {
    const jar = new CookieJar();
    const { status, location } = await jar.visit(`${stack.url}/auth/idp`);
    const query = Object.fromEntries(new URL(location ?? '').searchParams);
    expect(status).toBe(302);
    expect(query).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      scope: 'openid email profile',
    });
    expect(query.redirect_uri).toBe(`${stack.url}/auth/idp/cb`);
    for (const name of ['state', 'nonce', 'code_challenge']) expect(query[name]?.length).toBeGreaterThanOrEqual(40);
    expect(jar.received).toHaveLength(1);
    expect(jar.received[0]).toMatch(/^service_sign_in=.*; Max-Age=600; Path=\/auth\/idp; .*HttpOnly; SameSite=Lax$/);
    expect(Buffer.from(jar.get('service_sign_in') ?? '', 'base64url').toString('latin1')).not.toContain(query.state);
  });

  test('sets the session cookie and redirects to the requested path', async () => {
    const jar = new CookieJar();
    const answer = await signIn(jar, { url: stack.url, email: newEmail(), next: '/login?a=1#b' });
    expect([answer.status, answer.location]).toEqual([302, `${stack.url}/login?a=1#b`]);
    expect(jar.get('service_session')).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(jar.get('service_sign_in')).toBeUndefined();
    const cookie = jar.received.find((text) => text.startsWith('service_session='));
    expect(cookie).toMatch(/; Path=\/; .*HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain('Secure');
  });

  test('creates an organization with a project and its owner for a new person', async () => {
    const email = newEmail();
    const first = await organizationsOf(await signedInAs(stack.url, email));
    expect(first).toMatchObject({
      status: 200,
      body: [{ name: `${email.split('@')[0]}'s organization`, role: 'owner' }],
    });
    const projects = await postgres('projects').where({ organization_id: first.body[0].id }).select('name');
    expect(projects).toEqual([{ name: 'My project' }]);
    expect(await organizationsOf(await signedInAs(stack.url, email))).toEqual(first);
  });

  test('creates one person and one organization for concurrent sign-ins', async () => {
    const email = newEmail();
    const jars = [new CookieJar(), new CookieJar(), new CookieJar()];
    const callbacks = await Promise.all(jars.map((jar) => callback(jar, { email })));
    await Promise.all(jars.map((jar, index) => jar.visit(callbacks[index] ?? '')));
    const lists = await Promise.all(jars.map(organizationsOf));
    expect(lists[0]?.body).toHaveLength(1);
    expect(lists).toEqual([lists[0], lists[0], lists[0]]);
  });

  test('treats another subject of the provider with the same address as another person', async () => {
    const email = newEmail();
    const jar = await signedInAs(stack.url, email);
    const person = await postgres('people').where({ provider: 'test', subject: email }).first('id');
    await postgres('people').where(person).update({ subject: 'moved-away' });
    const other = await signedInAs(stack.url, email);
    expect((await organizationsOf(other)).body[0].id).not.toBe((await organizationsOf(jar)).body[0].id);
  });

  test('joins the organization of a verified domain and creates none', async () => {
    const organization = await createOrganization(postgres, { name: 'Verified' });
    const domain = {
      id: newUuidV7(),
      organization_id: organization.id,
      token: 't',
      verified_at: new Date(),
      record_seen_at: new Date(),
    };
    await postgres('domains').insert({ ...domain, domain: 'verified.example' });
    const { body } = await organizationsOf(await signedInAs(stack.url, newEmail('verified.example')));
    expect(body).toMatchObject([{ id: organization.id, role: 'member' }]);
  });

  test('creates an organization for a person with an open invitation, because an invitation is optional', async () => {
    const host = newEmail();
    const jar = await signedInAs(stack.url, host);
    const [{ id: organizationId }] = (await organizationsOf(jar)).body;
    const { id: invitedBy } = await postgres('people').where({ email: host }).first('id');
    const email = newEmail();
    await postgres('invitations').insert({
      ...{ id: newUuidV7(), organization_id: organizationId, email, role: 'member', invited_by: invitedBy },
      ...{ token_digest: Buffer.from(email), expires_at: new Date(Date.now() + 60_000) },
    });
    const { body } = await organizationsOf(await signedInAs(stack.url, email));
    expect(body).toMatchObject([{ id: expect.not.stringContaining(organizationId), role: 'owner' }]);
  });

  test('always creates a new session and ends the previous one', async () => {
    const jar = await signedInAs(stack.url, newEmail());
    const before = jar.get('service_session') ?? '';
    await signIn(jar, { url: stack.url, email: newEmail() });
    expect(jar.get('service_session')).not.toBe(before);
    const old = new CookieJar();
    old.set('service_session', before);
    expect((await organizationsOf(old)).status).toBe(401);
  });
});

describe('the sign-in callback refuses', () => {
  const answersAs = async (jar: CookieJar, address: string) => {
    const { status, text } = await jar.visit(address, { headers: { Accept: 'application/json' } });
    expect(jar.get('service_session')).toBeUndefined();
    return [status, JSON.parse(text).error];
  };
  const elsewhere = /begun|begin at/;
  const unconfirmed = 'the identity provider did not confirm the sign-in; try again';

  test('a changed state', async () => {
    const jar = new CookieJar();
    const address = await callback(jar, { tamper: (authorize) => authorize.searchParams.set('state', 'f'.repeat(40)) });
    expect(await answersAs(jar, address)).toEqual([400, expect.stringMatching(elsewhere)]);
  });

  test('a sign-in that another browser began', async () => {
    const address = await callback(new CookieJar());
    expect(await answersAs(new CookieJar(), address)).toEqual([400, expect.stringMatching(elsewhere)]);
    const jar = new CookieJar();
    await callback(jar);
    expect(await answersAs(jar, address)).toEqual([400, expect.stringMatching(elsewhere)]);
  });

  test('a forged attempt cookie', async () => {
    const jar = new CookieJar();
    const address = await callback(jar);
    const sealed = jar.get('service_sign_in') ?? '';
    for (const madeUp of [`${sealed.slice(0, -4)}AAAA`, 'AAAA', '%E0%A4%A']) {
      jar.set('service_sign_in', madeUp, '/auth/idp');
      expect(await answersAs(jar, address)).toEqual([400, expect.stringMatching(elsewhere)]);
    }
  });

  test('a code that was used before', async () => {
    const jar = new CookieJar();
    const address = await callback(jar);
    const attempt = jar.get('service_sign_in') ?? '';
    expect((await jar.visit(address)).status).toBe(302);
    const thief = new CookieJar();
    thief.set('service_sign_in', attempt, '/auth/idp');
    expect(await answersAs(thief, address)).toEqual([401, unconfirmed]);
  });

  test.each([
    ['nonce', 'e'.repeat(40)],
    ['code_challenge', 'A'.repeat(43)],
  ])('a changed %s', async (name, value) => {
    const jar = new CookieJar();
    const address = await callback(jar, { tamper: (authorize) => authorize.searchParams.set(name, value) });
    expect(await answersAs(jar, address)).toEqual([401, unconfirmed]);
  });

  test('an error of the provider, which it repeats', async () => {
    const jar = new CookieJar();
    const address = await callback(jar, { tamper: (authorize) => authorize.searchParams.set('prompt', 'none') });
    expect(await answersAs(jar, address)).toEqual([403, 'the identity provider refused the sign-in: login_required']);
  });

  test('a request without parameters', async () => {
    expect(await answersAs(new CookieJar(), `${stack.url}/auth/idp/cb`)).toEqual([
      400,
      expect.stringMatching(elsewhere),
    ]);
  });
});

describe('target after sign-in', () => {
  test.each([
    ['//evil.example/x', '/'],
    ['https://evil.example/', '/'],
    ['/\\evil.example', '/'],
    ['/.//evil.example', '/'],
    ['/ok/../login', '/login'],
    ['javascript:alert(1)', '/'],
  ])('next=%s redirects to %s', async (next, path) => {
    const { location } = await signIn(new CookieJar(), { url: stack.url, email: 'next@example.com', next });
    expect(location).toBe(`${stack.url}${path}`);
  });
});

describe('session cookie', () => {
  const logout = (jar: CookieJar, headers: Record<string, string> = {}) =>
    jar.visit(`${stack.url}/auth/logout`, { method: 'POST', headers });

  test.each(['/', '/api/orgs'])('is prolonged once a day by use of %s, together with its session', async (path) => {
    const email = newEmail();
    const jar = await signedInAs(stack.url, email);
    const token = jar.get('service_session') ?? '';
    const visit = async () => {
      const seen = jar.received.length;
      expect((await jar.visit(`${stack.url}${path}`)).status).toBe(200);
      return jar.received.slice(seen);
    };
    expect(await visit()).toEqual([]);
    const yesterday = { last_seen_at: new Date(Date.now() - DAY_MS), expires_at: new Date(Date.now() + DAY_MS) };
    await postgres('sessions')
      .where({ id_digest: digestKey(token) })
      .update(yesterday);
    expect(await visit()).toEqual([expect.stringMatching(`^service_session=${token}; Max-Age=2592000; .*HttpOnly`)]);
    expect(await visit()).toEqual([]);
  });

  test('is useless after a logout, also when copied before', async () => {
    const jar = await signedInAs(stack.url, newEmail());
    const kept = new CookieJar();
    kept.set('service_session', jar.get('service_session') ?? '');
    expect(await logout(jar)).toMatchObject({ status: 303, location: `${stack.url}/` });
    expect(jar.get('service_session')).toBeUndefined();
    expect((await organizationsOf(kept)).status).toBe(401);
    expect(await logout(jar, { Accept: 'application/json' })).toMatchObject({ status: 200, text: '{"ok":true}' });
  });

  test('is refused after its session has expired or was revoked', async () => {
    const email = newEmail();
    const jar = await signedInAs(stack.url, email);
    const sessions = postgres('sessions').whereIn('person_id', postgres('people').where({ email }).select('id'));
    await sessions.clone().update({ expires_at: new Date(Date.now() - 1) });
    expect((await organizationsOf(jar)).status).toBe(401);
    await sessions.clone().update({ expires_at: new Date(Date.now() + 60_000) });
    expect((await organizationsOf(jar)).status).toBe(200);
    await sessions.clone().delete();
    expect(await organizationsOf(jar)).toEqual({
      status: 401,
      body: { error: 'a session is required; sign in at /login' },
    });
  });

  test.each([
    ['Origin of another', { Origin: 'https://evil.example' }, 403],
    ['Origin at another port', { Origin: 'http://127.0.0.1:1' }, 403],
    ['Origin without a name', { Origin: 'null' }, 403],
    ['Sec-Fetch-Site: cross-site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['Sec-Fetch-Site: same-site', { 'Sec-Fetch-Site': 'same-site' }, 403],
    ['Sec-Fetch-Site: same-origin', { 'Sec-Fetch-Site': 'same-origin' }, 303],
    ['Sec-Fetch-Site: none', { 'Sec-Fetch-Site': 'none' }, 303],
    ['neither', {}, 303],
  ] as const)('is refused for a change from another site: %s', async (_name, headers, status) => {
    const jar = await signedInAs(stack.url, 'origin@example.com');
    expect((await logout(jar, { ...headers })).status).toBe(status);
    expect((await organizationsOf(jar)).status).toBe(status === 403 ? 200 : 401);
  });

  test('is accepted for a change from the own origin without Sec-Fetch-Site', async () => {
    const jar = await signedInAs(stack.url, 'origin@example.com');
    expect((await logout(jar, { Origin: stack.url })).status).toBe(303);
  });
});
