// One-time links of `npm run invite`: a first owner without an identity provider, who signs in with
// one later.
import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type SignedIn, upsertPerson } from '../../src/accounts/people.js';
import { packageRoot } from '../../src/platform/paths.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import {
  adoptLinkedPerson,
  createSignInLink,
  redeemSignInLink,
  requireLinkedEmail,
} from '../../src/sign-in/sign-in-links.js';
import { CookieJar } from '../support/cookie-jar.js';
import { type SignInStack, signedInAs, startSignInStack } from '../support/sign-in.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const OWNER = 'owner@example.com';
const GONE = 'This link was used, replaced by a newer one, or is older than a day';

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

function invite(...args: string[]): Promise<{ status: number | null; output: string; errors: string }> {
  const child = spawn(process.execPath, ['dist/cli/invite.js', ...args], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, ...databases.env, PUBLIC_URL: stack.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (text: Buffer) => {
    output += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    errors += text;
  });
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output, errors })));
}

const asBrowser = { headers: { Accept: 'text/html' } };
const press = (jar: CookieJar, url: string, headers: Record<string, string> = {}) =>
  jar.visit(url, { method: 'POST', headers: { Accept: 'text/html', ...headers } });
const organizationsOf = async (jar: CookieJar): Promise<{ id: string; role: string }[]> =>
  JSON.parse((await jar.visit(`${stack.url}/api/orgs`, { headers: { Accept: 'application/json' } })).text);

test('a link signs in an owner once, who signs in with a provider later', async () => {
  const first = await invite(OWNER);
  expect(first.errors).toMatch(/^signs in owner@example\.com once, until \S+Z, the owner of "[^"]+" from now on\n$/);
  const replaced = first.output.trim();
  const { status, output, errors } = await invite(OWNER.toUpperCase());
  const link = output.trim();
  expect(status).toBe(0);
  expect(link.startsWith(`${stack.url}/sign-in/`)).toBe(true);
  expect(errors).toMatch(/^signs in owner@example\.com once, until \S+Z\n$/);
  expect(await new CookieJar().visit(replaced, asBrowser)).toMatchObject({ status: 404 });

  const jar = new CookieJar();
  const page = await jar.visit(link, asBrowser);
  expect(page.status).toBe(200);
  expect(page.text).toContain(OWNER);
  expect((await press(jar, link, { Origin: 'https://elsewhere.example' })).status).toBe(403);
  expect(await press(jar, link)).toMatchObject({ status: 303, location: `${stack.url}/` });
  const organizations = await organizationsOf(jar);
  expect(organizations).toMatchObject([{ role: 'owner' }]);
  expect(await postgres('projects').where({ organization_id: organizations[0]?.id }).pluck('name')).toEqual([
    'My project',
  ]);

  const again = await press(new CookieJar(), link);
  expect(again.status).toBe(404);
  expect(again.text).toContain(GONE);

  // An address that a provider has verified, as the local one does, gets the account.
  expect(await organizationsOf(await signedInAs(stack.url, OWNER))).toEqual(organizations);
  expect(await postgres('people').where({ email: OWNER }).pluck('provider')).toEqual(['test']);
  expect(await invite(OWNER)).toMatchObject({
    status: 1,
    errors: `${OWNER} signs in with an identity provider already\n`,
  });
});

test('a link ends after a day, and one that was changed to last longer is refused', async () => {
  const link = await createSignInLink(postgres, {
    email: 'late@example.com',
    secretKeyBase: databases.config.SECRET_KEY_BASE,
  });
  const later = link.path.replace(/\d+$/, (time) => String(Number(time) + 1));
  expect((await new CookieJar().visit(`${stack.url}${later}`, asBrowser)).status).toBe(404);
  expect(link.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(24 * 60 * 60_000);
  vi.useFakeTimers({ toFake: ['Date'], now: link.expiresAt });
  try {
    const token = link.path.slice('/sign-in/'.length);
    await expect(requireLinkedEmail(postgres, token)).rejects.toThrow('older than a day');
    await expect(redeemSignInLink(postgres, token)).rejects.toThrow('older than a day');
    vi.setSystemTime(link.expiresAt.getTime() - 1);
    expect(await requireLinkedEmail(postgres, token)).toBe('late@example.com');
  } finally {
    vi.useRealTimers();
  }
});

test('the account of a link goes to the first subject whose provider has verified its address', async () => {
  const email = 'linked@example.com';
  const account = (provider: string, emailVerified: boolean): SignedIn => ({
    ...{ provider, subject: 'one', email, emailVerified, name: undefined },
  });
  // Anyone may have the address at a provider that does not verify it.
  const unverified = await upsertPerson(postgres, account('unverified', false));
  const { SECRET_KEY_BASE: secretKeyBase } = databases.config;
  await createSignInLink(postgres, { email, secretKeyBase });
  const ofLink = async () => (await postgres('people').where({ provider: 'sign-in-link', email }).first('id'))?.id;
  const linked = await ofLink();
  const known = await upsertPerson(postgres, account('known', true));
  for (const other of [account('another', false), account('known', true)]) await adoptLinkedPerson(postgres, other);
  expect(await ofLink()).toBe(linked);
  await adoptLinkedPerson(postgres, account('verified', true));
  expect(await postgres('people').where({ email }).orderBy('provider').select('id', 'provider')).toEqual([
    { id: known, provider: 'known' },
    { id: unverified, provider: 'unverified' },
    { id: linked, provider: 'verified' },
  ]);
});

test('a link makes an owner of the organization that has no members', async () => {
  const empty = await postgres('organizations').insert(
    {
      ...(await postgres('organizations').first('slug', 'admin_key_digest', 'admin_key_prefix')),
      ...{
        id: '00000000-0000-7000-8000-000000000001',
        name: 'Empty',
        slug: 'empty',
        admin_key_digest: Buffer.from('e'),
      },
    },
    'id',
  );
  const link = await createSignInLink(postgres, {
    email: 'second@example.com',
    secretKeyBase: databases.config.SECRET_KEY_BASE,
  });
  const jar = new CookieJar();
  await press(jar, `${stack.url}${link.path}`);
  expect(await organizationsOf(jar)).toMatchObject([{ id: empty[0].id, role: 'owner' }]);
});

test.each([
  [[], 'the e-mail address is missing: npm run invite -- owner@example.com\n'],
  [['ada.example.com'], '"ada.example.com" is not an e-mail address\n'],
])('npm run invite -- %j says what is wrong', async (args, errors) => {
  expect(await invite(...args)).toEqual({ status: 2, output: '', errors });
});
