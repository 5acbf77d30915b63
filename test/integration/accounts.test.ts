// Management routes: organizations, members, projects. Tokens, invitations and domains have their
// own files.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInvitation } from '../../src/accounts/invitations.js';
import { createOrganization } from '../../src/accounts/store.js';
import { toOrganizationId } from '../../src/platform/ids.js';
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

const NO_ONE = '00000000-0000-7000-8000-000000000000';
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/;

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

describe('organization routes', () => {
  test('POST /api/orgs makes the caller the owner and shows the admin key only once', async () => {
    const person = await signIn(postgres);
    const created = await ask('POST /api/orgs', as(person, { name: '  Acme Inc. ' }));
    expect(created).toEqual({
      status: 201,
      body: {
        id: expect.stringMatching(UUID_V7),
        name: 'Acme Inc.',
        slug: expect.stringMatching(/^acme-inc-/),
        role: 'owner',
        created_at: expect.any(String),
        admin_key: expect.stringMatching(/^ak_[0-9A-Za-z]{32}$/),
      },
    });
    const { admin_key: adminKey, ...organization } = created.body;
    expect((await ask('GET /api/orgs', as(person))).body).toEqual([organization]);
    expect((await ask(`GET /api/orgs/${organization.id}`, as(person))).body).toEqual(organization);
    expect((await ask('GET /api/admin/projects', { key: adminKey })).status).toBe(200);
  });

  test.each([
    [[], 'the body is not a JSON object'],
    [undefined, 'name is required: a text'],
    [{}, 'name is required: a text'],
    [{ name: 7 }, 'name is required: a text'],
    [{ name: ' ' }, 'name is empty'],
    [{ name: 'x'.repeat(129) }, 'name is longer than 128 characters'],
  ])('POST /api/orgs answers 400 to the body %j: %s', async (body, error) => {
    const person = await signIn(postgres);
    expect(await ask('POST /api/orgs', as(person, body))).toEqual({ status: 400, body: { error } });
  });

  test('an outsider gets the same 404 for an existing and a missing organization', async () => {
    const { organization } = await createTeam(postgres);
    const outsider = await signIn(postgres);
    for (const id of [organization.id, NO_ONE, 'no-uuid']) {
      expect(await ask(`GET /api/orgs/${id}`, as(outsider))).toEqual({
        status: 404,
        body: { error: 'there is no such organization' },
      });
    }
  });

  test('only an owner renames an organization, and its slug stays', async () => {
    const { organization, people } = await createTeam(postgres);
    const path = `/api/orgs/${organization.id}`;
    const { body: before } = await ask(`GET ${path}`, as(people.owner));
    expect((await ask(`PATCH ${path}`, as(people.admin, { name: 'Theirs' }))).status).toBe(403);
    expect((await ask(`PATCH ${path}`, as(await signIn(postgres), { name: 'Theirs' }))).status).toBe(404);
    expect((await ask(`PATCH ${path}`, as(people.owner, { name: '' }))).status).toBe(400);
    const renamed = { status: 200, body: { ...before, name: 'Acme' } };
    expect(await ask(`PATCH ${path}`, as(people.owner, { name: ' Acme ' }))).toEqual(renamed);
    expect(await ask(`GET ${path}`, as(people.owner))).toEqual(renamed);
  });

  test('a rotated admin key works at once, and the previous one stops within a second', async () => {
    const { organization, people } = await createTeam(postgres);
    expect((await ask('GET /api/admin/projects', { key: organization.adminKey })).status).toBe(200);
    const rotated = await ask(`POST /api/orgs/${organization.id}/rotate-admin-key`, as(people.owner));
    expect(rotated).toEqual({ status: 200, body: { admin_key: expect.stringMatching(/^ak_/) } });
    expect((await ask('GET /api/admin/projects', { key: rotated.body.admin_key })).status).toBe(200);
    await stops(async () =>
      expect((await ask('GET /api/admin/projects', { key: organization.adminKey })).status).toBe(401),
    );
  });
});

/** The promise is one second; the rest is tolerance for a busy machine. */
const stops = (attempt: () => Promise<unknown>): Promise<unknown> => eventually(attempt, 5000);

describe('member routes', () => {
  let team: TestTeam;
  beforeAll(async () => {
    team = await createTeam(postgres);
  });
  const path = (id = '') => `/api/orgs/${team.organization.id}/members${id}`;

  test('an owner lists the members', async () => {
    const { status, body } = await ask(`GET ${path()}`, as(team.people.owner));
    expect(status).toBe(200);
    expect(body).toHaveLength(3);
    expect(body[0]).toEqual({
      user_id: team.people.owner.id,
      email: team.people.owner.email,
      name: expect.any(String),
      role: 'owner',
      joined_at: expect.any(String),
    });
  });

  test('a changed role takes effect at once', async () => {
    const person = await signIn(postgres);
    await join(postgres, team.organization.id, person, 'member');
    const create = () => ask(`POST /api/orgs/${team.organization.id}/projects`, as(person, { name: 'New' }));
    expect((await create()).status).toBe(403);
    expect(await ask(`PATCH ${path(`/${person.id}`)}`, as(team.people.owner, { role: 'admin' }))).toMatchObject({
      status: 200,
      body: { user_id: person.id, role: 'admin' },
    });
    expect((await create()).status).toBe(201);
    expect((await ask(`DELETE ${path(`/${person.id}`)}`, as(team.people.owner))).status).toBe(200);
    expect((await create()).status).toBe(404);
  });

  test.each([
    [{}, 'role is one of owner, admin, member'],
    [{ role: 'king' }, 'role is one of owner, admin, member'],
  ])('PATCH answers 400 to the role %j', async (body, error) => {
    const answer = await ask(`PATCH ${path(`/${team.people.member.id}`)}`, as(team.people.owner, body));
    expect(answer).toEqual({ status: 400, body: { error } });
  });

  test('a person who joined meanwhile keeps the role when they accept an invitation', async () => {
    const { organization, people } = await createTeam(postgres);
    const { email, id } = people.member;
    const inviting = { email, role: 'admin', invitedBy: people.owner.id } as const;
    const { token } = await createInvitation(postgres, toOrganizationId(organization.id), inviting);
    const answer = await ask(`POST /api/invitations/${token}/accept`, as(people.member));
    expect(answer).toMatchObject({ status: 200, body: { role: 'member' } });
    const member = await postgres('members').where({ organization_id: organization.id, person_id: id }).first('role');
    expect(member).toEqual({ role: 'member' });
  });

  test.each([
    ['as it is stored', (id: string) => id],
    ['in capitals', (id: string) => id.toUpperCase()],
  ])('the last owner cannot be demoted or removed, with the id %s', async (_, toText) => {
    const { organization, people } = await createTeam(postgres);
    const route = `/api/orgs/${organization.id}/members/${toText(people.owner.id)}`;
    expect(await ask(`PATCH ${route}`, as(people.owner, { role: 'admin' }))).toMatchObject({ status: 400 });
    expect(await ask(`DELETE ${route}`, as(people.owner))).toMatchObject({ status: 400 });
    expect(await ask(`PATCH ${route}`, as(people.owner, { role: 'owner' }))).toMatchObject({ status: 200 });
  });

  test('one owner stays when the last two leave at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { organization, people } = await createTeam(postgres);
      const second = await signIn(postgres);
      await join(postgres, organization.id, second, 'owner');
      const leave = (person: TestPerson) => ask(`DELETE /api/orgs/${organization.id}/members/${person.id}`, as(person));
      const statuses = (await Promise.all([leave(people.owner), leave(second)])).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, 400]);
    }
  });

  test('an owner who is demoted meanwhile changes no member, because the change waits for the demotion', async () => {
    const { organization, people } = await createTeam(postgres);
    const second = await signIn(postgres);
    await join(postgres, organization.id, second, 'owner');
    const member = `/api/orgs/${organization.id}/members/${people.member.id}`;
    let changes: Promise<Answer[]> | undefined;
    await postgres.transaction(async (demotion) => {
      await demotion('organizations').where({ id: organization.id }).forUpdate().first('id');
      await demotion('members')
        .where({ organization_id: organization.id, person_id: second.id })
        .update({ role: 'member' });
      const promotion = ask(`PATCH ${member}`, as(second, { role: 'owner' }));
      changes = Promise.all([promotion, ask(`DELETE ${member}`, as(second))]);
      const answeredEarly = await Promise.race([changes, new Promise((resolve) => setTimeout(resolve, 500))]);
      expect(answeredEarly).toBeUndefined();
    });
    expect((await changes)?.map(({ status }) => status)).toEqual([403, 403]);
    const role = { organization_id: organization.id, person_id: people.member.id, role: 'member' };
    expect(await postgres('members').where(role)).toHaveLength(1);
  });

  test('a person who is not a member is not found', async () => {
    for (const id of [NO_ONE, 'no-uuid', (await signIn(postgres)).id]) {
      expect((await ask(`PATCH ${path(`/${id}`)}`, as(team.people.owner, { role: 'admin' }))).status).toBe(404);
      expect((await ask(`DELETE ${path(`/${id}`)}`, as(team.people.owner))).status).toBe(404);
    }
  });
});

describe('project routes', () => {
  test('admins create projects, and members see them without the secret key', async () => {
    const { organization, people } = await createTeam(postgres);
    const created = await ask(`POST /api/orgs/${organization.id}/projects`, as(people.admin, { name: 'Shop' }));
    expect(created).toEqual({
      status: 201,
      body: {
        id: expect.stringMatching(UUID_V7),
        name: 'Shop',
        organization_id: organization.id,
        public_key: expect.stringMatching(/^pk_[0-9A-Za-z]{32}$/),
        secret_key: expect.stringMatching(/^sk_[0-9A-Za-z]{32}$/),
        role: 'admin',
        capabilities: expect.arrayContaining(['query', 'rotate_secret_key']),
        ip_policy: 'anonymize',
        timezone: 'UTC',
        other_sdks: true,
        created_at: expect.any(String),
      },
    });
    const { secret_key: secretKey, capabilities: _, ...shared } = created.body;
    const path = `GET /api/projects/${shared.id}`;
    expect((await ask(path, as(people.owner))).body).toMatchObject({ role: 'owner', secret_key: secretKey });
    const seen = (await ask(path, as(people.member))).body;
    expect(seen).toEqual({ ...shared, role: 'member', capabilities: expect.not.arrayContaining(['read_secret_key']) });
    const listed = (await ask(`GET /api/orgs/${organization.id}/projects`, as(people.owner))).body;
    expect(listed).toEqual([{ ...shared, role: 'owner', capabilities: expect.any(Array) }]);
    expect((await track(processes.url, secretKey, { event_type: 'x' })).status).toBe(200);
  });

  test('PATCH changes name, IP policy, time zone and whether other SDKs may send', async () => {
    const { organization, people } = await createTeam(postgres);
    const { id } = await createTeamProject(postgres, databases, organization.id);
    const patch = (body: unknown) => ask(`PATCH /api/projects/${id}`, as(people.admin, body));
    expect(await patch({ name: 'Store', ip_policy: 'drop', timezone: 'Europe/Berlin' })).toMatchObject({
      status: 200,
      body: { name: 'Store', ip_policy: 'drop', timezone: 'Europe/Berlin' },
    });
    expect(await patch({ ip_policy: 'full' })).toMatchObject({
      status: 200,
      body: { name: 'Store', ip_policy: 'full' },
    });
    expect(await patch({ other_sdks: false })).toMatchObject({ status: 200, body: { other_sdks: false } });
    for (const [body, error] of [
      [{}, 'name, ip_policy, timezone or other_sdks is required'],
      [{ other_sdks: 'no' }, 'other_sdks is true or false'],
      [
        { ip_policy: 'x', timezone: 'Mars/Base' },
        'ip_policy is one of anonymize, full, drop; timezone is not a known IANA time zone',
      ],
    ] as const) {
      expect(await patch(body)).toEqual({ status: 400, body: { error } });
    }
  });

  test('a rotated secret key works at once, the old one stops within a second, the public key stays', async () => {
    const { organization, people } = await createTeam(postgres);
    const project = await createTeamProject(postgres, databases, organization.id);
    const query = (key: string) => ask('POST /query', { key, body: { q: '* | count' } });
    expect((await query(project.secretKey)).status).toBe(200);
    const { status, body } = await ask(`POST /api/projects/${project.id}/rotate-secret-key`, as(people.admin));
    expect(status).toBe(200);
    expect(body.public_key).toBe(project.publicKey);
    expect((await query(body.secret_key)).status).toBe(200);
    await stops(async () => expect((await query(project.secretKey)).status).toBe(401));
  });

  test('DELETE requires the name twice, stops the keys within a second and hides the project everywhere', async () => {
    const { organization, people } = await createTeam(postgres);
    const project = await createTeamProject(postgres, databases, organization.id, 'Shop');
    expect((await track(processes.url, project.publicKey, { event_type: 'x' })).status).toBe(200);
    const remove = (body: unknown) => ask(`DELETE /api/projects/${project.id}`, as(people.owner, body));
    for (const [body, error] of [
      [undefined, 'the body is not a JSON object'],
      [{ project_name: 'Shop' }, 'project_name_confirm is required: the name of the project, once more'],
      [{ project_name: 'shop', project_name_confirm: 'Shop' }, 'project_name is not the name of the project'],
      [{ project_name: 'Shop', project_name_confirm: 'Shop ' }, 'project_name_confirm is not the name of the project'],
    ] as const) {
      expect(await remove(body)).toEqual({ status: 400, body: { error } });
    }
    const both = { project_name: 'Shop', project_name_confirm: 'Shop' };
    expect(await remove(both)).toEqual({ status: 200, body: { status: 'deleted', id: project.id } });
    expect((await remove(both)).status).toBe(404);
    expect(
      await postgres('audit_entries').where({ project_id: project.id }).select('actor', 'action', 'outcome'),
    ).toEqual([{ actor: { kind: 'person', id: people.owner.id }, action: 'project.deleted', outcome: 'accepted' }]);
    expect((await ask(`GET /api/projects/${project.id}`, as(people.owner))).status).toBe(404);
    expect((await ask(`GET /api/orgs/${organization.id}/projects`, as(people.owner))).body).toEqual([]);
    await stops(async () =>
      expect((await track(processes.url, project.publicKey, { event_type: 'x' })).status).toBe(401),
    );
  });
});

describe('routes of the admin key', () => {
  test('an admin key lists, creates, reads, rotates and deletes projects of its own organization only', async () => {
    const { organization } = await createTeam(postgres);
    const other = await createOrganization(postgres, { name: 'Other' });
    const foreign = await createTeamProject(postgres, databases, other.id);
    const admin = (route: string, body?: unknown) => ask(route, { key: organization.adminKey, body });

    const created = await admin('POST /api/admin/projects', { name: 'By key' });
    expect(created).toMatchObject({ status: 201, body: { name: 'By key', organization_id: organization.id } });
    const { secret_key: secretKey, ...shared } = created.body;
    const path = `/api/admin/projects/${shared.id}`;
    expect(await admin(`GET ${path}`)).toEqual({ status: 200, body: { ...shared, secret_key: secretKey } });
    expect(await admin('GET /api/admin/projects')).toEqual({ status: 200, body: [shared] });
    const rotated = await admin(`POST ${path}/rotate-secret-key`);
    expect(rotated.body.secret_key).not.toBe(secretKey);
    expect(await admin(`GET ${path}/usage`)).toMatchObject({ status: 200 });
    for (const id of [foreign.id, NO_ONE, 'no-uuid']) {
      expect(await admin(`GET /api/admin/projects/${id}`)).toEqual({
        status: 404,
        body: { error: 'there is no such project' },
      });
    }
    expect((await admin(`DELETE ${path}`, { project_name: 'By key' })).status).toBe(400);
    const both = { project_name: 'By key', project_name_confirm: 'By key' };
    expect((await admin(`DELETE ${path}`, both)).body).toEqual({ status: 'deleted', id: shared.id });
    for (const route of [`GET ${path}`, `GET ${path}/usage`]) expect((await admin(route)).status).toBe(404);
  });
});
