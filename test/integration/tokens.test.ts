// Token routes, permissions and expiry of tokens, and queries of signed-in people.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
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
  type TestTeam,
} from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { track } from '../support/track.js';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/;
const DAY_MS = 24 * 60 * 60_000;

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  processes = await startProcesses(databases.env, ['query', 'web']);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const ask = (route: string, sent?: Sent): Promise<Answer> => send(processes.url, route, sent);

/** The promise is one second; the rest is tolerance for a busy machine. */
const stops = (attempt: () => Promise<unknown>): Promise<unknown> => eventually(attempt, 5000);

describe('token routes', () => {
  let team: TestTeam;
  let path: string;
  beforeAll(async () => {
    team = await createTeam(postgres);
    path = `/api/projects/${(await createTeamProject(postgres, databases, team.organization.id)).id}/tokens`;
  });
  const create = (person: TestPerson, fields: object = {}) =>
    ask(`POST ${path}`, as(person, { name: 'T', kind: 'personal', scopes: ['query'], ...fields }));
  const query = (token: string) => ask('POST /query', { key: token, body: { q: '* | count' } });

  test('POST shows a token once, and GET its last use', async () => {
    const { status, body } = await create(team.people.member, {
      scopes: ['query', 'dashboards', 'query'],
      expires_in: '12h',
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(UUID_V7),
      name: 'T',
      kind: 'personal',
      scopes: ['query', 'dashboards'],
      token: expect.stringMatching(/^aat_[0-9A-Za-z]{32}$/),
      prefix: body.token.slice(0, 8),
      expires_at: expect.any(String),
      created_at: expect.any(String),
    });
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(DAY_MS / 2);
    const { token, ...shown } = body;
    const mine = async () =>
      (await ask(`GET ${path}`, as(team.people.member))).body.find((one: { id: string }) => one.id === body.id);
    expect(await mine()).toMatchObject({
      ...shown,
      created_by: team.people.member.id,
      last_used_at: null,
      revoked_at: null,
    });
    expect(JSON.stringify(await mine())).not.toContain(token);
    expect((await query(token)).status).toBe(200);
    await eventually(async () => expect((await mine()).last_used_at).toEqual(expect.any(String)));
    expect(JSON.stringify(await postgres('access_tokens').where({ id: body.id }).first())).not.toContain(token);
  });

  test('a token stops within a second after it is revoked or expires', async () => {
    const revoked = (await create(team.people.member)).body;
    const expiring = (await create(team.people.member)).body;
    for (const { token } of [revoked, expiring]) expect((await query(token)).status).toBe(200);
    expect(await ask(`DELETE ${path}/${revoked.id}`, as(team.people.member))).toMatchObject({
      status: 200,
      body: { id: revoked.id, revoked_at: expect.any(String) },
    });
    expect((await ask(`DELETE ${path}/${revoked.id}`, as(team.people.member))).status).toBe(200);
    await stops(async () => expect((await query(revoked.token)).status).toBe(401));
    await postgres('access_tokens').where({ id: expiring.id }).update({ expires_at: new Date() });
    await stops(async () => expect((await query(expiring.token)).status).toBe(401));
  });

  test.each([
    ['member', 'personal', ['query', 'dashboards'], 201],
    ['member', 'personal', ['track'], 403],
    ['member', 'personal', ['query', 'admin'], 403],
    ['member', 'service', ['query'], 403],
    ['admin', 'personal', ['track', 'query', 'dashboards'], 201],
    ['admin', 'service', ['track', 'query', 'dashboards'], 201],
    ['admin', 'service', ['admin'], 403],
    ['owner', 'service', ['track', 'query', 'dashboards', 'admin'], 201],
    ['owner', 'personal', ['admin'], 201],
  ] as const)('POST by a %s of a %s token with scopes %j answers %i', async (role, kind, scopes, status) => {
    expect((await create(team.people[role], { kind, scopes })).status).toBe(status);
  });

  test.each([
    [{ name: undefined }, 'name is required: a text'],
    [{ kind: 'robot' }, 'kind is one of personal, service'],
    [{ scopes: undefined }, 'scopes is required: a list of track, query, dashboards, admin'],
    [{ scopes: [] }, 'scopes is empty'],
    [{ scopes: ['query', 'fly'] }, 'scopes 1 is one of track, query, dashboards, admin'],
    ...['59s', '367d', '53w', '1', 'd', '1.5h', '1y', ''].map((text): [object, string] => [
      { expires_in: text },
      'expires_in is a number and one of s, m, h, d, w, from 1 minute to 366 days, as in 12h',
    ]),
  ])('POST answers 400 to %j: %s', async (fields, error) => {
    expect(await create(team.people.owner, fields)).toEqual({ status: 400, body: { error } });
  });

  test.each([
    ['60s', 60_000],
    ['366d', 366 * DAY_MS],
    ['52w', 52 * 7 * DAY_MS],
    [undefined, 90 * DAY_MS],
  ])('POST accepts expires_in %s', async (text, ms) => {
    const { body } = await create(team.people.owner, { expires_in: text });
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(ms);
  });

  test('a token stops within a second after its project is deleted', async () => {
    const { id } = await createTeamProject(postgres, databases, team.organization.id, 'Short');
    const fields = { name: 'T', kind: 'personal', scopes: ['query'] };
    const { body } = await ask(`POST /api/projects/${id}/tokens`, as(team.people.owner, fields));
    expect((await query(body.token)).status).toBe(200);
    const both = { project_name: 'Short', project_name_confirm: 'Short' };
    expect((await ask(`DELETE /api/projects/${id}`, as(team.people.owner, both))).status).toBe(200);
    await stops(async () => expect((await query(body.token)).status).toBe(401));
  });

  test("members list and revoke their own tokens, admins and owners all, and /api/me/tokens the caller's", async () => {
    const [mine, theirs] = [(await create(team.people.member)).body, (await create(team.people.admin)).body];
    const ids = async (route: string, person: TestPerson) =>
      (await ask(route, as(person))).body.map(({ id }: { id: string }) => id);
    expect(await ids(`GET ${path}`, team.people.member)).toContain(mine.id);
    expect(await ids(`GET ${path}`, team.people.member)).not.toContain(theirs.id);
    expect(await ids(`GET ${path}`, team.people.owner)).toEqual(expect.arrayContaining([mine.id, theirs.id]));
    expect(await ids('GET /api/me/tokens', team.people.member)).toContain(mine.id);
    expect(await ids('GET /api/me/tokens', team.people.admin)).not.toContain(mine.id);

    expect((await ask(`DELETE ${path}/${theirs.id}`, as(team.people.member))).status).toBe(404);
    expect((await ask(`DELETE /api/me/tokens/${theirs.id}`, as(team.people.member))).status).toBe(404);
    expect((await ask(`DELETE /api/me/tokens/no-uuid`, as(team.people.member))).status).toBe(404);
    expect((await ask(`DELETE ${path}/${mine.id}`, as(team.people.admin))).status).toBe(200);
    expect((await ask(`DELETE /api/me/tokens/${theirs.id}`, as(team.people.admin))).status).toBe(200);
  });

  test('tokens of other projects are neither listed nor revoked, and those of deleted projects are not listed', async () => {
    const { owner } = team.people;
    const other = await createTeam(postgres);
    const newPath = async ({ organization }: TestTeam) =>
      `/api/projects/${(await createTeamProject(postgres, databases, organization.id, 'Shop')).id}`;
    const [sibling, foreign] = [await newPath(team), await newPath(other)];
    const body = { name: 'T', kind: 'service', scopes: ['query'] };
    const [theirs, ours] = [
      (await ask(`POST ${foreign}/tokens`, as(other.people.owner, body))).body,
      (await ask(`POST ${sibling}/tokens`, as(owner, { ...body, kind: 'personal' }))).body,
    ];
    const own = (await create(owner, { kind: 'service' })).body;
    const ids = async (route: string) => (await ask(route, as(owner))).body.map(({ id }: { id: string }) => id);
    expect(await ids(`GET ${path}`)).toEqual(expect.not.arrayContaining([theirs.id]));
    expect(await ids(`GET ${path}`)).toEqual(expect.not.arrayContaining([ours.id]));
    for (const { id } of [theirs, ours]) expect((await ask(`DELETE ${path}/${id}`, as(owner))).status).toBe(404);
    for (const { token } of [theirs, ours]) expect((await query(token)).status).toBe(200);

    // Service tokens are of the project, not of the person who made them.
    expect(await ids('GET /api/me/tokens')).toContain(ours.id);
    expect(await ids('GET /api/me/tokens')).not.toContain(own.id);
    expect((await ask(`DELETE /api/me/tokens/${own.id}`, as(owner))).status).toBe(404);
    const both = { project_name: 'Shop', project_name_confirm: 'Shop' };
    expect((await ask(`DELETE ${sibling}`, as(owner, both))).status).toBe(200);
    expect(await ids('GET /api/me/tokens')).not.toContain(ours.id);
  });

  test('a personal token loses rights when its person is demoted and stops when they leave', async () => {
    const person = await signIn(postgres);
    await join(postgres, team.organization.id, person, 'admin');
    const personal = (await create(person, { scopes: ['track', 'query'] })).body.token;
    const service = (await create(person, { kind: 'service', scopes: ['track'] })).body.token;
    const send = async (token: string) => (await track(processes.url, token, { event_type: 'x' })).status;
    expect(await send(personal)).toBe(200);
    const member = `/api/orgs/${team.organization.id}/members/${person.id}`;
    await ask(`PATCH ${member}`, as(team.people.owner, { role: 'member' }));
    await stops(async () => expect(await send(personal)).toBe(403));
    expect((await query(personal)).status).toBe(200);
    await ask(`DELETE ${member}`, as(team.people.owner));
    await stops(async () => expect((await query(personal)).status).toBe(401));
    expect(await send(service)).toBe(200);
    await join(postgres, team.organization.id, person, 'owner');
    expect((await query(personal)).status).toBe(401);
    // Also one that is not revoked, whatever the person is elsewhere.
    const { organization: elsewhere } = await createTeam(postgres);
    await join(postgres, elsewhere.id, person, 'owner');
    const { token } = (await create(person)).body;
    expect((await query(token)).status).toBe(200);
    await postgres('members').where({ person_id: person.id, organization_id: team.organization.id }).delete();
    await stops(async () => expect((await query(token)).status).toBe(401));
  });
});

test.each([
  ['removed', 404],
  ['demoted', 403],
])(
  'no service token is made when its admin is %s meanwhile, because creation waits for the change',
  async (fate, status) => {
    const { organization, people } = await createTeam(postgres);
    const { id } = await createTeamProject(postgres, databases, organization.id);
    const body = { name: 'T', kind: 'service', scopes: ['query'] };
    let created: Promise<Answer> | undefined;
    await postgres.transaction(async (change) => {
      const admin = change('members').where({ organization_id: organization.id, person_id: people.admin.id });
      await (fate === 'removed' ? admin.delete() : admin.update({ role: 'member' }));
      created = ask(`POST /api/projects/${id}/tokens`, as(people.admin, body));
      const answeredEarly = await Promise.race([created, new Promise((resolve) => setTimeout(resolve, 500))]);
      expect(answeredEarly).toBeUndefined();
    });
    expect((await created)?.status).toBe(status);
    expect(await postgres('access_tokens').where({ project_id: id })).toEqual([]);
  },
);

describe('POST /api/projects/{projectID}/query', () => {
  test('is answered for that project by the query process', async () => {
    const { organization, people } = await createTeam(postgres);
    const { id } = await createTeamProject(postgres, databases, organization.id);
    const body = { q: '* | last 1h | count', format: 'json' };
    expect(await ask(`POST /api/projects/${id}/query`, as(people.member, body))).toMatchObject({
      status: 200,
      body: { mode: 'aggregate' },
    });
    expect(
      await ask(`POST /api/projects/${id}/query`, as(people.member, { q: 'signup | count by _contry' })),
    ).toMatchObject({
      status: 400,
      body: { details: [expect.objectContaining({ column: 19 })] },
    });
    expect((await ask(`POST /api/projects/${id}/query`, as(await signIn(postgres), body))).status).toBe(404);
  });

  test('a forged pass is refused by web and by the query process', async () => {
    const { organization, people } = await createTeam(postgres);
    const { id } = await createTeamProject(postgres, databases, organization.id);
    const pass = `${id}.${people.member.id}.${Date.now() + 10_000}.${Buffer.alloc(32).toString('base64url')}`;
    for (const url of [processes.url, processes.get('query').url]) {
      const answer = await send(url, 'POST /query', { headers: { 'X-Project-Pass': pass }, body: { q: '* | count' } });
      expect(answer.status).toBe(401);
    }
  });
});
