// Lists of people over HTTP: who may have them, and the record of each in the audit trail.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toProjectId } from '../../src/platform/ids.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { listAudit } from '../../src/privacy/audit-store.js';
import { createTeam, createTeamProject, send, type TestTeam } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { track } from '../support/track.js';

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let team: TestTeam;
let project: Awaited<ReturnType<typeof createTeamProject>>;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  processes = await startProcesses(databases.env, ['query', 'web', 'worker']);
  team = await createTeam(postgres);
  project = await createTeamProject(postgres, databases, team.organization.id);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const auditTrail = () => listAudit(postgres, { projectId: toProjectId(project.id), limit: 10, before: undefined });
const QUERY = 'funnel a -> b | where user_id != "ann" | people lost after 1';
const RECORDED = 'funnel a -> b | where user_id != "…" | people lost after 1';
const body = { q: QUERY, format: 'json' };

test('a secret key and a session may list people, and the audit trail records each query', async () => {
  const events = ['ann', 'bob'].map((user_id) => ({ event_type: 'a', user_id }));
  await track(processes.url, project.secretKey, { events });
  await eventually(async () => {
    const answer = await send(processes.url, 'POST /query', { key: project.secretKey, body });
    expect(answer).toMatchObject({ status: 200, body: { mode: 'people', total: 1, rows: [{ distinct_id: 'bob' }] } });
  });
  const pages = [0, 1].map(async (offset) => {
    const page = { q: 'a | people', format: 'json', limit: 1, offset };
    return (await send(processes.url, 'POST /query', { key: project.secretKey, body: page })).body;
  });
  const [first, second] = await Promise.all(pages);
  expect([first.total, second.total]).toEqual([2, 2]);
  expect([first, second].map(({ rows }) => rows[0].distinct_id).sort()).toEqual(['ann', 'bob']);
  const [byKey] = (await auditTrail()).filter((entry) => entry.details.query === RECORDED);
  const details = { query: RECORDED, limit: 100, offset: 0 };
  expect(byKey).toMatchObject({ action: 'people.listed', outcome: 'accepted', details, subject: null });
  expect(byKey?.actor).toEqual({ kind: 'secret', id: project.secretKey.slice(0, 8) });

  const path = `POST /api/projects/${project.id}/query`;
  const page = { ...body, limit: 1, offset: 5 };
  const { session, id } = team.people.member;
  expect(await send(processes.url, path, { session, body: page })).toMatchObject({ status: 200 });
  const [bySession] = await auditTrail();
  expect(bySession?.actor).toEqual({ kind: 'person', id });
  expect(bySession?.details).toEqual({ query: RECORDED, limit: 1, offset: 5 });
});

test('a token of any scope may not list people, but may count them', async () => {
  const path = `POST /api/projects/${project.id}/tokens`;
  const asked = { name: 'T', kind: 'service', scopes: ['query'] };
  const { session } = team.people.owner;
  const { token } = (await send(processes.url, path, { session, body: asked })).body;
  const before = (await auditTrail()).length;
  const refused = await send(processes.url, 'POST /query', { key: token, body });
  expect(refused).toMatchObject({ status: 403, body: { error: expect.stringContaining('secret key') } });
  expect(await auditTrail()).toHaveLength(before);
  const counted = { q: 'a | unique', format: 'json' };
  expect(await send(processes.url, 'POST /query', { key: token, body: counted })).toMatchObject({ status: 200 });
});
