// HTML pages over HTTP: their content by viewer, and their security headers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInvitation } from '../../src/accounts/invitations.js';
import { createProject } from '../../src/accounts/store.js';
import { EXAMPLE_QUERY, EXAMPLE_ROWS } from '../../src/pages/example.js';
import { toOrganizationId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { CookieJar } from '../support/cookie-jar.js';
import { eventually } from '../support/eventually.js';
import { type SignInStack, signedInAs, startSignInStack } from '../support/sign-in.js';
import { createTestDatabases, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, track } from '../support/track.js';

let databases: TestDatabases;
let postgres: Postgres;
let stack: SignInStack;

beforeAll(async () => {
  databases = await createTestDatabases({ IDP_LABEL: 'A & B' });
  postgres = createPostgres(databases.config);
  stack = await startSignInStack(databases, { kinds: ['web', 'query', 'worker'] });
});

afterAll(async () => {
  await stack?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const see = (path: string, jar = new CookieJar(), init: RequestInit = {}) => jar.visit(`${stack.url}${path}`, init);
const organizationOf = async (email: string): Promise<string> =>
  (
    await postgres('members')
      .join('people', 'people.id', 'person_id')
      .where({ email, role: 'owner' })
      .first('organization_id')
  ).organization_id;

describe('GET /', () => {
  test('is an HTML page for browsers and plain text with commands for other clients', async () => {
    const page = await see('/');
    expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('<h1>Ask your product a question.</h1>');
    // The addresses and keys of the steps are of the reader's own service.
    expect(page.text).toMatch(/npm start[\s\S]*npm run -s keys[\s\S]*curl \$SERVICE_URL\/track/);
    expect(page.text).not.toContain(stack.url);
    for (const accept of ['*/*', 'text/plain', 'application/json']) {
      const answer = await see('/', undefined, { headers: { Accept: accept } });
      expect(answer.headers.get('Content-Type')).toBe('text/plain; charset=utf-8');
      expect(answer.text).toContain(`curl ${stack.url}/track`);
    }
  });

  test('shows an example answer that the service gives to these events', async () => {
    const project = await createTestProject(databases);
    const start = Date.now() - 3 * 24 * 60 * 60_000;
    const afterSeconds = EXAMPLE_ROWS.map(({ median_seconds }) => median_seconds ?? 0);
    const events = EXAMPLE_ROWS.flatMap(({ event, users }, step) =>
      Array.from({ length: users }, (_, user) => ({
        event_type: event,
        user_id: `user-${user}`,
        time: new Date(start + user * 1000 + (afterSeconds[step] ?? 0) * 1000).toISOString(),
      })),
    );
    expect(await track(stack.url, project.publicKey, { events })).toMatchObject({ body: { accepted: events.length } });
    await eventually(async () => {
      const response = await fetch(`${stack.url}/query`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-API-Key': project.secretKey },
        body: JSON.stringify({ q: EXAMPLE_QUERY, format: 'json' }),
      });
      expect(await response.json()).toMatchObject({ rows: EXAMPLE_ROWS });
    });
    const { text } = await see('/');
    for (const { event, users, rate } of EXAMPLE_ROWS) {
      expect(text).toMatch(
        new RegExp(`${event}</th>\\s*<td class="number">${users}</td>.*${(rate * 100).toFixed(1)} %`),
      );
    }
  });

  test('is the console for a signed-in person, with their projects and without secret keys', async () => {
    const host = 'pages-owner@example.com';
    const owner = await signedInAs(stack.url, host);
    const organizationId = await organizationOf(host);
    const guest = await signedInAs(stack.url, 'pages-guest@example.com');
    const { id: guestId } = await postgres('people').where({ email: 'pages-guest@example.com' }).first('id');
    const project = await createProject(postgres, {
      organizationId,
      name: '<script>alert("x")</script> & sons',
      secretKeyBase: databases.config.SECRET_KEY_BASE,
    });
    await postgres('members').insert({ organization_id: organizationId, person_id: guestId, role: 'member' });

    const seen = await see('/', owner);
    expect(seen.headers.get('Cache-Control')).toBe('no-store');
    expect(seen.text).toContain(host);
    expect(seen.text).toContain('&lt;script&gt;alert(\\&quot;x\\&quot;)&lt;/script&gt; &amp; sons');
    expect(seen.text).not.toContain('<script>alert');
    expect(seen.text).not.toContain(project.secretKey);
    await postgres('members').where({ person_id: guestId, organization_id: organizationId }).update({ role: 'member' });
    expect((await see('/', guest)).text).toContain(project.id);
    expect((await see('/', await signedInAs(stack.url, 'pages-stranger@example.com'))).text).not.toContain(project.id);
  });
});

describe('console pages', () => {
  test.each(['/start', '/projects/x', '/projects/x/ask'])(
    '%s redirects to the login page and is served after it',
    async (path) => {
      expect(await see(path)).toMatchObject({
        status: 302,
        location: `${stack.url}/login?next=${encodeURIComponent(path)}`,
      });
      const jar = await signedInAs(stack.url, 'pages-console@example.com');
      expect(await see(path, jar)).toMatchObject({ status: 200 });
      expect((await see(`${path}/`, jar)).status).toBe(404);
    },
  );

  test('load immutable files, whose names contain a hash', async () => {
    const { text } = await see('/start', await signedInAs(stack.url, 'pages-console@example.com'));
    const files = [...text.matchAll(/(?:src|href)="(\/public\/console\/[^"]+)"/g)].map(([, path]) => String(path));
    expect(files.length).toBeGreaterThanOrEqual(2);
    for (const file of files) {
      const { status, headers } = await see(file);
      expect([status, headers.get('Cache-Control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    }
  });
});

describe('GET /login', () => {
  test('links to the provider with the public address, and accepts only local paths to return to', async () => {
    const { text } = await see('/login?next=/invitations/x');
    expect(text).toContain(`href="${stack.url}/auth/idp?next=%2Finvitations%2Fx"`);
    expect(text).toContain('Sign in with A &amp; B');
    expect((await see('/login?next=https://evil.example/')).text).toContain(`${stack.url}/auth/idp?next=%2F"`);
  });

  test('redirects a signed-in person to the target', async () => {
    const jar = await signedInAs(stack.url, 'pages-login@example.com');
    expect(await see('/login?next=/x', jar)).toMatchObject({ status: 302, location: `${stack.url}/x` });
  });

  test('says that no provider is configured, and cookies are Secure when PUBLIC_URL is https', async () => {
    const without = await startProcesses({ ...databases.env, PUBLIC_URL: 'https://analytics.example' }, ['web']);
    const out = await fetch(`${without.url}/auth/logout`, { method: 'POST' });
    expect(out.headers.get('Set-Cookie')).toMatch(
      /^__Host-service_session=; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/,
    );
    expect(await (await fetch(`${without.url}/login`)).text()).toContain('no identity provider is configured');
    expect((await fetch(`${without.url}/auth/idp`, { redirect: 'manual' })).status).toBe(503);
    await without.stop();
  });
});

describe('invitation page', () => {
  test('accepts the invitation once, for the invited person', async () => {
    const host = 'pages-host@example.com';
    const owner = await signedInAs(stack.url, host);
    const organizationId = await organizationOf(host);
    const { text } = await see(`/api/orgs/${organizationId}/invitations`, owner, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: stack.url, Accept: 'application/json' },
      body: JSON.stringify({ email: 'pages-invited@example.com', role: 'admin' }),
    });
    const { accept_url: acceptUrl } = JSON.parse(text) as { accept_url: string };
    expect(acceptUrl.startsWith(`${stack.url}/invitations/`)).toBe(true);
    const path = new URL(acceptUrl).pathname;

    const says = async (jar?: CookieJar) =>
      (await see(path, jar)).text.replaceAll(/<[^>]+>|\s+/g, ' ').replaceAll(/ +/g, ' ');
    expect((await see(path)).text).toContain(`href="/login?next=${encodeURIComponent(path)}"`);
    expect(await says()).toMatch(
      /\(pages-host@example\.com\) invites pages-invited@example\.com to join .+ as an admin\. .*until \d+ \w+ \d{4}\./,
    );
    expect(await see(path, new CookieJar(), { method: 'POST' })).toMatchObject({ status: 401 });
    const other = await signedInAs(stack.url, 'pages-other@example.com');
    expect(await see(path, other, { method: 'POST' })).toMatchObject({ status: 403 });
    expect(await says(other)).toContain('signed in as pages-other@example.com , which is another account');
    const leave =
      /<form method="post" action="(\/auth\/logout\?[^"]*)">/.exec((await see(path, other)).text)?.[1] ?? '';
    const left = await see(leave, other, { method: 'POST' });
    expect(left).toMatchObject({ status: 303, location: `${stack.url}/login?next=${encodeURIComponent(path)}` });
    expect((await see(path, other)).text).toContain('Sign in as pages-invited@example.com');
    const invited = await signedInAs(stack.url, 'pages-invited@example.com');
    // The organization of their own exists before and after they join.
    expect((await see('/', invited)).text).toContain('&quot;role&quot;:&quot;owner&quot;');
    expect((await see(path, invited)).text).toContain('signed in as pages-invited@example.com');
    expect(await see(path, invited, { method: 'POST', headers: { Origin: 'https://evil.example' } })).toMatchObject({
      status: 403,
    });
    const project = await postgres('projects').where({ organization_id: organizationId }).first('id');
    const accepted = await see(path, invited, { method: 'POST' });
    expect(accepted).toMatchObject({ status: 303, location: `${stack.url}/projects/${project.id}` });
    expect((await see('/', invited)).text).toContain('&quot;role&quot;:&quot;admin&quot;');
    const again = await see(path, invited, { method: 'POST' });
    expect(again).toMatchObject({ status: 404 });
    expect(again.text).toContain('You are a member of');
    expect(await says()).toContain('This invitation has been used');
  });

  test('says why a link does not work', async () => {
    const host = 'pages-ended@example.com';
    const owner = await signedInAs(stack.url, host);
    const organizationId = await organizationOf(host);
    const { person_id: invitedBy } = await postgres('members').where({ organization_id: organizationId }).first();
    const to = { email: 'nobody@example.com', role: 'member', invitedBy } as const;
    const { token } = await createInvitation(postgres, toOrganizationId(organizationId), to);
    const title = async () => /<h1>(.*)<\/h1>/.exec((await see(`/invitations/${token}`)).text)?.[1];
    expect(await title()).toMatch(/^Join /);
    await postgres('members').where({ person_id: invitedBy }).update({ role: 'member' });
    expect(await title()).toBe('This invitation does not work any more');
    await postgres('invitations')
      .where({ invited_by: invitedBy })
      .update({ expires_at: new Date(0) });
    expect(await title()).toBe('This invitation has expired');
    const wrong = await see('/invitations/none', owner);
    expect([wrong.status, wrong.text.includes('There is no such invitation')]).toEqual([404, true]);
  });
});

test('a person without an organization gets an empty console, and their own organization at the next sign-in', async () => {
  const email = 'pages-removed@example.com';
  const removed = await signedInAs(stack.url, email);
  await postgres('members')
    .where({ organization_id: await organizationOf(email) })
    .delete();
  expect((await see('/', removed)).text).toContain('&quot;organizations&quot;:[],&quot;projects&quot;:[]');
  expect((await see('/', await signedInAs(stack.url, email))).text).toContain('&quot;role&quot;:&quot;owner&quot;');
});

describe('every page', () => {
  const PATHS = ['/', '/login', '/invitations/x', '/auth/idp/cb'];

  test.each(PATHS)('%s has a Content-Security-Policy that forbids other origins and frames', async (path) => {
    const { headers, text } = await see(path);
    const policy = headers.get('Content-Security-Policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(headers.get('X-Powered-By')).toBeNull();
    expect(text).toMatch(/<html lang="en">[\s\S]*<main id="main">/);
    expect(text.match(/<h1/g)).toHaveLength(1);
    expect(text).not.toMatch(/ style=| on[a-z]+=|<style/);
  });

  test('shows an error as a page to browsers and as JSON to other clients', async () => {
    const page = await see('/auth/idp/cb');
    expect(page.status).toBe(400);
    expect(page.text).toContain('This sign-in was not begun here, or too long ago');
    const json = await see('/auth/idp/cb', undefined, { headers: { Accept: 'application/json' } });
    expect(JSON.parse(json.text).error).toContain('this sign-in was not begun here');
    expect((await see('/api/orgs')).headers.get('Content-Type')).toContain('application/json');
  });

  test('loads compressed files, cached for a year under their hash and for an hour under their name', async () => {
    const { text } = await see('/');
    const files = [...text.matchAll(/(?:href|src)="(\/public\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(files.length).toBeGreaterThan(1);
    for (const path of files) {
      const file = await see(path);
      expect(file.status).toBe(200);
      expect(file.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
      const plain = await see(path.replace(/\.[0-9a-f]{16}\./, '.'));
      expect(plain.text).toBe(file.text);
      expect(plain.headers.get('Cache-Control')).toContain('max-age=3600');
      const etag = file.headers.get('ETag') ?? '';
      expect(
        (await see(path, undefined, { headers: { 'If-None-Match': etag, 'Cache-Control': 'max-age=0' } })).status,
      ).toBe(304);
    }
    expect((await see('/public/../package.json')).status).toBe(404);
  });
});
