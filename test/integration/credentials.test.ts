// Cached credentials while PostgreSQL is unavailable: events are still accepted, and revoked keys
// stay revoked.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCredentialStore } from '../../src/access/credentials.js';
import { createToken } from '../../src/accounts/tokens.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { createTeam, createTeamProject } from '../support/accounts.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const MINUTE_MS = 60_000;

let databases: TestDatabases;

beforeAll(async () => {
  databases = await createTestDatabases();
});

afterAll(async () => {
  await databases?.close();
});

test('without PostgreSQL a cached key works for 15 minutes, an unknown key is refused, and a token expires in time', async () => {
  const postgres = createPostgres(databases.config);
  const { organization, people } = await createTeam(postgres);
  const project = await createTeamProject(postgres, databases, organization.id);
  const { token } = await createToken(postgres, project.id, {
    personId: people.owner.id,
    request: { name: 'T', kind: 'personal', scopes: ['query'], expires_in: '5m' },
    quotas: databases.config,
  });

  const start = Date.now();
  let now = start;
  const log = createLogger({ process: 'test', level: 'silent' });
  const store = createCredentialStore(postgres, { cacheMs: 1000, log, now: () => now });
  for (const key of [project.publicKey, token]) expect(await store.find(key)).toMatchObject({ projectId: project.id });
  expect(await store.find('pk_unknown')).toBeUndefined();

  await postgres.destroy();
  now = start + 4 * MINUTE_MS;
  for (const key of [project.publicKey, token]) expect(await store.find(key)).toMatchObject({ projectId: project.id });
  await expect(store.find(project.secretKey)).rejects.toThrow();
  now = start + 6 * MINUTE_MS;
  expect(await store.find(token)).toBeUndefined();
  expect(await store.find(project.publicKey)).toMatchObject({ projectId: project.id });
  now = start + 16 * MINUTE_MS;
  await expect(store.find(project.publicKey)).rejects.toThrow();
});
