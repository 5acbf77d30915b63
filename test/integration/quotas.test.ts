// Quotas of organizations, projects, domains, tokens, invitations and mails, also under concurrent
// requests.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOrganization, type NewProject } from '../../src/accounts/store.js';
import { addDeliveries } from '../../src/alerts/delivery-store.js';
import { sendDueMessages } from '../../src/alerts/send-due.js';
import { createUnsubscribeLinks } from '../../src/alerts/unsubscribe.js';
import { createWebhookSecrets } from '../../src/alerts/webhook-secret.js';
import { createProjectMails, type TakeProjectMail } from '../../src/mail/project-mails.js';
import { createMailQueue, enqueueOutboxMail, mailJobId } from '../../src/mail/queue.js';
import { newUuidV7, toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import {
  type Answer,
  as,
  createTeam,
  createTeamProject,
  join,
  type Sent,
  send,
  signIn,
  type TestPerson,
} from '../support/accounts.js';
import { connectAgent, createToken } from '../support/agent.js';
import { alertDocument, DAILY } from '../support/alert-documents.js';
import { startMailServer, type TestMailServer } from '../support/mail-server.js';
import { type SignInStack, signedInAs, startSignInStack } from '../support/sign-in.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

const MAX = 3;

let databases: TestDatabases;
let postgres: Postgres;
let stack: SignInStack;

beforeAll(async () => {
  databases = await createTestDatabases({
    ORGANIZATIONS_PER_PERSON_MAX: String(MAX),
    PROJECTS_PER_ORGANIZATION_MAX: String(MAX),
    DOMAINS_PER_ORGANIZATION_MAX: String(MAX),
    TOKENS_PER_PROJECT_MAX: String(2 * MAX),
    TOKENS_PER_PERSON_MAX: String(MAX),
    DASHBOARDS_PER_PROJECT_MAX: String(MAX),
    DASHBOARDS_PER_PERSON_MAX: String(MAX),
    INVITATIONS_PER_DAY_MAX: '2',
    INVITATIONS_PER_PERSON_PER_DAY_MAX: '5',
    INVITATION_MAILS_PER_ADDRESS_PER_DAY_MAX: '2',
    INVITATION_MAILS_PER_DAY_MAX: '6',
  });
  postgres = createPostgres(databases.config);
  stack = await startSignInStack(databases, { kinds: ['web', 'query'] });
});

afterAll(async () => {
  await stack?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const ask = (route: string, sent?: Sent): Promise<Answer> => send(stack.url, route, sent);

/**
 * Runs ten attempts concurrently and expects exactly `allowed` of them to succeed. Returns the
 * other answers.
 */
async function tenAtOnce(allowed: number, attempt: (n: number) => Promise<Answer>): Promise<Answer[]> {
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => attempt(n)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(allowed);
  return answers.filter(({ status }) => status !== 201);
}

const expectRefused = (refused: readonly Answer[], error: string) => {
  for (const answer of refused) expect(answer).toEqual({ status: 403, body: { error } });
};

describe('quotas of a person', () => {
  test('limit the organizations that the person creates, regardless of their later owners', async () => {
    const [person, accomplice] = [await signIn(postgres), await signIn(postgres)];
    const create = () => ask('POST /api/orgs', as(person, { name: 'Shell' }));
    const error = `a person creates at most ${MAX} organizations (setting ORGANIZATIONS_PER_PERSON_MAX)`;
    expectRefused(await tenAtOnce(MAX, create), error);
    const [{ id }] = (await ask('GET /api/orgs', as(person))).body;
    await join(postgres, id, accomplice, 'owner');
    expect((await ask(`DELETE /api/orgs/${id}/members/${person.id}`, as(accomplice))).status).toBe(200);
    expectRefused([await create()], error);
    expect((await ask('POST /api/orgs', as(accomplice, { name: 'Own' }))).status).toBe(201);
  });

  test('cannot be avoided by leaving an organization and signing in again', async () => {
    const email = 'leaver@example.com';
    for (let round = 0; round < MAX + 2; round += 1) {
      await signedInAs(stack.url, email);
      await postgres('members').whereIn('person_id', postgres('people').where({ email }).select('id')).delete();
    }
    const created = await postgres('organizations').whereIn(
      'created_by',
      postgres('people').where({ email }).select('id'),
    );
    expect(created).toHaveLength(MAX);
  });

  test('limit active personal tokens over all projects', async () => {
    const { organization, people } = await createTeam(postgres);
    const [one, two] = [
      await createTeamProject(postgres, databases, organization.id),
      await createTeamProject(postgres, databases, organization.id),
    ];
    const create = (n: number, person = people.member) =>
      ask(`POST /api/projects/${n % 2 === 0 ? one.id : two.id}/tokens`, as(person, newToken('personal')));
    const error = `a person has at most ${MAX} active personal tokens; revoke one first (setting TOKENS_PER_PERSON_MAX)`;
    expectRefused(await tenAtOnce(MAX, create), error);
    expect((await create(0, people.admin)).status).toBe(201);
    const [mine] = (await ask('GET /api/me/tokens', as(people.member))).body;
    await ask(`DELETE /api/me/tokens/${mine.id}`, as(people.member));
    expect((await create(0)).status).toBe(201);
  });
});

describe('ended tokens', () => {
  test.each([
    ['personal', 'member', MAX],
    ['service', 'admin', 2 * MAX],
  ] as const)('of the kind %s stay in the list of a %s, as many as may be active', async (kind, role, kept) => {
    const { organization, people } = await createTeam(postgres);
    const { id } = await createTeamProject(postgres, databases, organization.id);
    const path = `/api/projects/${id}/tokens`;
    const create = async () => (await ask(`POST ${path}`, as(people[role], newToken(kind)))).body.id;
    const other = await createTeam(postgres);
    const { id: otherId } = await createTeamProject(postgres, databases, other.organization.id);
    const { body: others } = await ask(`POST /api/projects/${otherId}/tokens`, as(other.people[role], newToken(kind)));
    await postgres('access_tokens').where({ id: others.id }).update({ expires_at: new Date() });
    const created: string[] = [];
    for (let round = 0; round < 3 * MAX; round += 1) {
      const ended = await create();
      created.unshift(ended);
      if (round % 2 === 0) await ask(`DELETE ${path}/${ended}`, as(people[role]));
      else await postgres('access_tokens').where({ id: ended }).update({ expires_at: new Date() });
    }
    const active = await create();
    const listed = (await ask(`GET ${path}`, as(people[role]))).body.map((token: { id: string }) => token.id);
    expect(listed).toEqual([active, ...created.slice(0, kept)]);
    expect(await postgres('access_tokens').where({ project_id: id })).toHaveLength(1 + kept);
    expect(await postgres('access_tokens').where({ project_id: otherId }).pluck('id')).toEqual([others.id]);
  });
});

const newToken = (kind: string) => ({ name: 'T', kind, scopes: ['query'] });

describe('quotas of a project', () => {
  test('limit active tokens', async () => {
    const { organization, people } = await createTeam(postgres);
    const { id } = await createTeamProject(postgres, databases, organization.id);
    const create = () => ask(`POST /api/projects/${id}/tokens`, as(people.owner, newToken('service')));
    const error = `a project has at most ${2 * MAX} active tokens; revoke one first (setting TOKENS_PER_PROJECT_MAX)`;
    expectRefused(await tenAtOnce(2 * MAX, create), error);
    await postgres('access_tokens')
      .where({ project_id: id })
      .limit(1)
      .update({ expires_at: new Date(0) });
    expect((await create()).status).toBe(201);
  });
});

describe('quotas of dashboards', () => {
  const card = '{id: a, title: A, kind: metric, viz: number, query: signup | count}';
  const document = `version: 1
title: Board
sections:
- title: S
  cards:
  - ${card}
`;

  test('limit project dashboards per project and personal dashboards per person', async () => {
    const { organization, people } = await createTeam(postgres);
    const { id, secretKey } = await createTeamProject(postgres, databases, organization.id);
    const sync = (key: string, name: string) =>
      ask(`PUT /api/dashboard-sync/${name}`, { key, body: { source_yaml: document } });
    const refused = await tenAtOnce(MAX, (n) => sync(secretKey, `shared-${n}`));
    const full = `a project has at most ${MAX} dashboards; delete one first (setting DASHBOARDS_PER_PROJECT_MAX)`;
    expectRefused([...refused, await sync(secretKey, 'more?dry_run=true')], full);
    const agent = await connectAgent(stack.url, { 'X-API-Key': await createToken(postgres, id, ['dashboards']) });
    const saved = await agent.call('save_dashboard', { key: 'more', source_yaml: document, dry_run: true });
    expect(saved).toEqual({ isError: true, text: JSON.stringify({ error: full }) });
    await agent.close();

    const token = { name: 'T', kind: 'personal', scopes: ['dashboards'] };
    const created = await ask(`POST /api/projects/${id}/tokens`, as(people.member, token));
    const mine = await tenAtOnce(MAX, (n) => sync((created.body as { token: string }).token, `own-${n}`));
    const error = `a person has at most ${MAX} dashboards of their own; delete one first (setting DASHBOARDS_PER_PERSON_MAX)`;
    expectRefused(mine, error);
    for (let n = 0; n < 10; n += 1) await ask(`DELETE /api/dashboard-sync/shared-${n}`, { key: secretKey });
    expect((await sync(secretKey, 'another')).status).toBe(201);
  });
});

describe('quotas of an organization', () => {
  const error = `an organization has at most ${MAX} projects (deleted ones count until their data is gone) (setting PROJECTS_PER_ORGANIZATION_MAX)`;

  test('limit projects, created by session or by admin key', async () => {
    const { organization, people } = await createTeam(postgres);
    const create = (n: number) =>
      n % 2 === 0
        ? ask(`POST /api/orgs/${organization.id}/projects`, as(people.admin, { name: 'P' }))
        : ask('POST /api/admin/projects', { key: organization.adminKey, body: { name: 'P' } });
    expectRefused(await tenAtOnce(MAX, create), error);
    const [{ id }] = (await ask('GET /api/admin/projects', { key: organization.adminKey })).body;
    const both = { project_name: 'P', project_name_confirm: 'P' };
    expect((await ask(`DELETE /api/projects/${id}`, as(people.owner, both))).status).toBe(200);
    expectRefused([await create(0)], error);
    await postgres('projects').where({ id }).update({ data_deleted_at: new Date() });
    expect((await create(0)).status).toBe(201);
  });

  test('limit domains', async () => {
    const { organization, people } = await createTeam(postgres);
    const claim = (n: number) =>
      ask(`POST /api/orgs/${organization.id}/domains`, as(people.owner, { domain: `d${n}.example` }));
    const refused = await tenAtOnce(MAX, claim);
    expectRefused(refused, `an organization has at most ${MAX} domains (setting DOMAINS_PER_ORGANIZATION_MAX)`);
    const [first] = (await ask(`GET /api/orgs/${organization.id}/domains`, as(people.owner))).body;
    const again = await ask(`POST /api/orgs/${organization.id}/domains`, as(people.owner, { domain: first.domain }));
    expect(again).toEqual({ status: 201, body: first });
  });
});

describe('quotas of invitations', () => {
  let web: ProcessGroup;
  let smtp: TestMailServer;

  beforeAll(async () => {
    smtp = await startMailServer();
    const env = { ...databases.env, SMTP_URL: smtp.url, WORKER_JOBS: 'send-mail' };
    web = await startProcesses(env, ['worker', 'web']);
  });

  afterAll(async () => {
    await web?.stop();
    smtp?.close();
  });

  const newOrganization = async (person: TestPerson, name = 'Shell') =>
    (await createOrganization(postgres, { name, ownerId: person.id })).id;
  const invite = (url: string, organizationId: string, { person, email }: { person: TestPerson; email: string }) =>
    send(url, `POST /api/orgs/${organizationId}/invitations`, as(person, { email, role: 'member' }));
  const refusedFor = (limit: string) => ({ status: 429, body: { error: `too many requests; the limit is ${limit}` } });

  test('limit invitations of a person per day over all organizations', async () => {
    const person = await signIn(postgres);
    for (let sent = 0; sent < 5; sent += 1) {
      const answer = await invite(stack.url, await newOrganization(person), { person, email: `${sent}@example.com` });
      expect(answer.status).toBe(201);
    }
    const next = await invite(stack.url, await newOrganization(person), { person, email: 'next@example.com' });
    expect(next).toEqual(refusedFor('5 per day for all that one person has'));
    const other = await signIn(postgres);
    const organizationId = await newOrganization(other);
    expect((await invite(stack.url, organizationId, { person: other, email: 'next@example.com' })).status).toBe(201);
  });

  test('limit mails per day to an address and of the installation', async () => {
    const inviteBy = async (email: string, by?: TestPerson) => {
      const person = by ?? (await signIn(postgres));
      return invite(web.url, await newOrganization(person), { person, email });
    };
    const hostile = await signIn(postgres);
    expect((await inviteBy('victim@example.com', hostile)).status).toBe(201);
    // One person reaches half of the limit, and what is refused counts for no other limit.
    const half = refusedFor('1 per day for an address from all that one person has');
    expect(await inviteBy('victim@example.com', hostile)).toEqual(half);
    expect((await inviteBy('victim@example.com')).status).toBe(201);
    expect(await inviteBy('Victim@Example.com')).toEqual(refusedFor('2 per day for an address'));
    for (let sent = 0; sent < 4; sent += 1) expect((await inviteBy(`${sent}@example.org`)).status).toBe(201);
    expect(await inviteBy('last@example.org')).toEqual(refusedFor('6 per day for this installation'));
    await smtp.mailTo('3@example.org');
    expect(smtp.mails.filter((mail) => mail.includes('To: victim@example.com'))).toHaveLength(2);
    expect((await postgres('invitations').where({ email: 'last@example.org' })).length).toBe(0);
  });
});

describe('limits of the mails of alerts and reports', () => {
  const SETTINGS = {
    ...{ MAILS_PER_PROJECT_PER_DAY_MAX: 4, MAILS_PER_ADDRESS_PER_DAY_MAX: 6, MAILS_OF_PROJECTS_PER_DAY_MAX: 1000 },
    RATE_LIMIT_PERSON_FACTOR: 2,
  };
  let redis: Redis;
  let addresses = 0;
  const newAddress = (): string => `reader-${++addresses}@example.com`;
  const tooMany = (limit: string): string => `too many mails; the limit is ${limit}`;
  const limited = (settings: Partial<typeof SETTINGS> = {}) =>
    createProjectMails(postgres, redis, { ...SETTINGS, ...settings });

  beforeAll(() => {
    redis = createRedis(databases.config);
  });
  afterAll(() => redis?.quit());

  async function newProjects(count = 1, owner?: TestPerson): Promise<NewProject[]> {
    const person = owner ?? (await signIn(postgres));
    const { id } = await createOrganization(postgres, { name: 'Shell', ownerId: person.id });
    return Promise.all(Array.from({ length: count }, () => createTeamProject(postgres, databases, id)));
  }
  /**
   * Counts mails to the addresses, one after the other: undefined for one that may be sent. Each is
   * taken twice, as when its worker is killed before it is queued, and counts once.
   */
  async function takeAll(take: TakeProjectMail, { id }: NewProject, to: readonly string[]) {
    const answers: (string | undefined)[] = [];
    for (const address of to) {
      const mail = { id: newUuidV7(), projectId: toProjectId(id), address };
      await take(mail);
      answers.push(await take(mail));
    }
    return answers;
  }
  const sent = (count: number) => Array.from({ length: count }, () => undefined);
  const newAddresses = (count: number) => Array.from({ length: count }, newAddress);

  test('of a project, of all projects of one person, and of the installation', async () => {
    const person = await signIn(postgres);
    const [[one], [two, three]] = [await newProjects(1, person), await newProjects(2, person)];
    if (!(one && two && three)) throw new Error('there are three projects');
    const take = limited();
    expect(await takeAll(take, one, newAddresses(5))).toEqual([...sent(4), tooMany('4 per day for a project')]);
    expect(await takeAll(take, two, newAddresses(4))).toEqual(sent(4));
    const refused = tooMany('8 per day for all that one person has');
    expect(await takeAll(take, three, newAddresses(2))).toEqual([refused, refused]);
    const [other] = await newProjects();
    if (!other) throw new Error('there is a project');
    // The 8 mails above count.
    const all = limited({ MAILS_OF_PROJECTS_PER_DAY_MAX: 9 });
    expect(await takeAll(all, other, newAddresses(2))).toEqual([undefined, tooMany('9 per day for this installation')]);
  });

  test('to an address: of one person half, and what is refused counts for no limit', async () => {
    const [[hostile], [own]] = [await newProjects(), await newProjects()];
    if (!(hostile && own)) throw new Error('there are two projects');
    const [take, victim] = [limited(), newAddress()];
    const half = tooMany('3 per day for an address from all that one person has');
    expect(await takeAll(take, hostile, Array(6).fill(victim))).toEqual([...sent(3), half, half, half]);
    expect(await takeAll(take, hostile, newAddresses(2))).toEqual([undefined, tooMany('4 per day for a project')]);
    expect(await takeAll(take, own, Array(3).fill(victim))).toEqual(sent(3));
    const [third] = await newProjects();
    if (!third) throw new Error('there is a project');
    const refused = tooMany('6 per day for an address');
    expect(await takeAll(take, third, [victim, ...newAddresses(5)])).toEqual([
      ...[refused, ...sent(4)],
      tooMany('4 per day for a project'),
    ]);
  });

  test('a refused message waits with the reason, and is sent when the limit allows it', async () => {
    const [project] = await newProjects();
    if (!project) throw new Error('there is a project');
    const address = newAddress();
    const document = alertDocument([{ to: [`mailto:${address}`] }]);
    const body = { source_yaml: document };
    expect((await ask('PUT /api/dashboard-sync/a', { key: project.secretKey, body })).status).toBe(201);
    const [alert] = await postgres('alerts').where({ project_id: project.id });
    const message = { ...DAILY, alert: 'alert-0', dashboard: 'a', title: 'A', condition: DAILY.when };
    await addDeliveries(postgres, {
      ...{ projectId: toProjectId(project.id), alertId: alert.id, transition: 1, targets: alert.targets, rows: [] },
      message: {
        ...{ ...message, before: 'ok', state: 'firing', value: 0, error: null },
        ...{ at: new Date().toISOString(), url: 'https://analytics.example.com/' },
      },
    });
    const mails = createMailQueue(redis);
    const { SECRET_KEY_BASE } = databases.config;
    const sendAll = (takeMail: TakeProjectMail) =>
      sendDueMessages(
        {
          ...{ postgres, takeMail, log: createLogger({ process: 'test', level: 'silent' }) },
          secrets: createWebhookSecrets(postgres, SECRET_KEY_BASE),
          webhooks: { allowed: [], resolve: async () => [], timeoutMs: 1000, nowSeconds: () => 0 },
          unsubscribeLinks: createUnsubscribeLinks(SECRET_KEY_BASE, new URL('https://analytics.example.com')),
          sendMail: (mail) => enqueueOutboxMail(mails, mail, SECRET_KEY_BASE),
        },
        new AbortController().signal,
      );
    const deliveries = () => postgres('alert_deliveries').where({ project_id: project.id });
    await takeAll(limited(), project, newAddresses(4));

    await sendAll(limited());
    const [refused] = await deliveries();
    expect(refused).toMatchObject({ status: 'waiting', attempts: 1, error: tooMany('4 per day for a project') });
    expect(refused.next_attempt_at.getTime()).toBeGreaterThan(Date.now());
    const jobId = mailJobId({ projectId: toProjectId(project.id), id: refused.id });
    expect(await mails.getJob(jobId)).toBeUndefined();

    await deliveries().update({ next_attempt_at: postgres.fn.now() });
    await sendAll(limited({ MAILS_PER_PROJECT_PER_DAY_MAX: 5 }));
    expect(await deliveries()).toMatchObject([{ status: 'sent', attempts: 2, error: null }]);
    expect((await mails.getJob(jobId))?.data.to).toBe(address);
    await mails.close();
  });
});
