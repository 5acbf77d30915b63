// Checks of verified domains whose TXT record disappears, returns, or cannot be looked up: who may
// join by sign-in, and which mails owners get. Days pass by changing times in PostgreSQL.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { type Answer, createTeam, join, send, signIn, type TestTeam } from '../support/accounts.js';
import { startDns, type TestDns } from '../support/dns-server.js';
import { eventually } from '../support/eventually.js';
import { startMailServer, type TestMailServer } from '../support/mail-server.js';
import { runScheduled } from '../support/scheduled-jobs.js';
import { type SignInStack, signedInAs, startSignInStack } from '../support/sign-in.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const CHECK_OF_DUE_DOMAINS = { queue: 'check-domains', schedule: 'check-domains', everyMs: 15_000 };

let databases: TestDatabases;
let postgres: Postgres;
let stack: SignInStack;
let dns: TestDns;
let smtp: TestMailServer;

beforeAll(async () => {
  [dns, smtp] = [await startDns(), await startMailServer()];
  databases = await createTestDatabases({ DNS_SERVERS: dns.address, SMTP_URL: smtp.url });
  postgres = createPostgres(databases.config);
  const env = { WORKER_JOBS: 'check-domains,send-mail' };
  stack = await startSignInStack(databases, { kinds: ['web', 'worker'], env });
});

afterAll(async () => {
  await stack?.stop();
  await postgres?.destroy();
  await databases?.close();
  dns?.close();
  smtp?.close();
});

interface Verified {
  readonly team: TestTeam;
  readonly id: string;
  readonly name: string;
  readonly record: { readonly name: string; readonly value: string };
}

const asOwner = ({ people, organization }: TestTeam, route: string, body?: unknown): Promise<Answer> =>
  send(stack.url, route.replace('{org}', `/api/orgs/${organization.id}`), { session: people.owner.session, body });

async function verified(name: string): Promise<Verified> {
  const team = await createTeam(postgres);
  const { body } = await asOwner(team, 'POST {org}/domains', { domain: name });
  dns.records.set(body.record_name, [body.record_value]);
  expect((await asOwner(team, `POST {org}/domains/${body.id}/verify`)).status).toBe(200);
  return { team, id: body.id, name, record: { name: body.record_name, value: body.record_value } };
}

/** Moves the last sighting and the last check of the record `days` into the past. */
async function age({ id }: Verified, days: number): Promise<void> {
  const past = new Date(Date.now() - days * 24 * 60 * 60_000 - 60_000);
  await postgres('domains').where({ id }).update({ record_seen_at: past, checked_at: past });
}

const shown = async ({ team, id }: Verified): Promise<Answer['body']> =>
  (await asOwner(team, 'GET {org}/domains')).body.find((domain: { id: string }) => domain.id === id);

const isChecked = async (domain: Verified): Promise<void> => {
  const { checked_at } = await postgres('domains').where({ id: domain.id }).first('checked_at');
  expect(Date.now() - checked_at.getTime()).toBeLessThan(60_000);
};

const mailsTo = (email: string) => smtp.mails.filter((mail) => mail.includes(`To: ${email}`));

const CHECKED_WITHIN_MS = 45_000;
const checkDueDomains = () => runScheduled(databases, CHECK_OF_DUE_DOMAINS);

let people = 0;
/** Whether someone new with an address of the domain becomes a member by signing in. */
async function admits({ team, name }: Verified): Promise<boolean> {
  const email = `person-${++people}@${name}`;
  await signedInAs(stack.url, email);
  const joined = await postgres('members')
    .join('people', 'people.id', 'person_id')
    .where({ email, organization_id: team.organization.id });
  return joined.length === 1;
}

test('a domain stops admitting members after seven days without its record, and its owners get one mail', async () => {
  const [recent, gone, warned, kept, unknown] = [
    await verified('recent.example'),
    await verified('gone.example'),
    await verified('warned.example'),
    await verified('kept.example'),
    await verified('unknown.example'),
  ];
  const second = await signIn(postgres);
  await join(postgres, gone.team.organization.id, second, 'owner');
  const unverified = await signIn(postgres, { email: 'unverified@example.com', emailVerified: false });
  await join(postgres, gone.team.organization.id, unverified, 'owner');
  for (const domain of [gone, warned, kept, unknown]) expect(await admits(domain)).toBe(true);

  dns.records.delete(gone.record.name);
  dns.records.delete(warned.record.name);
  dns.records.delete(recent.record.name);
  dns.failing.add(unknown.record.name);
  for (const domain of [gone, kept, unknown]) await age(domain, 7);
  await age(warned, 3);
  await age(recent, 1);
  // Takes effect without a check: the age of the record decides.
  expect(await admits(gone)).toBe(false);
  await checkDueDomains();
  await eventually(async () => {
    for (const domain of [recent, gone, warned, kept, unknown]) await isChecked(domain);
  }, CHECKED_WITHIN_MS);

  await eventually(async () => expect(await admits(kept)).toBe(true));
  expect(await admits(gone)).toBe(false);
  expect(await admits(unknown)).toBe(false);
  expect(await admits(warned)).toBe(true);

  for (const owner of [gone.team.people.owner, second]) {
    const mail = await smtp.mailTo(owner.email);
    expect(mail).toMatch(/^Subject: gone\.example admits no new members$/m);
    expect(mail).toContain(`Value: ${gone.record.value}`.replaceAll('=', '=3D'));
    expect(mail).toContain('was not found');
  }
  expect(await smtp.mailTo(warned.team.people.owner.email)).toMatch(
    /^Subject: warned\.example admits new members until/m,
  );
  expect(await smtp.mailTo(unknown.team.people.owner.email)).toContain('could not be looked up');

  await age(gone, 8);
  await checkDueDomains();
  await eventually(() => isChecked(gone), CHECKED_WITHIN_MS);
  // Missing for a day, of which two pass before the first mail.
  expect(mailsTo(recent.team.people.owner.email)).toEqual([]);
  // A mail of the next check comes after those of this one.
  await age(recent, 8);
  await checkDueDomains();
  await smtp.mailTo(recent.team.people.owner.email);
  expect(mailsTo(gone.team.people.owner.email)).toHaveLength(1);
  expect(mailsTo(kept.team.people.owner.email)).toEqual([]);
  expect(mailsTo(gone.team.people.member.email)).toEqual([]);
  expect(mailsTo('unverified@example.com')).toEqual([]);
}, 360_000);

test('a domain whose record returns admits members again after the next check, or at once when verified', async () => {
  const [checked, asked] = [await verified('back-1.example'), await verified('back-2.example')];
  for (const domain of [checked, asked]) {
    dns.records.delete(domain.record.name);
    await age(domain, 9);
  }
  await checkDueDomains();
  await eventually(async () => {
    for (const domain of [checked, asked]) await isChecked(domain);
  }, CHECKED_WITHIN_MS);
  expect(await admits(checked)).toBe(false);
  expect(await asOwner(asked.team, `POST {org}/domains/${asked.id}/verify`)).toMatchObject({ status: 400 });

  for (const { record } of [checked, asked]) dns.records.set(record.name, [record.value]);
  expect((await asOwner(asked.team, `POST {org}/domains/${asked.id}/verify`)).status).toBe(200);
  expect(await admits(asked)).toBe(true);
  // A missing record is looked for every hour.
  await postgres('domains')
    .where({ id: checked.id })
    .update({ checked_at: new Date(Date.now() - 61 * 60_000) });
  await checkDueDomains();
  await eventually(async () => expect(await admits(checked)).toBe(true), CHECKED_WITHIN_MS);
  const { record_seen_at, admits_until } = await shown(checked);
  expect(Date.parse(admits_until) - Date.parse(record_seen_at)).toBe(7 * 24 * 60 * 60_000);

  // Its owners get a mail again when the record is missing once more.
  for (const domain of [checked, asked]) {
    dns.records.delete(domain.record.name);
    await age(domain, 9);
  }
  await checkDueDomains();
  await eventually(async () => {
    for (const { team } of [checked, asked]) expect(mailsTo(team.people.owner.email)).toHaveLength(2);
  }, CHECKED_WITHIN_MS);
}, 240_000);

test('another organization can verify a domain that has lapsed', async () => {
  const [before, other] = [await verified('sold.example'), await verified('lapsed.example')];
  const { verified_at } = await shown(other);
  await age(before, 6);
  await age(other, 8);
  const after = await createTeam(postgres);
  const { body } = await asOwner(after, 'POST {org}/domains', { domain: 'sold.example' });
  dns.records.set(body.record_name, [body.record_value]);
  const verify = () => asOwner(after, `POST {org}/domains/${body.id}/verify`);
  expect((await verify()).body).toEqual({ error: 'sold.example has been verified by another organization' });
  await age(before, 8);
  expect((await verify()).status).toBe(200);
  expect(await shown(before)).toMatchObject({ verified_at: null, admits_until: null });
  expect(await shown(other)).toMatchObject({ verified_at });
  expect((await asOwner(other.team, `POST {org}/domains/${other.id}/verify`)).body).toMatchObject({ verified_at });
  expect(await admits({ ...before, team: after, id: body.id })).toBe(true);
  expect(await admits(before)).toBe(false);
});
