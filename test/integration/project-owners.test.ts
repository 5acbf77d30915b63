// Owners of projects as the fair order of queries reads them from PostgreSQL.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOrganization, createProject } from '../../src/accounts/store.js';
import { newUuidV7, type OrganizationId, type ProjectId, toProjectId } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createProjectOwners } from '../../src/query-api/project-owners.js';
import { signIn } from '../support/accounts.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const log = createLogger({ process: 'test', level: 'fatal' });
let databases: TestDatabases;
let postgres: Postgres;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
}, 120_000);

afterAll(async () => {
  await postgres?.destroy();
  await databases?.close();
});

interface Added {
  readonly organizationId: OrganizationId;
  readonly projectId: ProjectId;
}

async function addProject(ownerId?: string): Promise<Added> {
  const { id: organizationId } = await createOrganization(postgres, { name: 'Shop', ...(ownerId && { ownerId }) });
  const { SECRET_KEY_BASE: secretKeyBase } = databases.config;
  const { id } = await createProject(postgres, { organizationId, name: 'Shop', secretKeyBase });
  return { organizationId, projectId: id };
}

test('the owner is the person who created the organization, or the organization without one', async () => {
  const person = await signIn(postgres);
  const [first, second, orphan] = [await addProject(person.id), await addProject(person.id), await addProject()];
  const ownerOf = createProjectOwners(postgres, log);
  expect(await Promise.all([first, second, orphan].map(({ projectId }) => ownerOf(projectId)))).toEqual([
    person.id,
    person.id,
    orphan.organizationId,
  ]);
});

test('a project that is not found, or whose owner cannot be read, is its own owner', async () => {
  const { projectId, organizationId } = await addProject();
  const unknown = toProjectId(newUuidV7());
  expect(await createProjectOwners(postgres, log)(unknown)).toBe(unknown);
  const unreachable = createPostgres({ ...databases.config, DATABASE_URL: 'postgres://127.0.0.1:9/none' });
  expect(await createProjectOwners(unreachable, log)(projectId)).toBe(projectId);
  await unreachable.destroy();
  expect(await createProjectOwners(postgres, log)(projectId)).toBe(organizationId);
});
