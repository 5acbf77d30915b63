// POST /mcp on the real processes, with the official clients of both generations: each tool,
// scopes, refusals, cut answers, and values of events that look like instructions.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { type Agent, connectAgent, createToken, GENERATIONS } from '../support/agent.js';
import { AGENT_EVENTS, fencedIn } from '../support/agent-events.js';
import { eventually } from '../support/eventually.js';
import { sendTarget } from '../support/raw-http.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { createTestProject, track } from '../support/track.js';

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let project: NewProject;
let token: string;
let agent: Agent;

beforeAll(async () => {
  databases = await createTestDatabases({ PUBLIC_URL: 'https://analytics.example.com' });
  postgres = createPostgres(databases.config);
  project = await createTestProject(databases);
  processes = await startProcesses(databases.env);
  token = await createToken(postgres, project.id, ['query', 'dashboards']);
  agent = await connectAgent(processes.url, { Authorization: `Bearer ${token}` });
  await fill();
});

afterAll(async () => {
  await agent?.close();
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

async function fill(): Promise<void> {
  await track(processes.url, project.secretKey, { events: AGENT_EVENTS });
  await eventually(async () => {
    const { text } = await agent.call('schema', { search: 'page' });
    expect(text).toContain('event_properties.page');
    expect((await agent.call('query', { q: '* | count', format: 'json' })).text).toContain('"count":439');
  });
}

describe.each(GENERATIONS)('the client of %s', (generation) => {
  test('lists and calls tools, reads resources and gets prompts', async () => {
    const client = await connectAgent(processes.url, { 'X-API-Key': token }, generation);
    const tools = (await client.listTools()).map(({ name }) => name);
    expect(tools).toEqual(['schema', 'query', 'check', 'dashboards', 'save_dashboard']);
    expect((await client.call('query', { q: 'visit | count' })).text).toContain('437');
    expect(await client.listResources()).toEqual(['analytics://language', 'analytics://schema']);
    expect(await client.read('analytics://language')).toContain('## Queries');
    expect(await client.read('analytics://schema')).toContain('visit');
    expect(await client.listPrompts()).toEqual(['ask', 'weekly-review', 'build-dashboard']);
    expect(await client.prompt('ask', { question: 'How many visits?' })).toContain('How many visits?');
    expect(await client.prompt('weekly-review')).toContain('compare previous');
    expect(await client.prompt('build-dashboard', { topic: 'Sales' })).toContain('save_dashboard');
    await client.close();
  });
});

describe('schema', () => {
  test('shows events, properties with frequent values, and the fields of every event', async () => {
    const { text, isError } = await agent.call('schema');
    expect(isError).toBe(false);
    expect(text).toMatch(/Events of the last 30 days: rows 1–3 of 3/);
    expect(text).toMatch(/\| visit +\| +437 \|/);
    expect(text).toContain('event_properties.page');
    expect(text).toContain('user.email');
  });

  test('shows the properties of an event and the values of a field', async () => {
    expect((await agent.call('schema', { event: 'visit' })).text).toContain('event_properties.page');
    const { text } = await agent.call('schema', { field: 'page', event: 'visit', limit: 5, offset: 5 });
    expect(text).toContain('Values of event_properties.page (string) in the last 30 days: rows 6–10 of 437, next');
    expect(text).toContain('page-005');
  });

  test('searches names and values, and names the nearest of an unknown one', async () => {
    expect((await agent.call('schema', { search: 'page-436' })).text).toContain('"page-436"');
    expect(await agent.call('schema', { event: 'vist' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('nearest: \\"visit\\"'),
    });
    expect((await agent.call('schema', { field: 'pge' })).text).toContain('nearest: \\"page\\"');
    expect((await agent.call('schema', { field: 'user_first_session.region_code' })).text).toContain('Values of');
  });

  test('shows all time where the last days have no events, as after an import', async () => {
    const imported = await createTestProject(databases);
    const key = await createToken(postgres, imported.id, ['query']);
    const client = await connectAgent(processes.url, { 'X-API-Key': key });
    const old = { event_type: 'hit', user_id: 'u', time: '2015-05-17T10:05:00Z', event_properties: { method: 'GET' } };
    await track(processes.url, imported.secretKey, { events: [old] });
    const all = /^Events of all time, because the last 30 days have none: rows 1–1 of 1\n[\s\S]+\| 2015-05-17T/m;
    await eventually(async () => expect((await client.call('schema')).text).toMatch(all));
    const { text } = await client.call('schema', { event: 'hit', days: 7 });
    expect(text).toContain('Properties of "hit" in all time, because the last 7 days have none: rows 1–1 of 1');
    expect((await client.call('schema', { field: 'method' })).text).toContain('| GET | 1 |');
    await client.close();
  });
});

describe('query', () => {
  test('pages by offset, with a link into the console', async () => {
    const q = 'visit | count by event_properties.page | sort event_properties.page';
    const first = await agent.call('query', { q });
    const lines = first.text.split('\n');
    expect(lines[0]).toBe('rows 1–50 of 437, next offset 50');
    const fragment = new URLSearchParams({ q });
    expect(lines[1]).toBe(`Console: https://analytics.example.com/projects/${project.id}/ask#${fragment}`);
    expect(fencedIn(first.text)).toContain('page-049');
    const last = await agent.call('query', { q, offset: 400 });
    expect(last.text).toMatch(/^rows 401–437 of 437\n/);
    expect((await agent.call('query', { q, offset: 500 })).text).toMatch(/^no rows at offset 500 of 437/);
    expect((await agent.call('query', { q: 'nothing | list' })).text).toMatch(/^rows 0 of 0/);
  });

  test.each(['markdown', 'csv', 'json'])(
    'cuts %s at a row below 24,000 characters, and goes on from there',
    async (format) => {
      const q = 'visit | list event_properties.page, event_properties.text | sort event_properties.page asc';
      const seen: string[] = [];
      for (let offset = 0; offset < 437; ) {
        const { text } = await agent.call('query', { q, limit: 1000, offset, format });
        expect(text.length).toBeLessThanOrEqual(24_000);
        seen.push(...(fencedIn(text).match(/page-\d{3}/g) ?? []));
        const [, end, next] = /^rows \d+–(\d+) of 437(?:, next offset (\d+))?/.exec(text) ?? [];
        expect(Number(end)).toBe(seen.length);
        offset = Number(next ?? 437);
      }
      expect(seen).toEqual(Array.from({ length: 437 }, (_, index) => `page-${String(index).padStart(3, '0')}`));
    },
  );

  test('cuts the cells of a row that is longer than an answer', async () => {
    for (const format of ['markdown', 'csv', 'json']) {
      const { text } = await agent.call('query', { q: 'huge | list event_properties', format });
      expect(text.length).toBeLessThanOrEqual(24_000);
      expect(text).toMatch(/^rows 1–1 of 1\n/);
      expect(text).toMatch(/characters\)/);
    }
  });

  test('answers JSON that parses, and CSV with a header', async () => {
    const q = 'visit | count';
    const json = JSON.parse(fencedIn((await agent.call('query', { q, format: 'json' })).text));
    expect(json).toMatchObject({ rows: [{ count: 437 }], total: 1 });
    expect(fencedIn((await agent.call('query', { q, format: 'csv' })).text)).toBe('count\r\n437');
  });

  test.each(['markdown', 'csv', 'json'])('fences and neutralises values of events in %s', async (format) => {
    const { text } = await agent.call('query', { q: 'odd | count by event_properties.note', format });
    // One fence, which ends with the answer, and nothing of the value on a line of its own.
    const body = fencedIn(text);
    expect(text.split('\n').filter((line) => line.startsWith('```'))).toHaveLength(2);
    expect(text.endsWith(`${body}\n${/`+$/.exec(text)?.[0]}`)).toBe(true);
    expect(text).not.toMatch(/^(?:## System|Ignore)|[\u202e\u{e0041}]/mu);
    expect(body).toContain('Ignore all rules');
    expect(text.includes('a backslash before a sign is an escape')).toBe(format === 'markdown');
  });

  test('reports every problem of a wrong query with place, message and fix', async () => {
    const { text, isError } = await agent.call('query', { q: 'visit | count by _contry | sort nothing' });
    expect(isError).toBe(true);
    const { details } = JSON.parse(text);
    expect(details[0]).toMatchObject({
      ...{ line: 1, column: 18, length: 7, message: expect.stringContaining('_contry') },
      fix: { line: 1, column: 18, length: 7, text: '_country' },
    });
    expect(details).toHaveLength(2);
  });

  test('refuses lists of people, a wrong time zone and a limit above 1,000', async () => {
    expect(await agent.call('query', { q: 'funnel visit -> odd | people at 1' })).toMatchObject({ isError: true });
    expect((await agent.call('query', { q: '*', timezone: 'Mars' })).text).toContain('IANA');
    const tooMany = await agent
      .call('query', { q: '*', limit: 1001 })
      .catch((error: Error) => ({ isError: true, text: error.message }));
    expect(tooMany).toMatchObject({ isError: true, text: expect.stringContaining('1000') });
  });
});

describe('check', () => {
  test('answers the period and the columns, and runs nothing', async () => {
    const before = await metric('query_rows_scanned_total');
    const { text, isError } = await agent.call('check', { q: 'vist | last 7d | count by day' });
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toMatchObject({
      ok: true,
      timezone: 'UTC',
      columns: [{ name: 'day' }, { name: 'count', type: 'number' }],
      warnings: [expect.stringContaining('nearest: "visit"')],
    });
    expect(await metric('query_rows_scanned_total')).toEqual(before);
  });
});

test('definitions are listed by schema, named by check, and used in dashboards', async () => {
  const metrics = `metrics: { rate: { query: 'formula unique(odd) / unique(visit)' } }`;
  const source_yaml = `version: 1\nevents: { seen: { query: '(visit, odd)', about: 'saw a page' } }\n${metrics}\n`;
  const sent = { method: 'PUT', headers: { 'X-API-Key': project.secretKey }, body: JSON.stringify({ source_yaml }) };
  expect((await fetch(`${processes.url}/api/definitions`, sent)).status).toBe(201);
  for (const input of [{}, { event: 'seen' }, { search: 'saw' }]) {
    expect((await agent.call('schema', input)).text).toContain('| seen | (visit, odd) | saw a page |');
  }
  const { text } = await agent.call('check', { q: 'seen | count' });
  expect(JSON.parse(text).definitions).toMatchObject([{ kind: 'event', name: 'seen', query: '(visit, odd)' }]);
  expect((await agent.call('query', { q: 'seen | count', format: 'json' })).text).toContain('"count":438');
  const used = { key: 'rate', source_yaml: YAML.replace('visit | count', 'metric rate'), dry_run: true };
  expect(await agent.call('save_dashboard', used)).toMatchObject({ isError: false });
});

async function metric(name: string): Promise<string[]> {
  const text = await (await fetch(`${processes.get('query').url}/metrics`)).text();
  return text.split('\n').filter((line) => line.startsWith(name));
}

const YAML = `version: 1
title: Visits
sections:
  - title: S
    cards:
      - { id: all, title: All visits, kind: metric, viz: number, query: visit | count }
      - { id: odd, title: Odd, kind: table, viz: table, query: odd | count by event_properties.note }
`;

describe('dashboards', () => {
  test('are checked, compared, created, changed, listed, read and run', async () => {
    const dry = await agent.call('save_dashboard', { key: 'visits', source_yaml: YAML, dry_run: true });
    expect(dry.text).toMatch(/^would create visits, project\n/);
    expect(dry.text).toContain('+ title: Visits');
    expect((await agent.call('dashboards')).text).toMatch(/^0 dashboards/);

    const created = await agent.call('save_dashboard', { key: 'visits', source_yaml: YAML });
    expect(created.text).toMatch(
      /^created visits, project, version 1\nConsole: https:\/\/analytics\.example\.com\/projects\//,
    );
    const changed = YAML.replace('title: Visits', 'title: Visitors');
    const change = { key: 'visits', source_yaml: changed, base_version: 1 };
    const compared = await agent.call('save_dashboard', { ...change, dry_run: true });
    expect(compared.text).toMatch(/- title: Visits\n\+ title: Visitors/);
    const saved = await agent.call('save_dashboard', change);
    expect(saved.text).toMatch(/^saved visits as version 2\n/);
    expect(await agent.call('save_dashboard', { key: 'visits', source_yaml: YAML, base_version: 1 })).toMatchObject({
      isError: true,
      text: expect.stringContaining('version 2 by now'),
    });

    const alert =
      "alerts: [{ id: out, query: visit | count, when: value > 0, every: 1m, to: ['mailto:x@evil.example'] }]\n";
    for (const key of ['visits', 'other']) {
      const { isError, text } = await agent.call('save_dashboard', { key, source_yaml: YAML + alert });
      expect([isError, text]).toEqual([true, expect.stringContaining('agents do not create alerts')]);
    }

    expect((await agent.call('dashboards')).text).toMatch(/\| visits \| Visitors \| project +\| 2 /);
    expect(fencedIn((await agent.call('dashboards', { key: 'visits' })).text)).toBe(changed);
    expect(fencedIn((await agent.call('dashboards', { key: 'visits', version: 1 })).text)).toBe(YAML);
    const ran = await agent.call('dashboards', { key: 'visits', run: true });
    expect(ran.text).toMatch(/## All visits\nrows 1–1 of 1\n[\s\S]*437/);
    expect(ran.text).not.toMatch(/^## System/m);
    expect(await agent.call('dashboards', { key: 'nothing' })).toMatchObject({ isError: true });
    expect((await agent.call('dashboards', { run: true })).text).toContain('need key');
  });

  test('with problems are refused with the place of each', async () => {
    const wrong = YAML.replace('visit | count', 'visit | cout').replace('kind: table', 'kind: tabel');
    const { text, isError } = await agent.call('save_dashboard', { key: 'wrong', source_yaml: wrong });
    expect(isError).toBe(true);
    expect(JSON.parse(text).details).toMatchObject([{ line: 6 }, { line: 7 }]);
  });

  test('synced from a repository are not changed', async () => {
    await fetch(`${processes.url}/api/dashboard-sync/synced`, {
      method: 'PUT',
      headers: { 'X-API-Key': project.secretKey },
      body: JSON.stringify({ source_yaml: YAML }),
    });
    const changed = { key: 'synced', source_yaml: YAML.replace('title: Visits', 'title: X') };
    expect((await agent.call('save_dashboard', changed)).text).toContain('synced from a repository');
  });
});

describe('scopes', () => {
  test.each([
    [['query'], ['schema', 'query', 'check']],
    [['dashboards'], ['dashboards', 'save_dashboard']],
    [
      ['query', 'track'],
      ['schema', 'query', 'check'],
    ],
  ] as const)('a token with %j sees %j, and calls no other', async (scopes, names) => {
    const other = await connectAgent(processes.url, { 'X-API-Key': await createToken(postgres, project.id, scopes) });
    expect((await other.listTools()).map(({ name }) => name)).toEqual(names);
    const hidden = names.some((name) => name === 'query') ? 'save_dashboard' : 'query';
    await expect(other.call(hidden, { q: '*', key: 'a', source_yaml: YAML })).rejects.toThrow(/not found/i);
    await other.close();
  });

  test('a token for dashboards alone does not run their cards', async () => {
    const other = await connectAgent(processes.url, {
      'X-API-Key': await createToken(postgres, project.id, ['dashboards']),
    });
    await agent.call('save_dashboard', { key: 'mine', source_yaml: YAML });
    expect((await other.call('dashboards', { key: 'mine', run: true })).text).toContain('scope query');
    await other.close();
  });
});

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

const post = (headers: Readonly<Record<string, string>>, body: unknown = LIST): Promise<Response> =>
  fetch(`${processes.url}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('refusals', () => {
  test('without a valid token: 401 with a challenge', async () => {
    for (const headers of [{}, { Authorization: 'Bearer aat_nonsense' }, { 'X-API-Key': `aat_${'x'.repeat(32)}` }]) {
      const response = await post(headers as Record<string, string>);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer realm="Event Analytics Service"/);
    }
    await expect(connectAgent(processes.url, {})).rejects.toThrow();
  });

  test('public, secret and admin keys, and tokens without a scope for agents: 403', async () => {
    const tracking = await createToken(postgres, project.id, ['track']);
    for (const key of [project.publicKey, project.secretKey, tracking]) {
      expect((await post({ Authorization: `Bearer ${key}` })).status).toBe(403);
      expect((await post({ 'X-API-Key': key })).status).toBe(403);
    }
  });

  test('a Host that is not ours: 403', async () => {
    const { port } = new URL(processes.url);
    const statusOf = async (host: string) =>
      (await sendTarget(processes.url, { method: 'POST', target: '/mcp', headers: { Host: host, 'X-API-Key': token } }))
        .status;
    expect(await statusOf(`rebound.example.com:${port}`)).toBe(403);
    // The body, an empty object, is no message.
    expect(await statusOf('analytics.example.com')).toBe(400);
    expect(await statusOf(`localhost:${port}`)).toBe(400);
  });

  test('a foreign Origin without a token, or with a cookie: 403; with a token it may read the answer', async () => {
    const origin = { Origin: 'https://other.example' };
    expect((await post({ ...origin, 'X-API-Key': project.secretKey })).status).toBe(403);
    expect((await post(origin)).status).toBe(403);
    expect((await post({ ...origin, 'X-API-Key': token, Cookie: 'service_session=x' })).status).toBe(403);
    const answered = await post({ ...origin, 'X-API-Key': token });
    expect(answered.status).toBe(200);
    expect(answered.headers.get('access-control-allow-origin')).toBe('*');
    expect(answered.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test('batches, broken JSON, large bodies, many values and other methods', async () => {
    const key = { 'X-API-Key': token, Origin: 'https://other.example' };
    const manyValues = { ...LIST, params: { x: Array(2_000).fill(1) } };
    for (const body of [[LIST, LIST], '{', manyValues]) expect((await post(key, body)).status).toBe(400);
    expect((await post(key, JSON.stringify({ ...LIST, params: { x: 'x'.repeat(600_000) } }))).status).toBe(413);
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await fetch(`${processes.url}/mcp`, { method, headers: key });
      expect([status, headers.get('allow'), headers.get('access-control-allow-origin')]).toEqual([405, 'POST', '*']);
    }
  });
});

test.each(['/query', '/catalog', '/mcp'])(
  'a preflight of %s is answered, and its answers allow tokens only',
  async (path) => {
    const preflight = await fetch(processes.url + path, {
      method: 'OPTIONS',
      headers: { Origin: 'https://other.example' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('X-API-Key');
    const method = path === '/catalog' ? 'GET' : 'POST';
    const body = path === '/query' ? { q: '*' } : LIST;
    const allowed = async (key: string) => {
      const headers = { Origin: 'https://other.example', 'X-API-Key': key, 'Content-Type': 'application/json' };
      const sent = { method, headers, ...(method === 'POST' && { body: JSON.stringify(body) }) };
      return (await fetch(processes.url + path, sent)).headers.get('access-control-allow-origin');
    };
    expect(await allowed(token)).toBe('*');
    expect(await allowed(project.secretKey)).toBeNull();
  },
);

test('calls are counted by tool and outcome, and queries by agents as others', async () => {
  const before = await metric('query_duration_seconds_count{mode="aggregate",outcome="answered"}');
  await agent.call('query', { q: 'visit' });
  expect(await metric('query_duration_seconds_count{mode="aggregate",outcome="answered"}')).not.toEqual(before);
  const calls = (await metric('mcp_tool_calls_total')).join('\n');
  for (const outcome of ['ok', 'error']) expect(calls).toContain(`tool="query",outcome="${outcome}"`);
});
