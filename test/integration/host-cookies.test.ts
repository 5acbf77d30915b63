// Cookies of a service behind https, with cookies injected by a sibling subdomain or over plain
// http.
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createSignInProvider } from '../../standalone/sign-in-provider/provider.js';
import { signIn } from '../support/accounts.js';
import { CookieJar } from '../support/cookie-jar.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { takePort } from '../support/take-port.js';

const PUBLIC_URL = 'https://analytics.example';
const CLIENT = { id: 'test', secret: 'secret-of-the-test' };

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let provider: Server;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  const port = await takePort();
  const issuer = `http://127.0.0.1:${port}`;
  processes = await startProcesses(
    {
      ...databases.env,
      PUBLIC_URL,
      IDP_ID: 'test',
      IDP_AUTHORIZE_URL: `${issuer}/auth`,
      IDP_TOKEN_URL: `${issuer}/token`,
      IDP_USERINFO_URL: `${issuer}/me`,
      IDP_CLIENT_ID: CLIENT.id,
      IDP_CLIENT_SECRET: CLIENT.secret,
    },
    ['web'],
  );
  const client = { ...CLIENT, callbackUrl: `${PUBLIC_URL}/auth/idp/cb` };
  provider = createServer(createSignInProvider({ issuer, client }));
  await new Promise<void>((resolve) => provider.listen(port, '127.0.0.1', resolve));
});

afterAll(async () => {
  await processes?.stop();
  provider?.closeAllConnections();
  provider?.close();
  await postgres?.destroy();
  await databases?.close();
});

/** The address behind the proxy. */
const here = (address: string): string => address.replace(PUBLIC_URL, processes.url);

/** Follows the redirects of a sign-in up to the callback, which it returns. */
async function untilCallback(jar: CookieJar, email: string): Promise<string> {
  const begun = await jar.visit(`${processes.url}/auth/idp`);
  const { url } = await jar.follow(begun.location ?? '');
  const answered = await jar.visit(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ email }).toString(),
  });
  return here((await jar.follow(answered.location ?? '', /\/auth\/idp\/cb/)).url);
}

const organizations = (cookie: string) => fetch(`${processes.url}/api/orgs`, { headers: { Cookie: cookie } });

describe('cookies under https', () => {
  test('have the prefix __Host-, Secure, Path=/ and no Domain', async () => {
    const jar = new CookieJar();
    const callback = await untilCallback(jar, 'ann@example.com');
    expect((await jar.visit(callback)).status).toBe(302);
    const own = jar.received.filter((cookie) => cookie.includes('service_'));
    expect(own.map((cookie) => cookie.split('=')[0])).toEqual([
      '__Host-service_sign_in',
      '__Host-service_sign_in',
      '__Host-service_session',
    ]);
    for (const cookie of own) {
      expect(cookie).toMatch(/; Path=\/(?:;|$)/);
      expect(cookie).toMatch(/; HttpOnly; Secure; SameSite=Lax$/);
      expect(cookie).not.toMatch(/domain/i);
    }
    expect((await organizations(`__Host-service_session=${jar.get('__Host-service_session')}`)).status).toBe(200);
  });

  test('are not read without the prefix, because a sibling subdomain can set such cookies', async () => {
    const [victim, attacker] = [await signIn(postgres), await signIn(postgres)];
    expect((await organizations(`service_session=${attacker.session}`)).status).toBe(401);
    const both = `service_session=${attacker.session}; __Host-service_session=${victim.session}`;
    const page = await fetch(processes.url, { headers: { Accept: 'text/html', Cookie: both } });
    expect(await page.text()).toContain(victim.email);
    expect((await organizations(`__host-service_session=${attacker.session}`)).status).toBe(401);
  });

  test('the callback refuses a sign-in attempt cookie without the prefix', async () => {
    const attacker = new CookieJar();
    const callback = await untilCallback(attacker, 'attacker@example.com');
    const attempt = attacker.get('__Host-service_sign_in') ?? '';
    const victim = await fetch(callback, {
      redirect: 'manual',
      headers: { Accept: 'application/json', Cookie: `service_sign_in=${attempt}` },
    });
    expect(victim.status).toBe(400);
    expect(victim.headers.getSetCookie().join()).not.toContain('service_session=');
  });

  test('POST /auth/logout ends the session and clears its cookie', async () => {
    const { session } = await signIn(postgres);
    const answer = await fetch(`${processes.url}/auth/logout`, {
      method: 'POST',
      headers: { Accept: 'application/json', Cookie: `__Host-service_session=${session}` },
    });
    expect(answer.headers.get('Set-Cookie')).toMatch(/^__Host-service_session=; Path=\/; /);
    expect((await organizations(`__Host-service_session=${session}`)).status).toBe(401);
  });
});

test('cookies have the prefix when a trusted proxy reports https, and otherwise not', async () => {
  const behindProxy = await startProcesses({ ...databases.env, TRUST_PROXY: 'loopback' }, ['web']);
  try {
    const { session } = await signIn(postgres);
    const ask = (proto: string, name: string) =>
      fetch(`${behindProxy.url}/api/orgs`, {
        headers: { 'X-Forwarded-Proto': proto, Cookie: `${name}=${session}` },
      }).then(({ status }) => status);
    expect(await ask('https', '__Host-service_session')).toBe(200);
    expect(await ask('https', 'service_session')).toBe(401);
    expect(await ask('http', 'service_session')).toBe(200);
    expect(await ask('http', '__Host-service_session')).toBe(401);
  } finally {
    await behindProxy.stop();
  }
});
