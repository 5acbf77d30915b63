// Audit trail: append-only, enforced by PostgreSQL.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import {
  hideSubject,
  listAudit,
  listSubjects,
  type NewAuditEntry,
  recordAudit,
} from '../../src/privacy/audit-store.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';
import { createTestProject } from '../support/track.js';

let databases: TestDatabases;
let postgres: Postgres;
let project: NewProject;
let entry: NewAuditEntry;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  project = await createTestProject(databases);
  const { organization_id: organizationId } = await postgres('projects').where({ id: project.id }).first();
  const actor = { kind: 'secret', id: 'sk_abcde' };
  entry = { projectId: project.id, organizationId, actor, action: 'export.requested', outcome: 'accepted' };
});

afterAll(async () => {
  await postgres?.destroy();
  await databases?.close();
});

test('listAudit returns pages of entries of the project, newest first', async () => {
  const { id: otherId } = await createTestProject(databases);
  for (const number of [1, 2, 3])
    for (const projectId of [project.id, otherId])
      await recordAudit(postgres, { ...entry, projectId, details: { number } });
  const [newest, second] = await listAudit(postgres, { projectId: project.id, limit: 2, before: undefined });
  expect(newest).toMatchObject({ actor: entry.actor, action: entry.action, subject: null, details: { number: 3 } });
  const rest = await listAudit(postgres, { projectId: project.id, limit: 2, before: second?.id });
  expect(rest.map(({ details }) => details.number)).toEqual([1]);
  const [foreign] = await listAudit(postgres, { projectId: otherId, limit: 1, before: undefined });
  expect(await listAudit(postgres, { projectId: project.id, limit: 2, before: foreign?.id })).toEqual([]);
});

test.each([
  ['changed', "UPDATE audit_entries SET outcome = 'completed'"],
  ['given another subject', "UPDATE audit_entries SET subject = 'other'"],
  ['deleted', 'DELETE FROM audit_entries'],
  ['emptied', 'TRUNCATE audit_entries'],
])('PostgreSQL refuses that an audit entry is %s', async (_, statement) => {
  await recordAudit(postgres, { ...entry, subject: 'person' });
  await expect(postgres.raw(statement)).rejects.toThrow('can only be added to');
});

test('hideSubject leaves the same id in another project', async () => {
  const other = await createTestProject(databases);
  for (const { id: projectId } of [project, other])
    await recordAudit(postgres, { ...entry, projectId, subject: 'both' });
  await hideSubject(postgres, { projectId: project.id, userId: 'both', hash: 'h1' });
  expect([await listSubjects(postgres, other.id), await listSubjects(postgres, project.id)]).toEqual([
    ['both'],
    expect.not.arrayContaining(['both']),
  ]);
});

test('hideSubject replaces the subject of an entry by a hash, which cannot change again', async () => {
  await recordAudit(postgres, { ...entry, subject: 'hidden' });
  await hideSubject(postgres, { projectId: project.id, userId: 'hidden', hash: 'h1' });
  const [hidden] = await listAudit(postgres, { projectId: project.id, limit: 1, before: undefined });
  expect(hidden).toMatchObject({ subject: null, subject_hash: 'h1' });
  await expect(postgres.raw("UPDATE audit_entries SET subject_hash = 'h2'")).rejects.toThrow('can only be added to');
});
