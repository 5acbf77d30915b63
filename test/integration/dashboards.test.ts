// Dashboards over HTTP on a real PostgreSQL: who may sync and see what, when a version is stored,
// and concurrent syncs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import express from 'express';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCredentialStore } from '../../src/access/credentials.js';
import { digestKey, newKey, shownPrefix } from '../../src/access/keys.js';
import { upsertPerson } from '../../src/accounts/people.js';
import { createSession } from '../../src/accounts/sessions.js';
import { createOrganization, createProject, type NewProject } from '../../src/accounts/store.js';
import { createDashboardsRouter } from '../../src/dashboards/routes.js';
import { errorResponder } from '../../src/platform/http/respond.js';
import { listen, type RunningServer } from '../../src/platform/http/server.js';
import { newUuidV7 } from '../../src/platform/ids.js';
import { createLogger } from '../../src/platform/log.js';
import { packageRoot } from '../../src/platform/paths.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { ThreadPool } from '../../src/platform/threads/thread-pool.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;
let server: RunningServer;
let threads: ThreadPool;
let organizationId: string;
let adminKey: string;
let project: NewProject;

interface Person {
  readonly id: string;
  readonly cookie: string;
  /** A personal token of theirs. */
  readonly token: string;
}
let ann: Person;
let bob: Person;
let stranger: Person;
let serviceToken: string;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  const log = createLogger({ process: 'test', level: 'fatal' });
  const credentials = createCredentialStore(postgres, { cacheMs: 0, log });
  const app = express();
  const rateLimit = { take: async () => {} };
  const sessions = { rateLimit, publicUrl: new URL('http://127.0.0.1') };
  threads = new ThreadPool({ threadsMax: 2 });
  const quotas = databases.config;
  app.use(createDashboardsRouter({ postgres, credentials, sessions, rateLimit, threads, quotas }));
  app.use(errorResponder(log));
  server = await listen(app, { host: '127.0.0.1', port: 0 });
  ({ id: organizationId, adminKey } = await createOrganization(postgres, { name: 'Test' }));
});

afterAll(async () => {
  await server?.close(1_000);
  await threads?.close();
  await postgres?.destroy();
  await databases?.close();
});

const newProject = () =>
  createProject(postgres, { organizationId, name: 'Test', secretKeyBase: databases.config.SECRET_KEY_BASE });

beforeEach(async () => {
  project = await newProject();
  [ann, bob, stranger] = [await person('member'), await person('owner'), await person(undefined)];
  serviceToken = await token('service', ann.id, ['dashboards']);
});

async function person(role: string | undefined): Promise<Person> {
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

async function token(kind: string, createdBy: string, scopes: string[]): Promise<string> {
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

const yaml = (title: string) =>
  `version: 1\ntitle: ${title}\nsections:\n- title: S\n  cards:\n  - {id: a, title: A, kind: metric, viz: number, query: signup | count}\n`;

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is looked into field by field
  readonly body: any;
}

async function sync(
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

async function read(reader: Person | undefined, path = '', projectId: string = project.id): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/projects/${projectId}/dashboards${path}`, {
    headers: reader === undefined ? {} : { cookie: reader.cookie },
  });
  return { status: response.status, body: await response.json() };
}

const titlesFor = async (reader: Person): Promise<string[]> =>
  (await read(reader)).body.map((item: { title: string }) => item.title);

describe('credentials', () => {
  test.each<[string, () => Promise<string | undefined>, number]>([
    ['no key', async () => undefined, 401],
    ['an unknown key', async () => newKey('secret'), 401],
    ['a public key', async () => project.publicKey, 403],
    ['an admin key', async () => adminKey, 403],
    ['a token without the scope', () => token('service', ann.id, ['query']), 403],
    ['a personal token of someone who left', async () => stranger.token, 401],
    ['a secret key', async () => project.secretKey, 201],
    ['a service token with the scope', async () => serviceToken, 201],
    ['a personal token with the scope', async () => ann.token, 201],
  ])('%s', async (_, key, status) => {
    const answered = await sync(await key(), yaml('Sales'));
    expect(answered.status).toBe(status);
    if (status !== 201) expect(answered.body).toEqual({ error: expect.any(String) });
  });
});

describe('a sync', () => {
  test('stores a version when the content changes, and only then', async () => {
    const first = await sync(project.secretKey, yaml('Sales'));
    expect(first).toEqual({
      status: 201,
      body: {
        dashboard: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          key: 'sales',
          title: 'Sales',
          visibility: 'project',
          checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
          version: 1,
        },
        changed: true,
        metadata_changed: false,
      },
    });
    const again = await sync(project.secretKey, `# a comment\n${yaml('"Sales"')}`);
    expect(again).toEqual({ status: 200, body: { ...first.body, changed: false } });

    const changed = await sync(project.secretKey, yaml('Revenue'));
    expect(changed.body).toMatchObject({
      dashboard: { version: 2, title: 'Revenue' },
      changed: true,
      metadata_changed: false,
    });
    const back = await sync(project.secretKey, yaml('Sales'));
    expect(back.body).toMatchObject({
      dashboard: { version: 3, checksum: first.body.dashboard.checksum },
      changed: true,
    });
    expect(back.body.dashboard.id).toBe(first.body.dashboard.id);
    const versions = await postgres('dashboard_versions')
      .where({ dashboard_id: first.body.dashboard.id })
      .orderBy('version')
      .select('version', 'source_yaml');
    expect(versions.map((row) => [row.version, row.source_yaml])).toEqual([
      [1, yaml('Sales')],
      [2, yaml('Revenue')],
      [3, yaml('Sales')],
    ]);
  });

  test('keeps the newest 100 versions', async () => {
    const { body } = await sync(project.secretKey, yaml('T1'));
    await postgres('dashboards').where({ id: body.dashboard.id }).update({ version: 100 });
    await postgres('dashboard_versions').where({ dashboard_id: body.dashboard.id }).update({ version: 2 });
    await sync(project.secretKey, yaml('T101'));
    const kept = async () =>
      await postgres('dashboard_versions')
        .where({ dashboard_id: body.dashboard.id })
        .orderBy('version')
        .pluck('version');
    expect(await kept()).toEqual([2, 101]);
    await sync(project.secretKey, yaml('T102'));
    expect(await kept()).toEqual([101, 102]);
  });

  test('of many at once loses none, and numbers each once', async () => {
    const titles = Array.from({ length: 12 }, (_, index) => `T${index}`);
    const answers = await Promise.all(titles.map((title) => sync(project.secretKey, yaml(title))));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
    expect(answers.map(({ body }) => body.dashboard.version).sort((a, b) => a - b)).toEqual(
      titles.map((_, index) => index + 1),
    );
    expect(new Set(answers.map(({ body }) => body.dashboard.id)).size).toBe(1);
    expect(
      await postgres('dashboard_versions').where({ dashboard_id: answers[0]?.body.dashboard.id }).pluck('version'),
    ).toHaveLength(12);
  });

  test('of the same content at once stores it once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => sync(project.secretKey, yaml('Sales'))));
    expect(answers.filter(({ body }) => body.changed)).toHaveLength(1);
    expect(answers.every(({ body }) => body.dashboard.version === 1)).toBe(true);
  });

  test('reaches the project of its credential and no other', async () => {
    await sync(project.secretKey, yaml('Sales'));
    const other = await newProject();
    expect((await sync(other.secretKey, yaml('Theirs'))).status).toBe(201);
    expect((await read(bob)).body).toMatchObject([{ title: 'Sales' }]);
    expect((await read(bob, '', other.id)).body).toMatchObject([{ title: 'Theirs' }]);
  });

  test.each<[string, string, { key?: string; visibility?: string }, string]>([
    ['a document with mistakes', 'version: 1\ntilte: T\nsections: []\n', {}, 'problems'],
    ['an unknown visibility', yaml('T'), { visibility: 'public' }, 'visibility is one of personal, project'],
    ['a personal dashboard of a key', yaml('T'), { visibility: 'personal' }, 'belongs to no person'],
    ['a key in upper case', yaml('T'), { key: 'Sales' }, 'kebab-case'],
    ['a key that is too long', yaml('T'), { key: 'a'.repeat(64) }, 'at most 63'],
  ])('of %s is a bad request', async (_, source, fields, message) => {
    const answered = await sync(project.secretKey, source, fields);
    expect(answered).toMatchObject({ status: 400, body: { error: expect.stringContaining(message) } });
    expect((await read(bob)).body).toEqual([]);
  });

  test('answers every mistake with its place', async () => {
    const answered = await sync(
      project.secretKey,
      yaml('T').replace('title: S', 'titel: S').replace('| count', '| cuont'),
    );
    expect(answered.body.details).toEqual([
      { message: '"title" is missing', path: 'sections[0].title', line: 4, column: 3, hint: 'it is text' },
      { message: 'unknown key "titel"', path: 'sections[0].titel', line: 4, column: 3, hint: 'nearest is "title"' },
      {
        message: 'unknown stage "cuont"',
        path: 'sections[0].cards[0].query',
        line: 6,
        column: 66,
        hint: 'nearest is "count"',
      },
    ]);
  });

  test('is too large beyond 64 KiB', async () => {
    expect((await sync(project.secretKey, `${yaml('T')}# ${'x'.repeat(64 * 1024)}`)).status).toBe(413);
    expect((await sync(project.secretKey, 'x'.repeat(10_000_000))).status).toBe(413);
  });

  test.each([
    ['no JSON', '{"source_yaml": '],
    ['no object', '[]'],
    ['no source', '{}'],
    ['a source that is no text', '{"source_yaml": 5}'],
  ])('of %s is a bad request', async (_, body) => {
    const url = `http://127.0.0.1:${server.port}/api/dashboard-sync/sales`;
    const response = await fetch(url, { method: 'PUT', headers: { 'x-api-key': project.secretKey }, body });
    expect(response.status).toBe(400);
  });
});

describe('visibility', () => {
  test('comes from the credential, and is kept', async () => {
    expect((await sync(ann.token, yaml('Mine'))).body.dashboard.visibility).toBe('personal');
    expect((await sync(serviceToken, yaml('Ours'))).body.dashboard.visibility).toBe('project');
    expect((await sync(ann.token, yaml('Mine'), { visibility: 'personal' })).body).toMatchObject({
      changed: false,
      metadata_changed: false,
    });
    expect((await sync(ann.token, yaml('Mine 2'))).body).toMatchObject({
      dashboard: { visibility: 'personal', version: 2 },
      changed: true,
    });
  });

  test("a personal dashboard is its owner's alone", async () => {
    const { body } = await sync(ann.token, yaml('Mine'));
    expect(await titlesFor(ann)).toEqual(['Mine']);
    expect(await titlesFor(bob)).toEqual([]);
    expect((await read(ann, `/${body.dashboard.id}`)).status).toBe(200);
    expect((await read(bob, `/${body.dashboard.id}`)).status).toBe(404);
    // Others use the same key without meeting it.
    expect((await sync(bob.token, yaml('His'))).status).toBe(201);
    expect((await sync(project.secretKey, yaml('Ours'))).status).toBe(201);
    expect(await titlesFor(ann)).toEqual(['Mine', 'Ours']);
    expect(await titlesFor(bob)).toEqual(['His', 'Ours']);
  });

  test('a personal token of an owner updates the dashboard of the project where the person has none', async () => {
    await sync(project.secretKey, yaml('Ours'));
    expect((await sync(bob.token, yaml('Ours 2'))).body).toMatchObject({
      dashboard: { visibility: 'project', version: 2 },
    });
  });

  test('moves when it is said, without a version', async () => {
    const { body } = await sync(bob.token, yaml('Mine'));
    const shared = await sync(bob.token, yaml('Mine'), { visibility: 'project' });
    expect(shared.body).toMatchObject({
      dashboard: { id: body.dashboard.id, visibility: 'project', version: 1 },
      changed: false,
      metadata_changed: true,
    });
    expect(await titlesFor(ann)).toEqual(['Mine']);
    const back = await sync(bob.token, yaml('Mine 2'), { visibility: 'personal' });
    expect(back.body).toMatchObject({
      dashboard: { visibility: 'personal', version: 2 },
      changed: true,
      metadata_changed: false,
    });
    expect(await titlesFor(ann)).toEqual([]);
  });

  test('only the owner takes a dashboard back, and a key is shared once', async () => {
    await sync(project.secretKey, yaml('Ours'));
    expect((await sync(bob.token, yaml('Ours'), { visibility: 'personal' })).status).toBe(403);
    expect((await sync(project.secretKey, yaml('Ours'), { visibility: 'personal' })).status).toBe(400);
    await sync(bob.token, yaml('Mine'), { key: 'mine' });
    await sync(project.secretKey, yaml('Ours'), { key: 'mine' });
    expect(await sync(bob.token, yaml('Mine'), { key: 'mine', visibility: 'project' })).toMatchObject({
      status: 400,
      body: { error: 'the project has another dashboard with the key "mine"' },
    });
  });
});

describe('reading', () => {
  test('a list is in order, and has no content', async () => {
    await sync(project.secretKey, yaml('B'), { key: 'b' });
    await sync(project.secretKey, yaml('A'), { key: 'a' });
    await sync(ann.token, `${yaml('Z')}order: -1\n`, { key: 'z' });
    const { body } = await read(ann);
    expect(body.map((item: { title: string }) => item.title)).toEqual(['Z', 'A', 'B']);
    expect(body[0]).toEqual({
      id: expect.any(String),
      key: 'z',
      title: 'Z',
      visibility: 'personal',
      checksum: expect.any(String),
      version: 1,
      order: -1,
      updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      owner: ann.id,
    });
    expect(body[1]).toMatchObject({ order: null, owner: null });
  });

  test('one dashboard has its configuration and its source', async () => {
    const source = `${yaml('Sales')}variables:\n  zone: {type: input}\n  area: {type: input}\n`;
    const synced = await sync(project.secretKey, source);
    const { body } = await read(ann, `/${synced.body.dashboard.id}`);
    expect(body).toMatchObject({
      ...synced.body.dashboard,
      source_yaml: source,
      config: { version: 1, title: 'Sales', sections: [{ cards: [{ id: 'a' }] }] },
    });
    expect(Object.keys(body.config.variables)).toEqual(['zone', 'area']);
  });

  test.each<[string, () => Person | undefined, number]>([
    ['without a session', () => undefined, 401],
    ['for a member', () => ann, 200],
    ['for another person', () => stranger, 404],
  ])('%s', async (_, reader, status) => {
    const { body } = await sync(project.secretKey, yaml('Sales'));
    expect((await read(reader())).status).toBe(status);
    expect((await read(reader(), `/${body.dashboard.id}`)).status).toBe(status);
  });

  test('the queries of a card have what the viewer chose', async () => {
    const source = `${yaml('Sales').replace('signup | count', "'signup {{range.stage}} {{plan.fragment}} | count'")}variables:
  plan: {type: select, query: users | count by plan, value_column: plan, fragment_template: '| where user.plan = {{value}}'}
timezone: Europe/Berlin\n`;
    const synced = await sync(project.secretKey, source);
    const ask = async (body: object, card = 'a', asker = ann): Promise<Answer> => {
      const path = `/${synced.body.dashboard.id}/cards/${card}/queries`;
      const response = await fetch(`http://127.0.0.1:${server.port}/api/projects/${project.id}/dashboards${path}`, {
        method: 'POST',
        headers: { cookie: asker.cookie, 'content-type': 'application/json', origin: 'http://127.0.0.1' },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    };
    const filled = (q: string) => ({ status: 200, body: [{ name: 'A', q, timezone: 'Europe/Berlin' }] });
    expect(await ask({})).toEqual(filled('signup | last 7d  | count'));
    expect(await ask({ variables: { range: 'today', plan: 'pro" | list' } })).toEqual(
      filled('signup | today | where user.plan = "pro\\" | list" | count'),
    );
    for (const variables of [{ range: 'list' }, { region: 'eu' }, { range: 7 }]) {
      expect(await ask({ variables })).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/range|region/) },
      });
    }
    expect((await ask({}, 'none')).status).toBe(404);
    expect((await ask({}, 'a', stranger)).status).toBe(404);
  });

  test('a dashboard of another project is not there', async () => {
    const other = await newProject();
    const { body } = await sync(other.secretKey, yaml('Theirs'));
    expect((await read(ann, `/${body.dashboard.id}`)).status).toBe(404);
    expect((await read(ann, '/not-a-uuid')).status).toBe(404);
  });
});

describe('what the documentation shows', () => {
  const documents = readdirSync(join(packageRoot, 'examples/dashboards')).filter((name) => name.endsWith('.yaml'));

  test.each(documents)('examples/dashboards/%s syncs', async (name) => {
    const source = readFileSync(join(packageRoot, 'examples/dashboards', name), 'utf8');
    const answered = await sync(project.secretKey, source, { key: name.replace('.yaml', '') });
    expect(answered.body).toMatchObject({ changed: true });
  });

  test('the examples of docs/dashboards.md sync', async () => {
    const page = readFileSync(join(packageRoot, 'docs/dashboards.md'), 'utf8');
    const examples = [...page.matchAll(/```yaml\n(version: 1\n[\s\S]*?)```/g)].map(([, source = '']) => source);
    expect(examples.length).toBeGreaterThan(0);
    for (const source of examples)
      expect((await sync(project.secretKey, source)).body).toMatchObject({ changed: true });
  });
});
