// Permissions of dashboards over HTTP: who may create, overwrite, share and delete which.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Role } from '../../src/access/roles.js';
import type { NewProject } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { type Answer, createTeam, createTeamProject, send, signIn, type TestTeam } from '../support/accounts.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

const NO_ONE = '00000000-0000-7000-8000-000000000000';

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let team: TestTeam;
let project: NewProject;
/** Personal tokens by role, and a service token. */
let tokens: Readonly<Record<Role | 'service', string>>;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  processes = await startProcesses(databases.env, ['web']);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

beforeEach(async () => {
  team = await createTeam(postgres);
  project = await createTeamProject(postgres, databases, team.organization.id);
  const { owner, admin, member } = team.people;
  const newToken = async (session: string, kind: 'personal' | 'service') => {
    const body = { name: 'T', kind, scopes: ['dashboards'] };
    return (await send(processes.url, `POST /api/projects/${project.id}/tokens`, { session, body })).body.token;
  };
  tokens = {
    owner: await newToken(owner.session, 'personal'),
    admin: await newToken(admin.session, 'personal'),
    member: await newToken(member.session, 'personal'),
    service: await newToken(admin.session, 'service'),
  };
});

const yaml = (title: string) =>
  `version: 1\ntitle: ${title}\nsections:\n- title: S\n  cards:\n  - {id: a, title: A, kind: metric, viz: number, query: signup | count}\n`;

const sync = (key: string, title: string, fields: object = {}): Promise<Answer> =>
  send(processes.url, 'PUT /api/dashboard-sync/sales', { key, body: { source_yaml: yaml(title), ...fields } });

const titles = async (role: Role = 'member'): Promise<string[]> => {
  const { session } = team.people[role];
  const { body } = await send(processes.url, `GET /api/projects/${project.id}/dashboards`, { session });
  return body.map(({ title }: { title: string }) => title);
};

const refused = (error: string) => ({ status: 400, body: { error } });
const FORBIDDEN = {
  status: 403,
  body: { error: expect.stringContaining('is written with role admin or owner, a secret key or a service token') },
};

describe("a member's token in dashboard sync", () => {
  test('cannot overwrite a project dashboard', async () => {
    await sync(project.secretKey, 'Ours');
    expect(await sync(tokens.member, 'Hijacked')).toEqual(FORBIDDEN);
    expect(await sync(tokens.member, 'Hijacked', { visibility: 'project' })).toEqual(FORBIDDEN);
    expect(await titles()).toEqual(['Ours']);
  });

  test('cannot create a project dashboard or share a personal one', async () => {
    expect(await sync(tokens.member, 'Forged', { visibility: 'project' })).toEqual(FORBIDDEN);
    expect((await sync(tokens.member, 'Mine')).body.dashboard.visibility).toBe('personal');
    expect(await sync(tokens.member, 'Mine', { visibility: 'project' })).toEqual(FORBIDDEN);
    expect(await titles('owner')).toEqual([]);
  });

  test('creates a personal dashboard with the key of a project dashboard', async () => {
    await sync(project.secretKey, 'Ours');
    expect(await sync(tokens.member, 'Mine', { visibility: 'personal' })).toMatchObject({
      status: 201,
      body: { dashboard: { visibility: 'personal', version: 1 } },
    });
    expect(await titles()).toEqual(['Mine', 'Ours']);
    expect((await sync(tokens.member, 'Mine 2')).body.dashboard).toMatchObject({ visibility: 'personal', version: 2 });
    expect(await titles('owner')).toEqual(['Ours']);
  });

  test('cannot overwrite a dashboard that the person shared as an admin, after a demotion', async () => {
    await sync(tokens.admin, 'Shared', { visibility: 'project' });
    const path = `/api/orgs/${team.organization.id}/members/${team.people.admin.id}`;
    await send(processes.url, `PATCH ${path}`, { session: team.people.owner.session, body: { role: 'member' } });
    // A token keeps the role that it was looked up with for a second at most.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await sync(tokens.admin, 'Changed')).toEqual(FORBIDDEN);
    expect(await titles()).toEqual(['Shared']);
  });

  test.each(['owner', 'admin', 'service'] as const)(
    'a token of role %s creates and overwrites project dashboards',
    async (who) => {
      expect((await sync(tokens[who], 'Ours', { visibility: 'project' })).status).toBe(201);
      expect((await sync(tokens[who], 'Ours 2')).body.dashboard).toMatchObject({ visibility: 'project', version: 2 });
    },
  );
});

test('a dry run refuses more alerts than a project may have, as the change itself', async () => {
  const alert = (id: number) =>
    `\n- {id: a${id}, query: signup | count, when: value < 5, every: 1d, to: ['mailto:a@b.de']}`;
  const alerts = (count: number) => `alerts:${Array.from({ length: count }, (_, id) => alert(id)).join('')}\n`;
  const key = project.secretKey;
  for (const name of ['one', 'two']) {
    const body = { source_yaml: yaml('Full') + alerts(50) };
    expect((await send(processes.url, `PUT /api/dashboard-sync/${name}`, { key, body })).status).toBe(201);
  }
  const error = expect.stringContaining('at most 100 alerts');
  const definitions = { key, body: { source_yaml: `version: 1\n${alerts(1)}` } };
  expect(await send(processes.url, 'PUT /api/definitions?dry_run=true', definitions)).toEqual({
    status: 403,
    body: { error },
  });
  const { session } = team.people.owner;
  const made = { session, body: { source_yaml: yaml('Own'), visibility: 'project' } };
  const { body } = await send(processes.url, `POST /api/projects/${project.id}/dashboards?key=own`, made);
  const path = `/api/projects/${project.id}/dashboards/${body.dashboard.id}?base_version=1&dry_run=true`;
  const change = { session, body: { source_yaml: yaml('Own') + alerts(1) } };
  expect(await send(processes.url, `PUT ${path}`, change)).toEqual({ status: 403, body: { error } });
});

describe('a dry run of a sync', () => {
  const tryOut = (key: string, title: string, fields: object = {}): Promise<Answer> =>
    send(processes.url, 'PUT /api/dashboard-sync/sales?dry_run=true', {
      key,
      body: { source_yaml: yaml(title), ...fields },
    });

  test('says what the sync would do, and stores nothing', async () => {
    expect(await tryOut(tokens.member, 'Mine')).toMatchObject({
      status: 200,
      body: { dashboard: { id: null, version: 0, title: 'Mine', visibility: 'personal' }, changed: true },
    });
    expect(await titles()).toEqual([]);
    const { dashboard } = (await sync(project.secretKey, 'Ours')).body;
    expect(await tryOut(project.secretKey, 'Theirs')).toEqual({
      status: 200,
      body: { dashboard, changed: true, metadata_changed: false },
    });
    expect(await tryOut(project.secretKey, 'Ours')).toMatchObject({ body: { dashboard, changed: false } });
    expect(await titles()).toEqual(['Ours']);
    expect(await postgres('dashboard_versions').where({ dashboard_id: dashboard.id })).toHaveLength(1);
  });

  test('refuses what the sync would refuse', async () => {
    await sync(project.secretKey, 'Ours');
    expect(await tryOut(tokens.member, 'Theirs')).toEqual(FORBIDDEN);
    expect((await tryOut(project.secretKey, 'Ours', { visibility: 'personal' })).status).toBe(400);
    expect((await tryOut(project.secretKey, 'Ours', { source_yaml: 'version: 2' })).status).toBe(400);
  });
});

test('a misspelled field of a body is refused, and nothing is stored', async () => {
  const source_yaml = yaml('Sales');
  const key = tokens.admin;
  const put = (path: string, body: object) => send(processes.url, `PUT ${path}`, { key, body });
  expect(await put('/api/dashboard-sync/sales', { source_yaml, visiblity: 'personal' })).toEqual(
    refused('unknown field "visiblity"; the body has source_yaml, visibility'),
  );
  expect(await titles('admin')).toEqual([]);
  expect(await put('/api/definitions', { source_yaml: 'version: 1', dry_run: true })).toEqual(
    refused('unknown field "dry_run"; the body has source_yaml'),
  );
  expect((await send(processes.url, 'GET /api/definitions', { key })).body).toMatchObject({ version: 0 });

  const { id } = (await put('/api/dashboard-sync/sales', { source_yaml })).body.dashboard;
  const { session } = team.people.admin;
  const filled = { session, body: { plan: 'pro' } };
  expect(
    await send(processes.url, `POST /api/projects/${project.id}/dashboards/${id}/cards/a/queries`, filled),
  ).toEqual(refused('unknown field "plan"; the body has variables'));
});

describe('DELETE /api/dashboard-sync', () => {
  const remove = (key: string, query = '') => send(processes.url, `DELETE /api/dashboard-sync/sales${query}`, { key });

  test('deletes the dashboard with its versions, and then answers 404', async () => {
    const { body } = await sync(project.secretKey, 'Ours');
    await sync(project.secretKey, 'Ours 2');
    expect(await remove(project.secretKey)).toEqual({
      status: 200,
      body: { status: 'deleted', id: body.dashboard.id },
    });
    expect(await titles()).toEqual([]);
    expect(await postgres('dashboard_versions').where({ dashboard_id: body.dashboard.id })).toEqual([]);
    expect(await remove(project.secretKey)).toEqual({ status: 404, body: { error: 'there is no such dashboard' } });
    expect((await sync(project.secretKey, 'Ours')).body.dashboard.version).toBe(1);
  });

  test('with a misspelled parameter deletes nothing, nor does a change store anything', async () => {
    const key = tokens.service;
    await sync(key, 'Sales');
    expect(await remove(key, '?visiblity=personal')).toEqual(
      refused('unknown parameter "visiblity"; the route has visibility'),
    );
    const body = { source_yaml: yaml('Revenue') };
    expect(await send(processes.url, 'PUT /api/dashboard-sync/sales?dryrun=true', { key, body })).toEqual(
      refused('unknown parameter "dryrun"; the route has dry_run'),
    );
    expect(await titles()).toEqual(['Sales']);
    const definitions = { key, body: { source_yaml: 'version: 1' } };
    expect(await send(processes.url, 'PUT /api/definitions?dryrun=true', definitions)).toEqual(
      refused('unknown parameter "dryrun"; the route has base_version, dry_run'),
    );
    expect((await send(processes.url, 'GET /api/definitions', { key })).body).toMatchObject({ version: 0 });
  });

  test('with a personal token deletes the personal dashboard, and when repeated not the project one', async () => {
    await sync(project.secretKey, 'Ours');
    await sync(tokens.member, 'Mine', { visibility: 'personal' });
    expect((await remove(tokens.member)).status).toBe(200);
    expect((await remove(tokens.member)).status).toBe(404);
    expect((await remove(tokens.owner)).status).toBe(404);
    expect(await titles('owner')).toEqual(['Ours']);
    expect((await remove(tokens.owner, '?visibility=project')).status).toBe(200);
    expect(await titles('owner')).toEqual([]);
  });

  test("with a member's token deletes neither a project dashboard nor one of another person", async () => {
    await sync(project.secretKey, 'Ours');
    expect(await remove(tokens.member, '?visibility=project')).toEqual(FORBIDDEN);
    expect((await remove(tokens.member)).status).toBe(404);
    expect(await titles()).toEqual(['Ours']);
  });

  test('with a service credential refuses visibility personal and unknown visibilities', async () => {
    expect((await remove(tokens.service, '?visibility=personal')).status).toBe(400);
    expect((await remove(tokens.service, '?visibility=all')).status).toBe(400);
    expect((await remove(project.publicKey)).status).toBe(403);
  });
});

describe('DELETE of a dashboard with a session', () => {
  const remove = (role: Role, id: string) =>
    send(processes.url, `DELETE /api/projects/${project.id}/dashboards/${id}`, { session: team.people[role].session });

  test('requires role admin for a project dashboard', async () => {
    const { body } = await sync(project.secretKey, 'Ours');
    expect(await remove('member', body.dashboard.id)).toEqual(FORBIDDEN);
    const outsider = await signIn(postgres);
    const route = `DELETE /api/projects/${project.id}/dashboards/${body.dashboard.id}`;
    expect((await send(processes.url, route, { session: outsider.session })).status).toBe(404);
    expect(await remove('admin', body.dashboard.id)).toEqual({
      status: 200,
      body: { status: 'deleted', id: body.dashboard.id },
    });
    expect(await titles()).toEqual([]);
  });

  test('deletes a personal dashboard for its owner and answers 404 to others', async () => {
    const { body } = await sync(tokens.member, 'Mine');
    for (const id of [body.dashboard.id, NO_ONE, 'no-uuid']) {
      expect(await remove('owner', id)).toEqual({ status: 404, body: { error: 'there is no such dashboard' } });
    }
    expect((await remove('member', body.dashboard.id)).status).toBe(200);
  });

  test('during a sync causes no error and leaves no version without its dashboard', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { body } = await sync(project.secretKey, `T ${round}`);
      const answers = await Promise.all([
        sync(project.secretKey, `T ${round} again`),
        remove('owner', body.dashboard.id),
        sync(project.secretKey, `T ${round} once more`),
      ]);
      expect(answers.map(({ status }) => status).filter((status) => status >= 400)).toEqual([]);
    }
  });
});
