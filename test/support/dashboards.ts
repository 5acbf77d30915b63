// Fixture of the tests of dashboards and definitions: their routers on real stores, a project and
// its people.
import express from 'express';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createCredentialStore } from '../../src/access/credentials.js';
import { digestKey, newKey, shownPrefix } from '../../src/access/keys.js';
import { upsertPerson } from '../../src/accounts/people.js';
import { createSession } from '../../src/accounts/sessions.js';
import { createOrganization, createProject, type NewProject } from '../../src/accounts/store.js';
import { CatalogReader } from '../../src/catalog/reader.js';
import { createDashboardsRouter } from '../../src/dashboards/routes.js';
import { DefinitionsReader } from '../../src/definitions/reader.js';
import { createDefinitionsRouter } from '../../src/definitions/routes.js';
import { errorResponder } from '../../src/platform/http/respond.js';
import { listen, type RunningServer } from '../../src/platform/http/server.js';
import { newUuidV7 } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { ThreadPool } from '../../src/platform/threads/thread-pool.js';
import { createTestDatabases, type TestDatabases } from './stack.js';

export let databases: TestDatabases;
export let postgres: Postgres;
export let server: RunningServer;
let threads: ThreadPool;
let redis: Redis;
export let organizationId: string;
export let adminKey: string;
export let project: NewProject;

export interface Person {
  readonly id: string;
  readonly cookie: string;
  /** A personal token of theirs. */
  readonly token: string;
}
export let ann: Person;
export let bob: Person;
export let stranger: Person;
export let serviceToken: string;

/** Starts the routes of dashboards, and creates a project and people for each test. */
export function startDashboards(): void {
  beforeAll(async () => {
    databases = await createTestDatabases();
    postgres = createPostgres(databases.config);
    const log = createLogger({ process: 'test', level: 'fatal' });
    const credentials = createCredentialStore(postgres, { cacheMs: 0, log });
    const app = express();
    const rateLimit = { take: async () => {} };
    const sessions = { rateLimit, publicUrl: new URL('http://127.0.0.1') };
    threads = new ThreadPool({ threadsMax: 2 });
    const settings = databases.config;
    const definitions = new DefinitionsReader(postgres, log);
    const guard = { postgres, credentials, sessions };
    const catalogs = new CatalogReader(postgres);
    app.use(createDashboardsRouter({ ...guard, rateLimit, threads, settings, definitions, catalogs }));
    redis = createRedis(databases.config);
    // Without a query process.
    const runQuery = async () => ({ kind: 'failed', error: 'no queries here' }) as const;
    app.use(createDefinitionsRouter({ ...guard, redis, rateLimit, threads, settings, catalogs, runQuery }));
    app.use(errorResponder(log));
    server = await listen(app, { host: '127.0.0.1', port: 0 });
    ({ id: organizationId, adminKey } = await createOrganization(postgres, { name: 'Test' }));
  });

  afterAll(async () => {
    await server?.close(1_000);
    await threads?.close();
    redis?.disconnect();
    await postgres?.destroy();
    await databases?.close();
  });

  beforeEach(async () => {
    project = await newProject();
    [ann, bob, stranger] = [await person('member'), await person('owner'), await person(undefined)];
    serviceToken = await token('service', ann.id, ['dashboards']);
  });
}

export const newProject = () =>
  createProject(postgres, { organizationId, name: 'Test', secretKeyBase: databases.config.SECRET_KEY_BASE });

export async function person(role: string | undefined): Promise<Person> {
  const subject = newUuidV7();
  const id = await upsertPerson(postgres, {
    provider: 'test',
    subject,
    email: undefined,
    emailVerified: false,
    name: 'P',
  });
  if (role !== undefined) await postgres('members').insert({ organization_id: organizationId, person_id: id, role });
  return {
    id,
    cookie: `service_session=${await createSession(postgres, id)}`,
    token: await token('personal', id, ['dashboards']),
  };
}

export async function token(kind: string, createdBy: string, scopes: string[]): Promise<string> {
  const text = newKey('token');
  await postgres('access_tokens').insert({
    id: newUuidV7(),
    project_id: project.id,
    name: kind,
    kind,
    scopes,
    digest: digestKey(text),
    prefix: shownPrefix(text),
    created_by: createdBy,
    expires_at: new Date(Date.now() + 3_600_000),
  });
  return text;
}

export const yaml = (title: string) =>
  `version: 1\ntitle: ${title}\nsections:\n- title: S\n  cards:\n  - {id: a, title: A, kind: metric, viz: number, query: signup | count}\n`;

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into field by field
  readonly body: any;
}

export async function sync(
  key: string | undefined,
  source: string,
  fields: { key?: string; visibility?: string } = {},
): Promise<Answer> {
  const { key: dashboardKey = 'sales', ...rest } = fields;
  const response = await fetch(`http://127.0.0.1:${server.port}/api/dashboard-sync/${dashboardKey}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }) },
    body: JSON.stringify({ source_yaml: source, ...rest }),
  });
  return { status: response.status, body: await response.json() };
}

export async function read(reader: Person | undefined, path = '', projectId: string = project.id): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/projects/${projectId}/dashboards${path}`, {
    headers: reader === undefined ? {} : { cookie: reader.cookie },
  });
  return { status: response.status, body: await response.json() };
}

export const titlesFor = async (reader: Person): Promise<string[]> =>
  (await read(reader)).body.map((item: { title: string }) => item.title);
