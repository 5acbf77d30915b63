// Session routes for dashboards that are edited in the console: create, change, add a card or an
// alert, versions, fill all queries.
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  type Answer,
  ann,
  bob,
  newProject,
  type Person,
  project,
  read,
  server,
  startDashboards,
  stranger,
  sync,
  yaml,
} from '../support/dashboards.js';

startDashboards();

async function send(
  writer: Person,
  [method, path]: readonly [method: string, path: string],
  body: unknown,
  projectId: string = project.id,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/projects/${projectId}/dashboards${path}`, {
    method,
    headers: { cookie: writer.cookie, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const create = (writer: Person, source: string, more = {}, key = 'sales') =>
  send(writer, ['POST', `?key=${key}`], { source_yaml: source, ...more });

const change = (writer: Person, id: string, source: string, parameters: string) =>
  send(writer, ['PUT', `/${id}?${parameters}`], { source_yaml: source });

const ALERT = { id: 'low', query: 'signup | count', when: 'value < 5', every: '1d', to: ['https://x.invalid/'] };
const REPORT = { id: 'weekly', at: 'monday 08:00', to: ['mailto:ann@example.com'] };

describe('dashboard routes of the console', () => {
  test('POST creates a dashboard, personal by default, and refuses a key that is in use', async () => {
    const mine = await create(ann, yaml('Mine'));
    expect(mine).toMatchObject({ status: 201, body: { dashboard: { visibility: 'personal', version: 1 } } });
    expect((await create(ann, yaml('Other'))).body.error).toContain('another dashboard with the key "sales"');
    expect((await create(ann, yaml('Ours'), { visibility: 'project' })).status).toBe(403);
    expect((await create(bob, yaml('Ours'), { visibility: 'project' })).status).toBe(201);
    expect((await create(bob, yaml('Ours'), { visibility: 'project' })).status).toBe(400);
    expect((await read(ann, `/${mine.body.dashboard.id}`)).body).toMatchObject({ synced_at: null });
  });

  test('answers 200 or 404 while a dashboard is deleted', async () => {
    const statuses = new Set<number>();
    for (let round = 0; round < 20; round += 1) {
      const { id } = (await create(bob, yaml('Ours'), { visibility: 'project' })).body.dashboard;
      const calls = Array.from({ length: 8 }, async () => {
        statuses.add((await read(bob, `/${id}`)).status);
        statuses.add((await send(bob, ['POST', `/${id}/queries`], {})).status);
        statuses.add((await read(bob, `/${id}/versions/1`)).status);
      });
      expect((await send(bob, ['DELETE', `/${id}`], undefined)).status).toBe(200);
      await Promise.all(calls);
    }
    expect([...statuses].filter((status) => status !== 200 && status !== 404)).toEqual([]);
  });

  test('PUT accepts changes of the newest version only, and problems have their line', async () => {
    const { id } = (await create(bob, yaml('Ours'), { visibility: 'project' })).body.dashboard;
    const tried = await change(bob, id, yaml('Two'), 'base_version=1&dry_run=true');
    expect(tried.body).toMatchObject({ changed: true, dashboard: { version: 1, title: 'Ours' } });
    expect((await read(bob, `/${id}/versions`)).body).toHaveLength(1);

    const wrong = await change(bob, id, yaml('Two').replace('signup', 'signup | cont'), 'base_version=1');
    expect(wrong).toMatchObject({ status: 400, body: { details: [{ line: 6 }, ...wrong.body.details.slice(1)] } });

    expect((await change(bob, id, yaml('Two'), 'base_version=1')).body.dashboard.version).toBe(2);
    expect((await change(bob, id, yaml('Three'), 'base_version=1')).body.error).toContain('has version 2 by now');
    expect((await change(ann, id, yaml('Three'), 'base_version=2')).status).toBe(403);
    expect((await change(bob, id, yaml('Three'), '')).status).toBe(400);
    expect((await change(bob, id, yaml('Three'), 'base_version=0')).status).toBe(400);
  });

  test('PUT of another comment is a new version, and PUT of the same text is none', async () => {
    const { id } = (await create(bob, yaml('One'))).body.dashboard;
    const commented = `# Of the growth team.\n${yaml('One')}`;
    const unchanged = { changed: false, metadata_changed: false, dashboard: { version: 1 } };
    expect((await change(bob, id, yaml('One'), 'base_version=1')).body).toMatchObject(unchanged);
    const tried = await change(bob, id, commented, 'base_version=1&dry_run=true');
    expect(tried.body).toMatchObject({ changed: true, metadata_changed: false, dashboard: { version: 1 } });
    const stored = await change(bob, id, commented, 'base_version=1');
    expect(stored.body).toMatchObject({ changed: true, dashboard: { version: 2 } });
    expect((await read(bob, `/${id}`)).body).toMatchObject({ version: 2, source_yaml: commented });
    // For a sync, comments do not count.
    expect((await sync(bob.token, yaml('One'))).body).toMatchObject({ changed: false, dashboard: { version: 2 } });
  });

  test('PUT moves a dashboard only to a visibility where its key is free', async () => {
    const ours = (await create(bob, yaml('Ours'), { visibility: 'project' })).body.dashboard;
    const mine = (await create(bob, yaml('Mine'))).body.dashboard;
    const move = (id: string, title: string, visibility: string) =>
      send(bob, ['PUT', `/${id}?base_version=1`], { source_yaml: yaml(title), visibility });
    const shared = await move(mine.id, 'Mine', 'project');
    expect([shared.status, shared.body.error]).toEqual([400, 'the project has another dashboard with the key "sales"']);
    const taken = await move(ours.id, 'Ours', 'personal');
    expect([taken.status, taken.body.error]).toEqual([400, 'there is another personal dashboard with the key "sales"']);
    await send(bob, ['DELETE', `/${mine.id}`], {});
    expect((await move(ours.id, 'Ours', 'personal')).body).toMatchObject({ metadata_changed: true });
  });

  test('GET returns each version with its text, and PUT of that text restores it', async () => {
    const { id } = (await create(bob, yaml('One'))).body.dashboard;
    await change(bob, id, yaml('Two'), 'base_version=1');
    const versions = await read(bob, `/${id}/versions`);
    expect(versions.body.map((each: { version: number }) => each.version)).toEqual([2, 1]);
    const first = await read(bob, `/${id}/versions/1`);
    expect(first.body).toMatchObject({ version: 1, source_yaml: yaml('One'), config: { title: 'One' } });
    const restored = await change(bob, id, first.body.source_yaml, 'base_version=2');
    expect(restored.body.dashboard).toMatchObject({ version: 3, title: 'One' });
    for (const version of ['9', '0', 'x', '1e3'])
      expect((await read(bob, `/${id}/versions/${version}`)).status).toBe(404);
  });

  test('PUT refuses a dashboard that a repository syncs, and POST accepts a copy', async () => {
    const { id } = (await sync(project.secretKey, yaml('Ours'))).body.dashboard;
    expect((await read(bob, `/${id}`)).body.synced_at).toEqual(expect.any(String));
    expect((await change(bob, id, yaml('Mine'), 'base_version=1')).body.error).toContain('synced from a repository');
    expect((await create(bob, yaml('Mine'))).body.dashboard.visibility).toBe('personal');
  });

  test('PUT refuses a dashboard after its first sync, even with the same content', async () => {
    const { id } = (await create(bob, yaml('Ours'), { visibility: 'project' })).body.dashboard;
    expect((await sync(project.secretKey, yaml('Ours'))).body).toMatchObject({
      changed: false,
      metadata_changed: false,
    });
    expect((await change(bob, id, yaml('Mine'), 'base_version=1')).status).toBe(403);
  });

  test('other people cannot read or change a personal dashboard', async () => {
    const { id } = (await create(ann, yaml('Mine'))).body.dashboard;
    const elsewhere = await newProject();
    const requests = [
      ['PUT', `/${id}?base_version=1`, { source_yaml: yaml('His') }],
      ['POST', `/${id}/cards`, { title: 'A', kind: 'metric', viz: 'number', query: 'a' }],
      ['POST', `/${id}/alerts`, ALERT],
      ['POST', `/${id}/reports`, REPORT],
      ['POST', `/${id}/queries`, {}],
      ['POST', `/${id}/draft`, { source_yaml: yaml('His') }],
      ['GET', `/${id}/versions`, undefined],
      ['GET', `/${id}/versions/1`, undefined],
    ] as const;
    for (const [method, path, body] of requests) {
      expect((await send(bob, [method, path], body)).status, `${method} ${path}`).toBe(404);
      expect((await send(stranger, [method, path], body)).status, `${method} ${path}`).toBe(404);
      expect((await send(ann, [method, path], body, elsewhere.id)).status, `${method} ${path}`).toBe(404);
    }
  });
});

describe('POST of a draft', () => {
  const SOURCE =
    'version: 1\ntitle: T # kept\nsections:\n  - title: S\n    cards:\n      - {id: a, title: A, kind: metric, viz: number, query: signup}\n';
  const card = { id: 'a', title: 'B', kind: 'metric', viz: 'number', query: 'signup | cont' };

  test('changes a card in the text, names the problems of the result, and stores nothing', async () => {
    const { id } = (await create(ann, yaml('Mine'))).body.dashboard;
    const drafted = await send(ann, ['POST', `/${id}/draft`], { source_yaml: SOURCE, card });
    expect(drafted.status).toBe(200);
    expect(drafted.body.source_yaml).toBe(SOURCE.replace('title: A', 'title: B').replace('signup', '"signup | cont"'));
    expect(drafted.body.problems).toMatchObject([{ line: 6 }, ...drafted.body.problems.slice(1)]);
    expect(drafted.body.variables).toEqual([]);
    expect(drafted.body.sections).toEqual([{ title: 'S', cards: [{ ...card, line: 6, has_queries: false }] }]);
    expect((await read(ann, `/${id}`)).body.source_yaml).toBe(yaml('Mine'));
    expect((await read(ann, `/${id}/versions`)).body).toHaveLength(1);
  });

  test('changes sections, variables and the places of cards', async () => {
    const { id } = (await create(ann, yaml('Mine'))).body.dashboard;
    const draft = async (edit: object) => {
      const { status, body } = await send(ann, ['POST', `/${id}/draft`], { source_yaml: SOURCE, ...edit });
      expect(status, JSON.stringify(body)).toBe(200);
      return body;
    };
    const variable = { type: 'date_range', default: 'last 7d' };
    const { variables, problems } = await draft({ variable: { new_name: 'range', variable } });
    expect({ variables, problems }).toEqual({ variables: [{ name: 'range', line: 4, variable }], problems: [] });
    const several = { section: { title: 'More' }, move: { card: 'a', section: 1, index: 0 } };
    expect((await draft(several)).sections).toMatchObject([
      { title: 'S', cards: [] },
      { title: 'More', cards: [{ id: 'a' }] },
    ]);
    for (const edit of [
      { section: { index: 0, title: null } },
      { move: { card: 'a', section: 7, index: 0 } },
      { variable: { name: 'range', variable: null } },
      { variable: { new_name: 'the range', variable } },
    ]) {
      const refused = await send(ann, ['POST', `/${id}/draft`], { source_yaml: SOURCE, ...edit });
      expect(refused.status, JSON.stringify(edit)).toBe(400);
    }
  });

  test('of a text that cannot be read names its problems, and has no sections', async () => {
    const { id } = (await create(ann, yaml('Mine'))).body.dashboard;
    const broken = await send(ann, ['POST', `/${id}/draft`], { source_yaml: 'title: [' });
    expect(broken.body).toMatchObject({ source_yaml: 'title: [', sections: [] });
    expect(broken.body.problems[0].message).toContain('this is not YAML');
    for (const body of [
      { source_yaml: SOURCE, remove: 'none' },
      { source_yaml: 'title: [', card },
      { source_yaml: SOURCE, card: { ...card, viz: 'lines' } },
      { source_yaml: 'x'.repeat(70_000) },
      {},
    ]) {
      expect((await send(ann, ['POST', `/${id}/draft`], body)).status, JSON.stringify(body).slice(0, 80)).toBe(400);
    }
  });
});

describe('POST of a card', () => {
  const CARD = {
    title: 'Pages',
    kind: 'chart',
    viz: 'line',
    query: 'page_view | where _path = "it\'s: #1" | count by day',
  };

  test.each([
    [
      'a list with dashes',
      'version: 1\ntitle: T # kept\nsections:\n  - title: S\n    cards:\n\n      - id: pages\n        title: A\n        kind: metric\n        viz: number\n        query: a # why\n# the end\n',
    ],
    [
      'a text without a last line break',
      'version: 1\ntitle: T\nsections:\n- title: S\n  cards:\n  - id: pages\n    title: A\n    kind: metric\n    viz: number\n    query: a',
    ],
    [
      'a block of text at the end',
      'version: 1\ntitle: T\nsections:\n- title: S\n  cards:\n  - id: pages\n    title: A\n    kind: metric\n    viz: number\n    query: |\n      a\n      | count\n',
    ],
  ])('appends it to %s and keeps the rest of the text', async (_, source) => {
    const { id } = (await create(ann, source)).body.dashboard;
    const added = await send(ann, ['POST', `/${id}/cards`], CARD);
    expect(added).toMatchObject({ status: 201, body: { dashboard: { version: 2 } } });
    const { source_yaml: text, config } = (await read(ann, `/${id}`)).body;
    const lines = source.trimEnd().split('\n');
    expect(
      text
        .trimEnd()
        .split('\n')
        .filter((line: string) => lines.includes(line)),
    ).toEqual(lines);
    expect(config.sections[0].cards[1]).toEqual({ id: 'pages-2', ...CARD });
    expect(parse(text).sections[0].cards).toHaveLength(2);
  });

  test.each(['cards: []', 'cards: [{id: a, title: A, kind: metric, viz: number, query: a}]'])(
    'appends it to %s',
    async (cards) => {
      const { id } = (await create(ann, `version: 1\ntitle: T\nsections:\n- title: S\n  ${cards}\n`)).body.dashboard;
      expect((await send(ann, ['POST', `/${id}/cards`], CARD)).status).toBe(201);
      expect((await read(ann, `/${id}`)).body.config.sections[0].cards.at(-1)).toEqual({ id: 'pages', ...CARD });
    },
  );

  test('answers 413 when the document becomes too long', async () => {
    const long = `${yaml('T')}# ${'x'.repeat(65_536 - yaml('T').length - 3)}\n`;
    const { id } = (await create(ann, long)).body.dashboard;
    expect((await send(ann, ['POST', `/${id}/cards`], CARD)).status).toBe(413);
  });

  test('answers 400 to an invalid query and to a template', async () => {
    const { id } = (await create(ann, yaml('T'))).body.dashboard;
    for (const query of ['a | cont', 'a {{range.stage}}', '']) {
      expect((await send(ann, ['POST', `/${id}/cards`], { ...CARD, query })).status).toBe(400);
    }
    expect((await read(ann, `/${id}/versions`)).body).toHaveLength(1);
  });
});

describe('POST of all card queries', () => {
  const source = `version: 1
title: T
timezone: Europe/Berlin
variables:
  page: {type: select, query: page_view | count by _path, value_column: _path}
sections:
- title: S
  cards:
  - {id: a, title: A, kind: metric, viz: number, query: 'signup {{range.stage}} | count'}
  - {id: b, title: B, kind: metric, viz: number, query: 'page_view | where _path = {{page}} | count'}
  - {id: c, title: C, kind: markdown, viz: markdown, markdown: hello}
`;

  test('fills the templates of all cards, with an error for a card without a value', async () => {
    const { id } = (await create(ann, source)).body.dashboard;
    const fill = (variables = {}) => send(ann, ['POST', `/${id}/queries`], { variables });
    expect((await fill()).body).toEqual([
      { id: 'a', queries: [{ name: 'A', q: 'signup | last 7d | count', timezone: 'Europe/Berlin' }] },
      { id: 'b', error: 'the variable "page" has no value' },
      { id: 'c', queries: [] },
    ]);
    const { body } = await fill({ page: '/"x', range: 'today' });
    expect(body[0].queries[0].q).toBe('signup | today | count');
    expect(body[1].queries[0].q).toBe('page_view | where _path = "/\\"x" | count');
    expect((await fill({ nothing: 'a' })).status).toBe(400);
  });

  test('limits the total size of the filled queries', async () => {
    const cards = Array.from(
      { length: 100 },
      (_, index) =>
        `  - {id: c${index}, title: A, kind: metric, viz: number, query: 'a | where _path = {{page}} | count'}`,
    );
    const large = source.replace(/ {2}- \{id: a[\s\S]*/, `${cards.join('\n')}\n`);
    const { id } = (await create(ann, large)).body.dashboard;
    const filled = await send(ann, ['POST', `/${id}/queries`], { variables: { page: 'x'.repeat(8192) } });
    expect(filled.status).toBe(200);
    const escaped = await send(ann, ['POST', `/${id}/queries`], { variables: { page: '"'.repeat(8100) } });
    expect(escaped).toMatchObject({ status: 400, body: { error: expect.stringContaining('1048576 bytes') } });
  });
});

describe('POST …/alerts', () => {
  test('appends an alert to the text of a dashboard of the project, for admins', async () => {
    const { id } = (await create(bob, yaml('Ours'), { visibility: 'project' })).body.dashboard;
    const add = (more: object = {}, person = bob, of = id) =>
      send(person, ['POST', `/${of}/alerts`], { ...ALERT, ...more });
    expect(await add()).toMatchObject({ status: 201, body: { changed: true, dashboard: { version: 2 } } });
    expect((await add()).body.error).toContain('the id "low" is used twice');
    expect((await add({ id: 'other', when: 'chnge < 1' })).body.error).toContain('the query has no column "chnge"');
    expect((await add({ id: 'other', to: [] })).status).toBe(400);
    expect((await add({ id: 'other' }, ann)).status).toBe(403);
    expect((await read(bob, `/${id}`)).body.config.alerts).toEqual([ALERT]);
    const personal = (await create(ann, yaml('Mine'), {}, 'mine')).body.dashboard.id;
    expect((await add({}, ann, personal)).body.error).toContain('alerts of a personal dashboard do not run');
  });
});

describe('POST …/reports', () => {
  test('appends a report to the text of a dashboard of the project, for admins', async () => {
    const { id } = (await create(bob, yaml('Ours'), { visibility: 'project' })).body.dashboard;
    const add = (more: object = {}, person = bob, of = id) =>
      send(person, ['POST', `/${of}/reports`], { ...REPORT, ...more });
    expect(await add()).toMatchObject({ status: 201, body: { changed: true, dashboard: { version: 2 } } });
    expect((await add()).body.error).toContain('the id "weekly" is used twice');
    expect((await add({ id: 'other', at: 'sometimes' })).body.error).toContain('monthly 1 08:00');
    expect((await add({ id: 'other' }, ann)).status).toBe(403);
    expect((await read(bob, `/${id}`)).body.config.reports).toEqual([REPORT]);
    const personal = (await create(ann, yaml('Mine'), {}, 'mine')).body.dashboard.id;
    expect((await add({}, ann, personal)).body.error).toContain('reports of a personal dashboard do not run');
  });
});
