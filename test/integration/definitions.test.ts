// Definitions of a project: PUT and GET with their credentials, versions, and queries with
// definitions in the processes of a service.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, createTeam, createTeamProject, send, type TestTeam } from '../support/accounts.js';
import { connectAgent, createToken } from '../support/agent.js';
import { examplesOf } from '../support/documentation.js';
import { type ErasureStack, startErasureStack, type Tenant } from '../support/erasure.js';
import { eventually } from '../support/eventually.js';

// Names that PostgreSQL does not store within two seconds, as on a busy machine, are found by a
// rebuild some fifteen seconds later.
const CATALOG_WAIT_MS = 60_000;

let stack: ErasureStack;
let url: string;
let tenant: Tenant;

const SOURCE = `version: 1
events:
  activated: { query: '(signup, first_export[rows > 0])', about: 'did something real' }
cohorts:
  power: { query: '* | where count(purchase last 30d) >= 2' }
metrics:
  activation: { query: 'formula unique(activated) / unique(signup)', about: 'as finance counts it', unit: percent }
`;

beforeAll(async () => {
  stack = await startErasureStack();
  url = stack.processes.url;
  tenant = await stack.createTenant();
  const event = (event_type: string, user_id: string, event_properties = {}) => ({
    event_type,
    user_id,
    event_properties,
  });
  await tenant.send(
    ...[event('signup', 'ann'), event('signup', 'bob'), event('first_export', 'cid', { rows: 3 })],
    ...[event('first_export', 'dan', { rows: 0 }), event('purchase', 'ann'), event('purchase', 'ann')],
    event('purchase', 'bob'),
  );
  await tenant.holds(7);
}, 240_000);

afterAll(() => stack?.close());

const toEvent = (event_type: string) => ({ event_type, event_properties: { rows: 1 } });

const put = (source_yaml: string, key = tenant.project.secretKey, parameters = ''): Promise<Answer> =>
  send(url, `PUT /api/definitions${parameters}`, { key, body: { source_yaml } });

type Row = Readonly<Record<string, unknown>>;

const query = async (q: string, of: Tenant = tenant): Promise<Answer> =>
  send(url, 'POST /query', { key: of.project.secretKey, body: { q, format: 'json' } });

const valuesOf = async (q: string): Promise<unknown[]> =>
  (await query(q)).body.rows.map((row: { value: unknown }) => row.value);

describe('PUT and GET /api/definitions', () => {
  test('content that differs is a new version, and GET returns it', async () => {
    const { project } = await stack.createTenant();
    const key = project.secretKey;
    const read = () => send(url, 'GET /api/definitions', { key });
    expect((await read()).body).toMatchObject({ version: 0, source_yaml: '', events: [], metrics: [] });
    const tried = await put(SOURCE, key, '?dry_run=true');
    expect(tried).toMatchObject({ status: 200, body: { changed: true, definitions: { version: 0 } } });
    const first = await put(SOURCE, key);
    expect(first).toMatchObject({ status: 201, body: { changed: true, definitions: { version: 1 } } });
    expect(await put(`# the same\n${SOURCE}`, key)).toMatchObject({ status: 200, body: { changed: false } });
    const second = await put(SOURCE.replace('rows > 0', 'rows > 1'), key, '?base_version=1');
    expect(second.body).toMatchObject({ changed: true, definitions: { version: 2 } });
    expect(await put(SOURCE, key, '?base_version=1')).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('have version 2 by now') },
    });
    expect((await read()).body).toMatchObject({
      version: 2,
      is_synced: true,
      source_yaml: expect.stringContaining('rows > 1'),
      events: [{ name: 'activated', line: 3, about: 'did something real' }],
      cohorts: [{ name: 'power' }],
      metrics: [{ name: 'activation', unit: 'percent' }],
    });
  });

  test('problems have their line, and nothing is stored', async () => {
    const { project } = await stack.createTenant();
    const wrong = await put(SOURCE.replace('count(purchase', 'cont(purchase'), project.secretKey);
    expect(wrong).toMatchObject({
      status: 400,
      body: {
        details: [{ line: 5, path: 'cohorts.power.query', hint: expect.stringContaining('nearest is "count"') }],
      },
    });
    const hidden = await put(SOURCE.replace('activated:', 'signup:'));
    expect(hidden.body.error).toContain('"signup" is an event that this project sends at line 3');
    expect((await send(url, 'GET /api/definitions', { key: project.secretKey })).body.version).toBe(0);
  });

  test('another comment of a person is a new version, and the same text is none', async () => {
    const team: TestTeam = await createTeam(stack.postgres);
    const config = { config: { SECRET_KEY_BASE: 'x'.repeat(64) } } as Parameters<typeof createTeamProject>[1];
    const { id } = await createTeamProject(stack.postgres, config, team.organization.id);
    const change = (source_yaml: string, more: string) =>
      send(url, `PUT /api/projects/${id}/definitions?${more}`, { ...team.people.admin, body: { source_yaml } });
    expect((await change(SOURCE, 'base_version=0')).status).toBe(201);
    expect((await change(SOURCE, 'base_version=1')).body).toMatchObject({ changed: false });
    const commented = `# Of the growth team.\n${SOURCE}`;
    const tried = await change(commented, 'base_version=1&dry_run=true');
    expect(tried.body).toMatchObject({ changed: true, definitions: { version: 1 } });
    const stored = await change(commented, 'base_version=1');
    expect(stored.body).toMatchObject({ changed: true, definitions: { version: 2 } });
  });

  test('members read them; admins and owners write, as do keys and service tokens', async () => {
    const team: TestTeam = await createTeam(stack.postgres);
    const config = { config: { SECRET_KEY_BASE: 'x'.repeat(64) } } as Parameters<typeof createTeamProject>[1];
    const { id, secretKey, publicKey } = await createTeamProject(stack.postgres, config, team.organization.id);
    const { member, admin } = team.people;
    const path = `/api/projects/${id}/definitions`;
    const change = (source_yaml: string, base: number, person = admin, more = '') =>
      send(url, `PUT ${path}?base_version=${base}${more}`, { ...person, body: { source_yaml } });
    expect((await put(SOURCE, publicKey)).status).toBe(403);
    expect((await change(SOURCE, 0, member)).status).toBe(403);
    expect((await change(SOURCE, 0)).status).toBe(201);
    expect((await put(SOURCE.replace('rows > 0', 'rows > 5'), secretKey)).body.definitions.version).toBe(2);
    const refused = await change(SOURCE, 2, admin, '&dry_run=true');
    expect(refused).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('synced from a repository') },
    });
    expect((await change(SOURCE, 1, admin, '&detach=true')).body.error).toContain('load them again');
    expect((await change(SOURCE, 2, admin, '&detach=true&dry_run=true')).body).toMatchObject({
      definitions: { version: 2 },
    });
    const versions = await send(url, `GET ${path}/versions`, member);
    expect(versions.body).toMatchObject([
      { version: 2, is_synced: true },
      { version: 1, is_synced: false },
    ]);
    const first = await send(url, `GET ${path}/versions/1`, member);
    expect(first.body.source_yaml).toBe(SOURCE);
    expect((await change(first.body.source_yaml, 2, admin, '&detach=true')).body.definitions.version).toBe(3);
    // The same text from the repository is no new version, and is synced from then on.
    expect((await change(SOURCE.replace('rows > 0', 'rows > 7'), 3, admin, '&dry_run=true')).status).toBe(200);
    expect((await put(first.body.source_yaml, secretKey)).body).toMatchObject({ changed: false });
    expect((await change(SOURCE, 3)).status).toBe(403);
    expect((await send(url, `GET ${path}/versions/9`, member)).status).toBe(404);
    const token = { name: 'sync', kind: 'personal', scopes: ['dashboards'] };
    const { body } = await send(url, `POST /api/projects/${id}/tokens`, { ...member, body: token });
    expect((await put(SOURCE, body.token)).body.error).toContain('your role is member');
    expect((await send(url, 'GET /api/definitions', { key: body.token })).body.version).toBe(3);
  });
});

test('uses by dashboards are listed, and a change that removes what is used has a warning', async () => {
  const { project } = await stack.createTenant();
  const key = project.secretKey;
  const alert = { query: 'metric activation', when: 'value < 1', every: '1d', to: ['https://x.invalid/'] };
  await put(`${SOURCE}\nalerts: ${JSON.stringify([{ id: 'own', ...alert }])}\n`, key);
  const card = (id: string, query: string) => ({ id, title: `Card ${id}`, kind: 'metric', viz: 'number', query });
  const document = {
    ...{ version: 1, title: 'Growth', sections: [{ title: 'S', cards: [] as object[] }] },
    alerts: [{ id: 'low', ...alert }],
  };
  document.sections[0]?.cards.push(card('a', 'metric activation | by week'), card('b', 'signup | count'));
  const body = { source_yaml: JSON.stringify(document) };
  expect((await send(url, 'PUT /api/dashboard-sync/growth', { key, body })).status).toBe(201);
  const { body: uses } = await send(url, 'GET /api/definitions/uses', { key });
  const dashboard = { id: expect.any(String), key: 'growth', title: 'Growth' };
  expect(uses).toEqual([
    {
      ...{ kind: 'event', name: 'activated', in: 'definition', dashboard: null },
      ...{ id: 'metric activation', title: 'metric activation' },
    },
    { kind: 'metric', name: 'activation', in: 'card', dashboard, id: 'a', title: 'Card a' },
    { kind: 'metric', name: 'activation', in: 'alert', dashboard, id: 'low', title: 'low' },
    { kind: 'metric', name: 'activation', in: 'alert', dashboard: null, id: 'own', title: 'own' },
  ]);
  const without = SOURCE.slice(0, SOURCE.indexOf('metrics:'));
  const { warnings } = (await put(without, key, '?dry_run=true')).body;
  // Those of events that the project does not have come as soon as its catalog is complete.
  expect(warnings.filter((warning: string) => !warning.includes('no event'))).toEqual([
    'the metric activation is removed, but the card "Card a" of the dashboard "Growth" uses it',
    'the metric activation is removed, but the alert "low" of the dashboard "Growth" uses it',
  ]);
  const own = JSON.stringify([{ id: 'own', ...alert, query: 'activated | last 1h | count' }]);
  expect((await put(`version: 1\nalerts: ${own}\n`, key, '?dry_run=true')).body.warnings).toContain(
    'the event activated is removed, but the alert "own" of the definitions uses it',
  );
});

test('annotations are in the answers whose range covers them, and are no definitions', async () => {
  const { project } = await stack.createTenant();
  const key = project.secretKey;
  const today = new Date().toISOString().slice(0, 10);
  const text = `version: 1\nannotations:\n  - { at: ${today}, text: Release 2.0 }\n  - { at: 2020-01-01, text: Long ago }\n`;
  expect((await put(text.replace('2020-01-01', 'someday'), key)).body.error).toContain('annotations[1].at');
  expect((await put(text, key)).status).toBe(201);
  const { body: read } = await send(url, 'GET /api/definitions', { key });
  expect(read).toMatchObject({ events: [], annotations: [{ text: 'Release 2.0' }, { at: '2020-01-01' }] });
  const ask = async (q: string, format: string) => (await send(url, 'POST /query', { key, body: { q, format } })).body;
  const { metadata } = await ask('signup | last 1d | count by hour', 'json');
  expect(metadata.annotations).toEqual([{ at: today, time: `${today}T00:00:00Z`, text: 'Release 2.0' }]);
  expect(await ask('signup | last 1d | count', 'llm')).toContain(`\nAnnotation ${today}: Release 2.0\n`);
  expect((await ask('signup | from 2021-01-01 to 2021-02-01 | count', 'json')).metadata).not.toHaveProperty(
    'annotations',
  );
});

test('alerts and reports of definitions run, and are deleted with their lines', async () => {
  const team = await createTeam(stack.postgres);
  const config = { config: { SECRET_KEY_BASE: 'x'.repeat(64) } } as Parameters<typeof createTeamProject>[1];
  const { id, secretKey: key } = await createTeamProject(stack.postgres, config, team.organization.id);
  const read = async (what: string): Promise<Answer['body']> =>
    (await send(url, `GET /api/projects/${id}/${what}`, { ...team.people.member })).body;
  const to = "to: ['mailto:ops@example.com']";
  const text = `${SOURCE}alerts:
  - { id: silent, query: 'activated | last 1h | count', when: 'value < 1', every: 1d, ${to} }
reports:
  - { id: monday, dashboard: sales, at: 'monday 08:00', ${to} }
`;
  expect(await put(text, key)).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('reports[0].dashboard: the project has no dashboard "sales"') },
  });
  const card = '{ id: a, title: A, kind: metric, viz: number, query: activated | count }';
  const source_yaml = `version: 1\ntitle: Sales\nsections: [{ title: S, cards: [] }]\n`;
  await send(url, 'PUT /api/dashboard-sync/sales', { key, body: { source_yaml } });
  expect((await put(text, key)).status).toBe(201);
  await send(url, 'PUT /api/dashboard-sync/sales', {
    key,
    body: { source_yaml: source_yaml.replace('[] }', `[${card}] }`) },
  });
  await eventually(async () =>
    expect(await read('alerts')).toMatchObject([{ key: 'silent', state: 'firing', dashboard: null }]),
  );
  const [{ id: alertId }] = await read('alerts');
  await eventually(async () => {
    const [{ deliveries }] = await read(`alerts/${alertId}/checks`);
    expect(deliveries).toMatchObject([{ status: 'failed', error: expect.stringContaining('no mail server') }]);
  });
  const [report] = await read('reports');
  expect(report).toMatchObject({ key: 'monday', dashboard: { key: 'sales' }, last_run_at: null });
  await stack.postgres('alerts').where({ id: report.id }).update({ next_due_at: stack.postgres.fn.now() });
  await eventually(async () => {
    const [run] = await read(`reports/${report.id}/runs`);
    expect(run).toMatchObject({ error: null, deliveries: [{ status: 'failed' }] });
  });
  expect((await put(SOURCE, key)).status).toBe(200);
  expect([await read('alerts'), await read('reports')]).toEqual([[], []]);
}, 120_000);

test('the documents of docs/definitions.md are stored, and its queries run', async () => {
  const [document = '', annotations = '', alerts = '', ...others] = examplesOf('definitions.md', 'yaml');
  expect(others).toEqual([]);
  const dashboard = 'version: 1\ntitle: Sales\nsections: [{ title: S, cards: [] }]\n';
  await send(url, 'PUT /api/dashboard-sync/sales', {
    key: tenant.project.secretKey,
    body: { source_yaml: dashboard },
  });
  for (const each of [annotations, alerts, document]) expect((await put(each)).status).toBeLessThan(300);
  const queries = examplesOf('definitions.md', 'query');
  expect(queries.length).toBeGreaterThanOrEqual(5);
  for (const q of queries) expect(await query(q), q).toMatchObject({ status: 200 });
});

describe('queries with definitions', () => {
  test('answer as with their text, and the next query after a change knows it', async () => {
    await put(SOURCE);
    expect(await valuesOf('activated | count')).toEqual([3]);
    expect(await valuesOf('* | where cohort.power = true | unique')).toEqual([1]);
    expect(await valuesOf('metric activation')).toEqual([1.5]);
    const steps = await query('funnel activated -> purchase | last 7d');
    expect(steps.body.rows.map((row: { event: string }) => row.event)).toEqual(['activated', 'purchase']);
    for (const rows of [5, 2, 4, 1]) {
      await put(SOURCE.replace('rows > 0', `rows > ${rows}`));
      expect(await valuesOf('activated | count')).toEqual([rows < 3 ? 3 : 2]);
    }
    await put(SOURCE);
  });

  test.each([
    ['*', 'count'],
    ['*', 'unique by day,'],
    ['* | where user.plan not exists', 'count by event_type,'],
    ['formula count(*) as events, unique(signup) as people', ''],
    ['activated', 'unique'],
  ])('%s | %s by a cohort has the numbers of a where', async (source, reading) => {
    const grouped = `${source} | last 7d | ${reading.endsWith(',') ? reading : `${reading} by`} cohort.power`;
    const { rows } = (await query(grouped)).body;
    const isIn = (value: string) => rows.filter((row: Row) => row['cohort.power'] === value);
    for (const value of ['true', 'false']) {
      const ending = reading.replace(/,$/, '');
      const text = `${source} | where cohort.power = ${value} | last 7d${ending === '' ? '' : ` | ${ending}`}`;
      const { body } = await query(text);
      const numbers = (row: Row) =>
        Object.entries(row).filter(([name, cell]) => typeof cell === 'number' && name !== 'value');
      const found = body.rows.map(numbers).filter((of: [string, number][]) => of.some(([, cell]) => cell !== 0));
      const own = isIn(value)
        .map(numbers)
        .filter((of: [string, number][]) => of.some(([, cell]) => cell !== 0));
      expect(own, value).toEqual(found);
    }
    expect(rows.length).toBeGreaterThan(1);
  });

  test('are explained with the definitions and listed by fields and the catalog', async () => {
    const explained = await send(url, 'POST /query', {
      key: tenant.project.secretKey,
      body: { q: 'metric activation | by week', explain: true },
    });
    expect(explained.body.definitions).toMatchObject([
      { kind: 'metric', name: 'activation', query: 'formula unique(activated) / unique(signup)', line: 7 },
      { kind: 'event', name: 'activated', query: '(signup, first_export[rows > 0])' },
    ]);
    const fields = await query('fields | limit 500');
    expect(fields.body.rows.filter((row: { category: string }) => row.category === 'definition')).toMatchObject([
      { field: 'activated', type: 'event', events: null },
      { field: 'cohort.power', type: 'boolean' },
      { field: 'metric activation', type: 'number' },
    ]);
    const catalog = await send(url, 'GET /catalog', { key: tenant.project.secretKey });
    expect(catalog.body.definitions).toMatchObject({ events: [{ name: 'activated' }], cohorts: [{ name: 'power' }] });
  });

  test('problems name the definition, and unknown names the nearest one', async () => {
    expect(await query('metric activatin')).toMatchObject({
      status: 400,
      body: { details: [{ line: 1, column: 8, hint: 'nearest is "activation"', fix: { text: 'activation' } }] },
    });
    expect((await query('signup[cohort.power = true] | count')).body.error).toContain('in the cohort power (line 5');
    await eventually(async () => {
      const { body } = await query('activatd | count');
      expect(body.metadata.warnings).toEqual(['no event "activatd" in this project; nearest: "activated"']);
    }, CATALOG_WAIT_MS);
  });

  const card = (q: string) =>
    `version: 1\ntitle: T\nsections:\n- title: S\n  cards:\n  - {id: a, title: A, kind: metric, viz: number, query: '${q}'}\n`;

  test('dashboards are checked with them', async () => {
    const sync = (q: string) =>
      send(url, 'PUT /api/dashboard-sync/defined', { key: tenant.project.secretKey, body: { source_yaml: card(q) } });
    expect((await sync('metric activation')).status).toBe(201);
    expect((await sync('metric activated')).body.error).toContain('no metric "activated" is defined');
  });

  test('agents read them, check with them and save dashboards that name them', async () => {
    const { id } = tenant.project;
    const token = await createToken(stack.postgres, id, ['query', 'dashboards']);
    const agent = await connectAgent(url, { Authorization: `Bearer ${token}` });
    const { text } = await agent.call('schema');
    expect(text).toContain('metric activation');
    expect(text).toContain('formula unique(activated) / unique(signup)');
    expect((await agent.call('schema', { search: 'finance' })).text).toContain('metric activation');
    expect((await agent.call('schema', { event: 'activated' })).text).toContain('rows');
    const checked = await agent.call('check', { q: 'metric activation | by day' });
    expect(JSON.parse(checked.text).definitions).toMatchObject([{ name: 'activation' }, { name: 'activated' }]);
    const saved = await agent.call('save_dashboard', { key: 'agent', source_yaml: card('metric activation') });
    expect(saved.text).toContain('version 1');
    await agent.close();
  });

  test('a real event of the name is a warning in every answer that uses the definition', async () => {
    const other = await stack.createTenant();
    await put(SOURCE, other.project.secretKey);
    await other.send({ event_type: 'activated' }, ...['signup', 'first_export', 'purchase'].map(toEvent));
    await eventually(async () => {
      const { body } = await query('activated | count', other);
      expect(body).toMatchObject({
        rows: [{ value: 2 }],
        metadata: { warnings: [expect.stringContaining('is a definition')] },
      });
    }, CATALOG_WAIT_MS);
    expect((await query('signup | count', other)).body.metadata).toEqual({});
    expect((await put(SOURCE, other.project.secretKey)).body.error).toContain('is an event that this project sends');
  });
});
