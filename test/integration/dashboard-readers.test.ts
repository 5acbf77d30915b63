// Visibility and reading of dashboards over HTTP, and sync of the examples in docs/dashboards.md.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../src/platform/paths.js';
import {
  type Answer,
  ann,
  bob,
  newProject,
  type Person,
  project,
  read,
  server,
  serviceToken,
  startDashboards,
  stranger,
  sync,
  titlesFor,
  yaml,
} from '../support/dashboards.js';
import { MOVED_DASHBOARD } from '../support/moved-dashboard.js';

startDashboards();

describe('dashboard visibility', () => {
  test('defaults to that of the credential and stays in later syncs', async () => {
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

  test('only the owner sees a personal dashboard', async () => {
    const { body } = await sync(ann.token, yaml('Mine'));
    expect(await titlesFor(ann)).toEqual(['Mine']);
    expect(await titlesFor(bob)).toEqual([]);
    expect((await read(ann, `/${body.dashboard.id}`)).status).toBe(200);
    expect((await read(bob, `/${body.dashboard.id}`)).status).toBe(404);
    // Others may use the same key for dashboards of their own.
    expect((await sync(bob.token, yaml('His'))).status).toBe(201);
    expect((await sync(project.secretKey, yaml('Ours'))).status).toBe(201);
    expect(await titlesFor(ann)).toEqual(['Mine', 'Ours']);
    expect(await titlesFor(bob)).toEqual(['His', 'Ours']);
  });

  test('a personal token of an owner updates the project dashboard when the owner has no personal one', async () => {
    await sync(project.secretKey, yaml('Ours'));
    expect((await sync(bob.token, yaml('Ours 2'))).body).toMatchObject({
      dashboard: { visibility: 'project', version: 2 },
    });
  });

  test('changes on request, without a new version', async () => {
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

  test('only its owner makes a project dashboard personal again, and a key is shared once', async () => {
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

describe('reading dashboards', () => {
  test('GET of the list returns dashboards in order, without content', async () => {
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
      synced_at: expect.any(String),
    });
    expect(body[1]).toMatchObject({ order: null, owner: null });
  });

  test('GET of a dashboard returns its configuration and its source', async () => {
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
  ])('answers a reader %s', async (_, reader, status) => {
    const { body } = await sync(project.secretKey, yaml('Sales'));
    expect((await read(reader())).status).toBe(status);
    expect((await read(reader(), `/${body.dashboard.id}`)).status).toBe(status);
  });

  test('POST of card queries fills in the choices of the viewer', async () => {
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

  test('answers 404 to a dashboard of another project', async () => {
    const other = await newProject();
    const { body } = await sync(other.secretKey, yaml('Theirs'));
    expect((await read(ann, `/${body.dashboard.id}`)).status).toBe(404);
    expect((await read(ann, '/not-a-uuid')).status).toBe(404);
  });
});

describe('documented dashboards', () => {
  const documents = readdirSync(join(packageRoot, 'examples/dashboards')).filter((name) => name.endsWith('.yaml'));

  test.each(documents)('examples/dashboards/%s syncs', async (name) => {
    const source = readFileSync(join(packageRoot, 'examples/dashboards', name), 'utf8');
    const answered = await sync(project.secretKey, source, { key: name.replace('.yaml', '') });
    expect(answered.body).toMatchObject({ changed: true });
  });

  test('a document in other spellings syncs and is read unchanged', async () => {
    const first = await sync(project.secretKey, MOVED_DASHBOARD, { key: 'moved' });
    expect(first.body).toMatchObject({ changed: true });
    expect((await sync(project.secretKey, MOVED_DASHBOARD, { key: 'moved' })).body).toMatchObject({ changed: false });
    const { body } = await read(ann, `/${first.body.dashboard.id}`);
    expect(body).toMatchObject({ source_yaml: MOVED_DASHBOARD, config: parse(MOVED_DASHBOARD) });
  });

  test('the examples of docs/dashboards.md sync', async () => {
    const page = readFileSync(join(packageRoot, 'docs/dashboards.md'), 'utf8');
    const examples = [...page.matchAll(/```yaml\n(version: 1\n[\s\S]*?)```/g)].map(([, source = '']) => source);
    expect(examples.length).toBeGreaterThan(0);
    for (const source of examples)
      expect((await sync(project.secretKey, source)).body).toMatchObject({ changed: true });
  });
});
