// E-mail addresses that lower-casing, NFKC or IDNA map to others, over HTTP and from a real
// identity provider: they stay distinct. U+212A, the Kelvin sign, maps to k in all three.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOrganization, type NewOrganization } from '../../src/accounts/store.js';
import { newUuidV7 } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createTeam, send, type TestTeam } from '../support/accounts.js';
import type { CookieJar } from '../support/cookie-jar.js';
import { type SignInStack, signedInAs, startSignInStack } from '../support/sign-in.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const KELVIN = '\u212a';

let databases: TestDatabases;
let postgres: Postgres;
let stack: SignInStack;
let team: TestTeam;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  stack = await startSignInStack(databases);
  team = await createTeam(postgres);
});

afterAll(async () => {
  await stack?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const sessionOf = (jar: CookieJar): string => jar.get('service_session') ?? '';
const asOwner = (route: string, body: unknown) =>
  send(stack.url, `${route.replace('{org}', `/api/orgs/${team.organization.id}`)}`, {
    session: team.people.owner.session,
    body,
  });
const organizationsOf = async (jar: CookieJar): Promise<string[]> =>
  (await send(stack.url, 'GET /api/orgs', { session: sessionOf(jar) })).body.map(({ id }: { id: string }) => id);

async function organizationOfDomain(domain: string): Promise<NewOrganization> {
  const organization = await createOrganization(postgres, { name: 'Verified' });
  const verified = {
    organization_id: organization.id,
    token: 't',
    verified_at: new Date(),
    record_seen_at: new Date(),
  };
  await postgres('domains').insert({ ...verified, id: newUuidV7(), domain });
  return organization;
}

describe('sign-in with a lookalike address', () => {
  test.each([
    ['the Kelvin sign', `eve@${KELVIN}iosk-1.example`, 'kiosk-1.example'],
    ['a full-width letter', 'eve@ｋiosk-2.example', 'kiosk-2.example'],
    ['a soft hyphen', 'eve@kio\u00adsk-3.example', 'kiosk-3.example'],
    ['an ideographic full stop', 'eve@kiosk-4。example', 'kiosk-4.example'],
    ['a percent-encoded letter', 'eve@%6biosk-5.example', 'kiosk-5.example'],
    ['another domain behind a domain', 'eve@kiosk-6.example@evil.example', 'kiosk-6.example'],
  ])('an address with %s does not join through the domain it resembles', async (_, email, domain) => {
    const organization = await organizationOfDomain(domain);
    expect(await organizationsOf(await signedInAs(stack.url, email))).not.toContain(organization.id);
    expect(await organizationsOf(await signedInAs(stack.url, `eve@${domain.toUpperCase()}`))).toContain(
      organization.id,
    );
  });

  test('an international domain admits addresses in its Unicode and its ASCII form', async () => {
    const organization = await organizationOfDomain('xn--bcher-kva.example');
    expect(await organizationsOf(await signedInAs(stack.url, 'a@bücher.example'))).toContain(organization.id);
    expect(await organizationsOf(await signedInAs(stack.url, 'b@xn--bcher-kva.example'))).toContain(organization.id);
  });

  test('an address with the Kelvin sign cannot accept the invitation of the address it resembles', async () => {
    const { body } = await asOwner('POST {org}/invitations', { email: 'Kate@example.com', role: 'admin' });
    expect(body.email).toBe('kate@example.com');
    const accept = async (email: string) => {
      const session = sessionOf(await signedInAs(stack.url, email));
      return (await send(stack.url, `POST /api/invitations/${body.token}/accept`, { session })).status;
    };
    expect(await accept(`${KELVIN}ate@example.com`)).toBe(403);
    expect(await accept('KATE@EXAMPLE.COM')).toBe(200);
  });
});

describe('lookalike input', () => {
  test.each([`${KELVIN}ate@example.com`, `kate@${KELVIN}iosk.example`, 'kate@ｅxample.com'])(
    'POST /invitations rejects the address %s instead of normalizing it',
    async (email) => {
      expect(await asOwner('POST {org}/invitations', { email, role: 'member' })).toEqual({
        status: 400,
        body: {
          error: 'email is not an e-mail address: it has characters that normalization (NFKC) turns into others',
        },
      });
    },
  );

  test.each([`${KELVIN}iosk.example`, 'kio\u00adsk.example', 'kiosk。example', '1.2.3'])(
    'POST /domains rejects the domain %s instead of normalizing it',
    async (domain) => {
      expect(await asOwner('POST {org}/domains', { domain })).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/^domain is not a domain such as example\.com/) },
      });
    },
  );

  test('claiming the Unicode and the ASCII form of a domain makes one claim', async () => {
    const claims = await Promise.all(
      ['bücher-2.example', 'XN--bcher-2-n2a.example'].map((domain) => asOwner('POST {org}/domains', { domain })),
    );
    expect(claims.map(({ status }) => status)).toEqual([201, 201]);
    expect(claims[0]?.body).toEqual(claims[1]?.body);
  });
});
