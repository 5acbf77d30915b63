// Sessions and people in PostgreSQL: storage, expiry, and joining organizations at sign-in.
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasOrganization, joinByDomain, upsertPerson } from '../../src/accounts/people.js';
import { createSession, endSession, findSession } from '../../src/accounts/sessions.js';
import { createOrganization } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { recordSignIn } from '../../src/sign-in/store.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
});

afterAll(async () => {
  await postgres?.destroy();
  await databases?.close();
});

const signIn = (fields: { subject?: string; email?: string; emailVerified?: boolean; name?: string } = {}) =>
  upsertPerson(postgres, {
    provider: 'test',
    subject: randomBytes(8).toString('hex'),
    email: 'ada@example.com',
    emailVerified: true,
    name: 'Ada',
    ...fields,
  });

const DAY_MS = 24 * 60 * 60_000;

describe('sessions', () => {
  test('are stored as digests and found only by their token', async () => {
    const id = await signIn();
    const token = await createSession(postgres, id);
    expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
    const row = await postgres('sessions').where({ person_id: id }).first();
    expect(row.id_digest).toEqual(createHash('sha256').update(token).digest());
    expect(JSON.stringify(row)).not.toContain(token);
    expect(await findSession(postgres, token)).toMatchObject({ personId: id, email: 'ada@example.com', name: 'Ada' });
    for (const wrong of ['', token.slice(1), `${token}x`, token.replace(/^./, (c) => (c === 'a' ? 'b' : 'a'))]) {
      expect(await findSession(postgres, wrong)).toBeUndefined();
    }
  });

  test('expire 30 days after their last use', async () => {
    const id = await signIn();
    const token = await createSession(postgres, id);
    const session = postgres('sessions').where({ person_id: id });
    const end = async () => (await session.clone().first('expires_at')).expires_at.getTime();
    expect(Math.abs((await end()) - Date.now() - 30 * DAY_MS)).toBeLessThan(60_000);

    expect((await findSession(postgres, token))?.isProlonged).toBe(false);
    await session
      .clone()
      .update({ last_seen_at: new Date(Date.now() - DAY_MS), expires_at: new Date(Date.now() + DAY_MS) });
    expect((await findSession(postgres, token))?.isProlonged).toBe(true);
    expect(Math.abs((await end()) - Date.now() - 30 * DAY_MS)).toBeLessThan(60_000);

    await session.clone().update({ expires_at: new Date(Date.now() - 1) });
    expect(await findSession(postgres, token)).toBeUndefined();
  });

  test('endSession() ends one session only', async () => {
    const id = await signIn();
    const [first, second] = [await createSession(postgres, id), await createSession(postgres, id)];
    await endSession(postgres, first);
    expect(await findSession(postgres, first)).toBeUndefined();
    expect(await findSession(postgres, second)).toMatchObject({ personId: id });
  });
});

describe('people', () => {
  test('upsertPerson() identifies a person by provider and subject, never by address, and updates the address', async () => {
    const first = await signIn({ subject: 's-1', email: 'Old@Example.com' });
    const again = await signIn({ subject: 's-1', email: 'new@example.com' });
    const other = await signIn({ subject: 's-2', email: 'new@example.com' });
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect((await postgres('people').where({ id: first }).first('email')).email).toBe('new@example.com');
  });

  test('a person with a verified address joins the organization of a verified domain once, as a member', async () => {
    const organization = await createOrganization(postgres, { name: 'Acme' });
    const claimed = await createOrganization(postgres, { name: 'Claims only' });
    const domain = (id: string, organizationId: string, verifiedAt: Date | null) =>
      postgres('domains').insert({
        id,
        organization_id: organizationId,
        domain: 'acme.test',
        token: 't',
        verified_at: verifiedAt,
        record_seen_at: verifiedAt,
      });
    await domain('00000000-0000-7000-8000-000000000001', organization.id, new Date());
    await domain('00000000-0000-7000-8000-000000000002', claimed.id, null);

    const verified = await signIn({ email: 'eve@ACME.test' });
    const unverified = await signIn({ email: 'mallory@acme.test', emailVerified: false });
    const elsewhere = await signIn({ email: 'acme.test@other.test' });
    const disguised = await signIn({ email: 'x@acme.test@other.test' });
    for (const id of [verified, verified, unverified, elsewhere, disguised]) await joinByDomain(postgres, id);
    expect(await postgres('members').select('organization_id', 'person_id', 'role')).toEqual([
      { organization_id: organization.id, person_id: verified, role: 'member' },
    ]);
    expect(await hasOrganization(postgres, verified)).toBe(true);
    expect(await hasOrganization(postgres, elsewhere)).toBe(false);
  });

  test('the organization of the installation goes to the first person of its own provider, and to no other', async () => {
    const organization = await createOrganization(postgres, { name: 'My organization', isStandalone: true });
    const { SECRET_KEY_BASE: secretKeyBase } = databases.config;
    const signInAt = (provider: string, subject: string) => {
      const person = { provider, subject, email: undefined, emailVerified: false, name: 'Ada' };
      return recordSignIn(postgres, person, { secretKeyBase, quotas: databases.config });
    };
    await signInAt('google', 'one');
    const first = await signInAt('local', 'one');
    await signInAt('local', 'one');
    await signInAt('local', 'two');
    const members = postgres('members').where({ organization_id: organization.id });
    expect(await members.select('person_id', 'role')).toEqual([{ person_id: first, role: 'owner' }]);
  });
});
