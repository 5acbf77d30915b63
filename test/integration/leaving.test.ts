// Members who leave, organizations and accounts that are deleted.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptInvitation, createInvitation } from '../../src/accounts/invitations.js';
import { requireOrganizationQuota } from '../../src/accounts/quotas.js';
import { createOrganization } from '../../src/accounts/store.js';
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

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;

beforeAll(async () => {
  databases = await createTestDatabases({ ORGANIZATIONS_PER_PERSON_MAX: '1' });
  postgres = createPostgres(databases.config);
  processes = await startProcesses(databases.env, ['query', 'web']);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const ask = (route: string, sent?: Sent): Promise<Answer> => send(processes.url, route, sent);
const leave = (person: TestPerson, organizationId: string, name = 'Team') =>
  ask(`DELETE /api/me/orgs/${organizationId}`, as(person, { organization_name: name }));
const deleteAccount = (person: TestPerson) => ask('DELETE /api/me', as(person, { confirm: 'delete my account' }));
const deleteOrganization = (person: TestPerson, id: string, [name, confirm] = ['Team', 'Team']) =>
  ask(`DELETE /api/orgs/${id}`, as(person, { organization_name: name, organization_name_confirm: confirm }));

const newToken = { name: 'T', kind: 'personal', scopes: ['query'] };
/** Waits as long as a process may know a credential: a second, and more on a busy machine. */
const isRefused = (key: string) =>
  eventually(async () => expect((await ask('POST /query', { key, body: { q: '* | count' } })).status).toBe(401), 5000);

test('a member leaves, and the personal token stops; the last owner does not', async () => {
  const { organization, people } = await createTeam(postgres);
  const project = await createTeamProject(postgres, databases, organization.id);
  const { body: token } = await ask(`POST /api/projects/${project.id}/tokens`, as(people.member, newToken));
  expect((await ask('POST /query', { key: token.token, body: { q: '* | count' } })).status).toBe(200);
  const other = await createTeam(postgres);
  await join(postgres, other.organization.id, people.member, 'member');
  const { id: otherProject } = await createTeamProject(postgres, databases, other.organization.id);
  const { body: kept } = await ask(`POST /api/projects/${otherProject}/tokens`, as(people.member, newToken));
  const { body: ofAdmin } = await ask(`POST /api/projects/${project.id}/tokens`, as(people.admin, newToken));

  expect(await leave(people.member, organization.id, 'Other')).toEqual({
    status: 400,
    body: { error: 'organization_name is not the name of the organization' },
  });
  expect(await leave(people.member, organization.id)).toEqual({
    status: 200,
    body: { status: 'left', id: organization.id },
  });
  expect((await ask('GET /api/orgs', as(people.member))).body).toMatchObject([{ id: other.organization.id }]);
  expect((await leave(people.member, organization.id)).status).toBe(404);
  await isRefused(token.token);
  expect((await ask('POST /query', { key: kept.token, body: { q: '* | count' } })).status).toBe(200);
  // It stays refused when the person joins again.
  const revokedAt = async ({ id }: { id: string }) =>
    (await postgres('access_tokens').where({ id }).first('revoked_at')).revoked_at;
  expect(await Promise.all([token, kept, ofAdmin].map(revokedAt))).toEqual([expect.any(Date), null, null]);

  expect(await leave(people.owner, organization.id)).toEqual({
    status: 400,
    body: { error: 'the last owner of an organization cannot leave' },
  });
  await ask(`PATCH /api/orgs/${organization.id}/members/${people.admin.id}`, as(people.owner, { role: 'owner' }));
  expect((await leave(people.owner, organization.id)).status).toBe(200);
});

test('a person who joins an organization and is removed keeps the invitations from and to others', async () => {
  const [team, other] = [await createTeam(postgres), await createTeam(postgres)];
  const accept = (token: string, by: TestPerson) => ask(`POST /api/invitations/${token}/accept`, as(by));
  const [person, guest] = [await signIn(postgres), await signIn(postgres)];
  const invite = ({ organization }: TestTeam, to: TestPerson, by: TestPerson) =>
    createInvitation(postgres, organization.id, { email: to.email, role: 'member', invitedBy: by.id });
  await join(postgres, other.organization.id, person, 'owner');
  const { token } = await invite(team, person, team.people.owner);
  const { token: sent } = await invite(other, guest, person);
  const third = await createTeam(postgres);
  const { token: received } = await invite(third, person, third.people.owner);
  // A member of another organization is invited, joins and is removed.
  const path = `/api/orgs/${team.organization.id}`;
  const body = { email: person.email, role: 'member' };
  expect((await ask(`POST ${path}/invitations`, as(team.people.owner, body))).status).toBe(201);
  expect((await accept(token, person)).status).toBe(200);
  expect((await ask(`DELETE ${path}/members/${person.id}`, as(team.people.owner))).status).toBe(200);
  expect((await accept(received, person)).status).toBe(200);
  expect((await accept(sent, guest)).status).toBe(200);
});

test('one owner stays when the last two leave and delete their accounts at the same time', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { organization, people } = await createTeam(postgres);
    const second = await signIn(postgres);
    await join(postgres, organization.id, second, 'owner');
    const answers = await Promise.all([leave(people.owner, organization.id), deleteAccount(second)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(await postgres('members').where({ organization_id: organization.id, role: 'owner' })).toHaveLength(1);
  }
});

test('an owner deletes an organization: members, keys and projects end, and the trail stays', async () => {
  const { organization, people } = await createTeam(postgres);
  const project = await createTeamProject(postgres, databases, organization.id);
  const invited = await signIn(postgres);
  const invitation = { email: invited.email, role: 'member', invitedBy: people.owner.id } as const;
  const { token } = await createInvitation(postgres, organization.id, invitation);
  await ask(`POST /api/orgs/${organization.id}/domains`, as(people.owner, { domain: 'gone.example' }));

  expect((await deleteOrganization(people.admin, organization.id)).status).toBe(403);
  expect(await deleteOrganization(people.owner, organization.id, ['Team', 'Tea'])).toEqual({
    status: 400,
    body: { error: 'organization_name_confirm is not the name of the organization' },
  });
  expect(await deleteOrganization(people.owner, organization.id)).toEqual({
    status: 200,
    body: { status: 'deleted', id: organization.id },
  });

  for (const person of Object.values(people)) expect((await ask('GET /api/orgs', as(person))).body).toEqual([]);
  expect((await ask(`GET /api/projects/${project.id}`, as(people.owner))).status).toBe(404);
  await isRefused(project.secretKey);
  await eventually(async () => {
    expect((await ask('GET /api/admin/projects', { key: organization.adminKey })).status).toBe(401);
  }, 5000);
  const person = { personId: invited.id, email: invited.email, emailVerified: true, name: undefined };
  await expect(acceptInvitation(postgres, token, person)).rejects.toThrow('no such invitation');
  expect(await postgres('domains').where({ organization_id: organization.id })).toEqual([]);
  expect(await postgres('audit_entries').where({ project_id: project.id }).select('action', 'actor')).toEqual([
    { action: 'project.deleted', actor: { kind: 'person', id: people.owner.id } },
  ]);
});

test('a deleted organization gets no project, and counts until the data of its projects is deleted', async () => {
  const person = await signIn(postgres);
  const create = () => ask('POST /api/orgs', as(person, { name: 'Team' }));
  const { body: organization } = await create();
  const project = await createTeamProject(postgres, databases, organization.id);
  let answer: Promise<Answer> | undefined;
  await postgres.transaction(async (transaction) => {
    // The request has passed the check of its key, and waits for the deletion.
    await transaction('organizations').where({ id: organization.id }).forUpdate().first('id');
    answer = ask('POST /api/admin/projects', { key: organization.admin_key, body: { name: 'Late' } });
    const early = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 500))]);
    expect(early).toBeUndefined();
    await transaction('organizations').where({ id: organization.id }).update({ removed_at: new Date() });
  });
  expect(await answer).toEqual({ status: 403, body: { error: 'this organization was deleted' } });

  expect((await create()).status).toBe(403);
  await postgres('projects').where({ id: project.id }).update({ data_deleted_at: new Date() });
  expect((await create()).status).toBe(201);
});

test('the organizations that a person created count for another owner after the account is deleted', async () => {
  const { organization, people } = await createTeam(postgres);
  const { owner, member } = people;
  await ask(`PATCH /api/orgs/${organization.id}/members/${member.id}`, as(owner, { role: 'owner' }));
  expect((await deleteAccount(owner)).status).toBe(200);
  const { created_by: createdBy } = await postgres('organizations').where({ id: organization.id }).first('created_by');
  expect(createdBy).toBe(member.id);
  expect((await ask('POST /api/orgs', as(member, { name: 'One more' }))).status).toBe(403);
});

test('an account is not deleted while it creates an organization, whose last owner it is', async () => {
  const person = await signIn(postgres);
  let answer: Promise<Answer> | undefined;
  await postgres.transaction(async (transaction) => {
    await requireOrganizationQuota(transaction, databases.config, person.id);
    answer = deleteAccount(person);
    const waiting = postgres('pg_stat_activity').whereRaw("datname = current_database() AND wait_event_type = 'Lock'");
    await eventually(async () => expect(await waiting.clone()).toHaveLength(1));
    await createOrganization(transaction, { name: 'Late', ownerId: person.id });
  });
  expect(await answer).toEqual({
    status: 400,
    body: {
      error: 'you are the last owner of Late: make another member an owner, or delete the organization first',
    },
  });
});

test('the organization of the installation is not deleted', async () => {
  const { organization, people } = await createTeam(postgres);
  await postgres('organizations').where({ id: organization.id }).update({ is_standalone: true });
  expect(await deleteOrganization(people.owner, organization.id)).toEqual({
    status: 400,
    body: { error: 'this organization belongs to the installation and ends with it' },
  });
  await postgres('organizations').where({ id: organization.id }).update({ is_standalone: false });
});

test('a person deletes the account with what belongs to it, and what belongs to others stays', async () => {
  const { organization, people } = await createTeam(postgres);
  const { member } = people;
  const project = await createTeamProject(postgres, databases, organization.id);
  const { body: token } = await ask(`POST /api/projects/${project.id}/tokens`, as(member, newToken));
  const yaml = (title: string) =>
    `version: 1\ntitle: ${title}\nsections: [{title: S, cards: [{id: a, title: A, kind: metric, viz: number, query: x | count}]}]`;
  const store = (key: string, body: object) =>
    ask(`POST /api/projects/${project.id}/dashboards?key=${key}`, as(member, body));
  await postgres('members').where({ person_id: member.id }).update({ role: 'admin' });
  const newService = { name: 'Server', kind: 'service', scopes: ['query'] };
  const { body: service } = await ask(`POST /api/projects/${project.id}/tokens`, as(member, newService));
  const { body: own } = await store('own', { source_yaml: yaml('Own') });
  expect((await store('team', { source_yaml: yaml('Team'), visibility: 'project' })).status).toBe(201);
  const shared = { key: project.secretKey, body: { source_yaml: yaml('Shared') } };
  expect((await ask('PUT /api/dashboard-sync/shared', shared)).status).toBe(201);
  expect(await postgres('dashboards').where({ id: own.dashboard.id }).pluck('owner_id')).toEqual([member.id]);

  expect(await ask('DELETE /api/me', as(member, {}))).toEqual({
    status: 400,
    body: { error: 'confirm is required: the text "delete my account"' },
  });
  expect(await deleteAccount(people.owner)).toEqual({
    status: 400,
    body: {
      error: 'you are the last owner of Team: make another member an owner, or delete the organization first',
    },
  });
  expect(await deleteAccount(member)).toEqual({ status: 200, body: { status: 'deleted', id: member.id } });

  expect((await ask('GET /api/orgs', as(member))).status).toBe(401);
  await isRefused(token.token);
  expect(await postgres('people').where({ id: member.id })).toEqual([]);
  expect(await postgres('access_tokens').where({ project_id: project.id }).pluck('id')).toEqual([service.id]);
  const kept = postgres('dashboards').where({ project_id: project.id }).orderBy('key');
  expect(await kept.pluck('key')).toEqual(['shared', 'team']);
  expect((await ask(`GET /api/orgs/${organization.id}/members`, as(people.owner))).body).toHaveLength(2);
});
