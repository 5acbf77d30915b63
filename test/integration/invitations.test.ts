// Invitations over HTTP: who may join, when they expire, how many are allowed, and their mails.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInvitation } from '../../src/accounts/invitations.js';
import { createMailQueue } from '../../src/mail/queue.js';
import { toOrganizationId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis } from '../../src/platform/redis/client.js';
import {
  type Answer,
  as,
  createTeam,
  join,
  type Sent,
  send,
  signIn,
  type TestPerson,
  type TestTeam,
} from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { startMailServer, type TestMailServer, UNKNOWN_MAILBOX } from '../support/mail-server.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/;
const NO_ONE = '00000000-0000-7000-8000-000000000000';
const DAY_MS = 24 * 60 * 60_000;
const INVITATIONS_MAX = 5;

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;

beforeAll(async () => {
  databases = await createTestDatabases({ INVITATIONS_PER_DAY_MAX: String(INVITATIONS_MAX) });
  postgres = createPostgres(databases.config);
  processes = await startProcesses(databases.env, ['web']);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const ask = (route: string, sent?: Sent): Promise<Answer> => send(processes.url, route, sent);
const accept = (token: string, person: TestPerson) => ask(`POST /api/invitations/${token}/accept`, as(person));

describe('invitation routes', () => {
  const invite = async (fields: object = {}) => {
    const { organization, people } = await createTeam(postgres);
    const body = { email: 'Grace@Example.com', role: 'admin', ...fields };
    const answer = await ask(`POST /api/orgs/${organization.id}/invitations`, as(people.owner, body));
    return { organization, answer };
  };

  test('an invitation admits one person of its address, once', async () => {
    const { organization, answer } = await invite();
    expect(answer).toEqual({
      status: 201,
      body: {
        id: expect.stringMatching(UUID_V7),
        email: 'grace@example.com',
        role: 'admin',
        token: expect.stringMatching(/^[0-9A-Za-z]{43}$/),
        accept_url: `${processes.url}/invitations/${answer.body.token}`,
        expires_at: expect.any(String),
      },
    });
    expect(Math.abs(Date.parse(answer.body.expires_at) - Date.now() - 7 * DAY_MS)).toBeLessThan(60_000);

    const grace = await signIn(postgres, { email: 'grace@example.com' });
    expect((await accept(answer.body.token, await signIn(postgres))).status).toBe(403);
    const unverified = await signIn(postgres, { email: 'grace@example.com', emailVerified: false });
    expect((await accept(answer.body.token, unverified)).status).toBe(403);
    expect(await accept(answer.body.token, grace)).toMatchObject({
      status: 200,
      body: { id: organization.id, role: 'admin' },
    });
    expect((await accept(answer.body.token, grace)).status).toBe(404);
  });

  test('an invitation expires after seven days', async () => {
    const { answer } = await invite();
    await postgres('invitations')
      .where({ id: answer.body.id })
      .update({ expires_at: new Date(Date.now() - 1) });
    const grace = await signIn(postgres, { email: 'grace@example.com' });
    expect((await accept(answer.body.token, grace)).status).toBe(404);
    expect((await accept('unknown', grace)).status).toBe(404);
    const { organization_id: organizationId } = await postgres('invitations').where({ id: answer.body.id }).first();
    const owner = await postgres('members').where({ organization_id: organizationId, role: 'owner' }).first();
    await createInvitation(postgres, organizationId, { email: 'b@x.org', role: 'member', invitedBy: owner.person_id });
    expect(await postgres('invitations').where({ id: answer.body.id })).toEqual([]);
  });

  test('an organization may send a limited number per day, independent of other organizations', async () => {
    const [team, other] = [await createTeam(postgres), await createTeam(postgres)];
    const inviteOne = (of: TestTeam, email: string) =>
      ask(`POST /api/orgs/${of.organization.id}/invitations`, as(of.people.owner, { email, role: 'member' }));
    expect((await inviteOne(team, 'no address')).status).toBe(400);
    for (let sent = 0; sent < INVITATIONS_MAX; sent += 1) {
      expect((await inviteOne(team, `${sent}@example.com`)).status).toBe(201);
    }
    expect(await inviteOne(team, 'more@example.com')).toEqual({
      status: 429,
      body: { error: `too many requests; the limit is ${INVITATIONS_MAX} per day for an organization` },
    });
    expect(await postgres('invitations').where({ email: 'more@example.com' })).toEqual([]);
    expect((await inviteOne(other, 'more@example.com')).status).toBe(201);
  });

  test('a member who is removed does not come back with an older invitation', async () => {
    const { organization, people } = await createTeam(postgres);
    const route = `POST /api/orgs/${organization.id}/invitations`;
    const grace = await signIn(postgres, { email: 'grace.twice@example.com' });
    const inviteGrace = async (role: string) =>
      String((await ask(route, as(people.owner, { email: grace.email, role }))).body.token);
    const [lost, found] = [await inviteGrace('admin'), await inviteGrace('member')];
    expect((await accept(found, grace)).status).toBe(200);
    expect((await accept(lost, grace)).status).toBe(404);
    const inviting = { email: grace.email, role: 'admin', invitedBy: people.owner.id } as const;
    const { token: later } = await createInvitation(postgres, toOrganizationId(organization.id), inviting);
    const member = `/api/orgs/${organization.id}/members/${grace.id}`;
    expect((await ask(`DELETE ${member}`, as(people.owner))).status).toBe(200);
    expect((await accept(later, grace)).status).toBe(404);
    expect((await accept(await inviteGrace('member'), grace)).status).toBe(200);
  });

  test('POST answers 400 for a member, whose role an invitation would not change', async () => {
    const { organization, people } = await createTeam(postgres);
    const invite = (email: string) =>
      ask(`POST /api/orgs/${organization.id}/invitations`, as(people.owner, { email, role: 'admin' }));
    const member = await signIn(postgres, { email: 'member.already@example.com' });
    await join(postgres, organization.id, member, 'member');
    expect(await invite('Member.Already@example.com')).toEqual({
      status: 400,
      body: { error: 'member.already@example.com is a member already; the role is member' },
    });
    expect(await postgres('invitations').where({ organization_id: organization.id })).toEqual([]);
    // Another person may have given this address without owning it.
    const unverified = await signIn(postgres, { email: 'unverified@example.com', emailVerified: false });
    await join(postgres, organization.id, unverified, 'member');
    expect((await invite('unverified@example.com')).status).toBe(201);
  });

  test('the token of an invitation is not stored', async () => {
    const { answer } = await invite();
    const row = await postgres('invitations').where({ id: answer.body.id }).first();
    expect(JSON.stringify(row)).not.toContain(answer.body.token);
  });

  test.each([
    [{ email: 'nobody' }, 'email is not an e-mail address'],
    [{ email: undefined, role: 'owner' }, 'email is required: an e-mail address; role is one of member, admin'],
  ])('POST answers 400 to %j: %s', async (fields, error) => {
    expect((await invite(fields)).answer).toEqual({ status: 400, body: { error } });
  });
});

describe('an invitation of an owner ends', () => {
  /** An organization with a second owner, and an invitation that this second owner has sent. */
  async function invitedBySecondOwner() {
    const { organization, people } = await createTeam(postgres);
    const second = await signIn(postgres);
    await join(postgres, organization.id, second, 'owner');
    const guest = await signIn(postgres);
    const route = `POST /api/orgs/${organization.id}/invitations`;
    const { body } = await ask(route, as(second, { email: guest.email, role: 'admin' }));
    const member = `/api/orgs/${organization.id}/members/${second.id}`;
    const isMember = async () =>
      (await postgres('members').where({ organization_id: organization.id, person_id: guest.id })).length > 0;
    return { organization, owner: people.owner, second, guest, token: String(body.token), member, isMember };
  }

  test.each([
    ['is removed', 'DELETE', undefined],
    ['is demoted to admin', 'PATCH', { role: 'admin' }],
    ['is demoted to member', 'PATCH', { role: 'member' }],
  ])('when the sender %s, also if they become an owner again', async (_, method, body) => {
    const { owner, second, guest, token, member, isMember, organization } = await invitedBySecondOwner();
    expect((await ask(`${method} ${member}`, as(owner, body))).status).toBe(200);
    expect(await accept(token, guest)).toEqual({
      status: 404,
      body: { error: expect.stringContaining('there is no such invitation') },
    });
    if (method === 'DELETE') await join(postgres, organization.id, second, 'owner');
    else await ask(`PATCH ${member}`, as(owner, { role: 'owner' }));
    expect((await accept(token, guest)).status).toBe(404);
    expect(await isMember()).toBe(false);
  });

  test("when the sender's role changes in PostgreSQL, and when their account is deleted", async () => {
    const demoted = await invitedBySecondOwner();
    await postgres('members').where({ person_id: demoted.second.id }).update({ role: 'admin' });
    expect((await accept(demoted.token, demoted.guest)).status).toBe(404);
    const elsewhere = await invitedBySecondOwner();
    const here = { organization_id: elsewhere.organization.id, person_id: elsewhere.second.id };
    await join(postgres, (await createTeam(postgres)).organization.id, elsewhere.second, 'owner');
    await postgres('members').where(here).delete();
    expect((await accept(elsewhere.token, elsewhere.guest)).status).toBe(404);
    expect((await ask(`POST /invitations/${elsewhere.token}`, as(elsewhere.guest))).status).toBe(404);
    const gone = await invitedBySecondOwner();
    await postgres('people').where({ id: gone.second.id }).delete();
    expect((await accept(gone.token, gone.guest)).status).toBe(404);
  });

  test('on its page as well, and not while the sender stays an owner', async () => {
    const { owner, guest, token, member, isMember } = await invitedBySecondOwner();
    await ask(`PATCH ${member}`, as(owner, { role: 'owner' }));
    const page = `POST /invitations/${token}`;
    const other = await invitedBySecondOwner();
    await ask(`DELETE ${other.member}`, as(other.owner));
    expect((await ask(`POST /invitations/${other.token}`, as(other.guest))).status).toBe(404);
    expect((await ask(page, as(guest))).status).toBe(303);
    expect(await isMember()).toBe(true);
  });

  test('when it is accepted during the removal of its sender, because acceptance waits for the removal', async () => {
    const { organization, second, guest, token, isMember } = await invitedBySecondOwner();
    let accepted: Promise<Answer> | undefined;
    await postgres.transaction(async (removal) => {
      await removal('organizations').where({ id: organization.id }).forUpdate().first('id');
      await removal('members').where({ organization_id: organization.id, person_id: second.id }).delete();
      accepted = accept(token, guest);
      const answeredEarly = await Promise.race([accepted, new Promise((resolve) => setTimeout(resolve, 500))]);
      expect(answeredEarly).toBeUndefined();
    });
    expect((await accepted)?.status).toBe(404);
    expect(await isMember()).toBe(false);
  });
});

describe('open invitations', () => {
  test('are listed newest first without their token, and end when revoked', async () => {
    const { organization, people } = await createTeam(postgres);
    const path = `/api/orgs/${organization.id}/invitations`;
    const invite = async (email: string) =>
      (await ask(`POST ${path}`, as(people.owner, { email, role: 'member' }))).body;
    const [first, second, used] = [
      await invite('1@example.com'),
      await invite('2@example.com'),
      await invite('3@x.org'),
    ];
    expect((await accept(used.token, await signIn(postgres, { email: '3@x.org' }))).status).toBe(200);
    const shown = { role: 'member', invited_by: people.owner.id, created_at: expect.any(String) };
    const open = (invitation: Answer['body']) => ({
      ...{ ...shown, id: invitation.id, email: invitation.email, expires_at: invitation.expires_at },
    });
    const listed = await ask(`GET ${path}`, as(people.owner));
    expect(listed).toEqual({ status: 200, body: [open(second), open(first)] });
    expect(JSON.stringify(listed.body)).not.toContain(first.token);

    expect(await ask(`DELETE ${path}/${first.id}`, as(people.owner))).toEqual({
      status: 200,
      body: { status: 'revoked', id: first.id },
    });
    const guest = await signIn(postgres, { email: '1@example.com' });
    expect((await accept(first.token, guest)).status).toBe(404);
    expect((await ask(`GET ${path}`, as(people.owner))).body).toEqual([open(second)]);
  });

  test('to the same address end when one of them is accepted', async () => {
    const { organization, people } = await createTeam(postgres);
    const path = `/api/orgs/${organization.id}/invitations`;
    const invite = async (role: string) =>
      (await ask(`POST ${path}`, as(people.owner, { email: 'twice@example.com', role }))).body;
    const [first, second] = [await invite('member'), await invite('admin')];
    const guest = await signIn(postgres, { email: 'twice@example.com' });
    expect((await accept(first.token, guest)).status).toBe(200);
    expect((await ask(`GET ${path}`, as(people.owner))).body).toEqual([]);
    expect((await accept(second.token, guest)).status).toBe(404);
  });

  test('DELETE answers 404 to an invitation of another organization, a used one and a missing one', async () => {
    const [team, other] = [await createTeam(postgres), await createTeam(postgres)];
    const invite = async ({ organization, people }: TestTeam, email: string) =>
      (await ask(`POST /api/orgs/${organization.id}/invitations`, as(people.owner, { email, role: 'member' }))).body;
    const [foreign, used] = [await invite(other, 'a@example.com'), await invite(team, 'b@example.com')];
    await accept(used.token, await signIn(postgres, { email: 'b@example.com' }));
    for (const id of [foreign.id, used.id, NO_ONE, 'no-uuid']) {
      const route = `DELETE /api/orgs/${team.organization.id}/invitations/${id}`;
      expect(await ask(route, as(team.people.owner))).toEqual({
        status: 404,
        body: { error: 'there is no such invitation' },
      });
    }
    expect((await accept(foreign.token, await signIn(postgres, { email: 'a@example.com' }))).status).toBe(200);
  });
});

describe('invitation mails', () => {
  let web: ProcessGroup;
  let smtp: TestMailServer;

  beforeAll(async () => {
    smtp = await startMailServer();
    const env = {
      ...databases.env,
      SMTP_URL: smtp.url,
      MAIL_FROM: 'Team <team@example.com>',
      PUBLIC_URL: 'https://analytics.example',
      WORKER_JOBS: 'send-mail',
    };
    web = await startProcesses(env, ['worker', 'web']);
  });

  afterAll(async () => {
    await web?.stop();
    smtp?.close();
  });

  test('the link is only in the mail to the invited address', async () => {
    const { organization, people } = await createTeam(postgres);
    const route = `POST /api/orgs/${organization.id}/invitations`;
    const { status, body } = await send(
      web.url,
      route,
      as(people.owner, { email: 'grace@example.com', role: 'member' }),
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({ email: 'grace@example.com', token: null, accept_url: null });
    const mail = await smtp.mailTo('grace@example.com');
    expect(mail).toMatch(/^From: Team <team@example\.com>/m);
    expect(mail).toMatch(/^Subject: Invitation to Team/m);
    const token = /https:\/\/analytics\.example\/invitations\/([0-9A-Za-z]{43})/.exec(mail)?.[1];
    const grace = await signIn(postgres, { email: 'grace@example.com' });
    expect((await accept(String(token), grace)).status).toBe(200);
  });

  test('an organization name with a link is left out of the mail', async () => {
    const { organization, people } = await createTeam(postgres);
    const path = `/api/orgs/${organization.id}`;
    const name = 'Payment failed, see https://evil.example/login';
    expect((await send(web.url, `PATCH ${path}`, as(people.owner, { name }))).status).toBe(200);
    const body = { email: 'stranger@example.com', role: 'member' };
    expect((await send(web.url, `POST ${path}/invitations`, as(people.owner, body))).status).toBe(201);
    const mail = await smtp.mailTo('stranger@example.com');
    expect(mail).toMatch(/^Subject: Invitation to an organization$/m);
    expect(mail).not.toMatch(/evil|failed/);
  });

  const inviteByMail = async (email: string) => {
    const { organization, people } = await createTeam(postgres);
    const sent = as(people.owner, { email, role: 'member' });
    expect((await send(web.url, `POST /api/orgs/${organization.id}/invitations`, sent)).status).toBe(201);
  };

  test('sending is retried while the server requires a login before it takes mails', async () => {
    smtp.isSenderKnown = false;
    await inviteByMail('patient@example.com');
    const reply = '"response":530,"command":"MAIL FROM","reason":"Mail command failed: 530 authentication required"';
    await eventually(() => expect(web.get('worker').output.join('\n')).toContain(`"code":"EENVELOPE",${reply}`));
    smtp.isSenderKnown = true;
    expect(await smtp.mailTo('patient@example.com')).toContain('/invitations/');
  });

  test('a mail that is sent again has the same Message-ID', async () => {
    smtp.isAcknowledging = false;
    await inviteByMail('twice@example.com');
    await smtp.mailTo('twice@example.com');
    smtp.isAcknowledging = true;
    const sent = await eventually(() => {
      const mails = smtp.mails.filter((mail) => mail.includes('To: twice@example.com'));
      expect(mails).toHaveLength(2);
      return mails;
    });
    const [first, second] = sent.map((mail) => /^Message-ID: .+$/im.exec(mail)?.[0]);
    expect(first).toBeDefined();
    expect(second).toBe(first);
  });

  test('sending is retried while the server rejects the password, and fails permanently for an unknown address', async () => {
    const redis = createRedis(databases.config);
    const queue = createMailQueue(redis);
    try {
      smtp.isPasswordKnown = false;
      await inviteByMail('late@example.com');
      await eventually(async () => expect(await queue.getDelayedCount()).toBe(1));
      smtp.isPasswordKnown = true;
      await inviteByMail(UNKNOWN_MAILBOX);
      await eventually(() =>
        expect(smtp.mails.filter((mail) => mail.includes('To: late@example.com'))).toHaveLength(1),
      );
      await eventually(async () =>
        expect(await queue.getJobCounts('failed', 'delayed')).toEqual({ failed: 1, delayed: 0 }),
      );
      const [refused] = await queue.getFailed();
      expect(refused).toMatchObject({ attemptsMade: 1, data: { to: UNKNOWN_MAILBOX } });
      const log = web.get('worker').output.join('\n');
      expect(log).toContain(
        '"code":"EAUTH","response":535,"command":"AUTH PLAIN","reason":"Invalid login: 535 authentication failed"',
      );
      expect(log).toContain('"code":"UnrecoverableError","response":550,"command":"RCPT TO"');
      expect(log).not.toMatch(/example\.com|password/);
    } finally {
      await queue.close();
      redis.disconnect();
    }
  });
});
