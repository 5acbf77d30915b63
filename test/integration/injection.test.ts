// Injection of SQL, HTML, headers, paths and query language: hostile texts in every field, query
// form and path stay plain text.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NewProject } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createTeam, createTeamProject, send, type TestTeam } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { askRows, identify } from '../support/identify.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { track } from '../support/track.js';

const TEXTS = [
  "'; DROP TABLE events; --",
  "\\' UNION SELECT * FROM profiles --",
  '{p0:String} {project_id:UUID} ? ?? $1 :name',
  "%' OR '%' LIKE '%' */ ; SELECT sleep(3) /*",
  '<script>alert(1)</script>"><img src=x onerror=alert(1)>',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a text that a template engine would run.
  '${7*7} {{range.stage}} #{7*7}',
  'x\r\nSet-Cookie: service_session=x\r\n\r\n',
  '" OR 1=1 | list # ',
  'a -> b, "c" | count by day',
  '../../../etc/passwd',
  '__proto__',
];

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let team: TestTeam;
let project: NewProject;
let neighbour: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  team = await createTeam(postgres);
  project = await createTeamProject(postgres, databases, team.organization.id);
  neighbour = await createTeamProject(postgres, databases, team.organization.id);
  processes = await startProcesses(databases.env);
  await sendAll();
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const ask = (q: string) => askRows(processes.url, project.secretKey, q);
const owner = () => ({ session: team.people.owner.session });

/** Without line breaks, which the client itself refuses in a header. */
const inHeader = (text: string): string => text.replaceAll(/[\r\n]/g, ' ');

/** An event of each text, which stands in all of its fields, and a profile. */
async function sendAll(): Promise<void> {
  for (const text of TEXTS) {
    const fields = {
      event_type: text,
      user_id: text,
      device_id: text,
      session_id: text,
      insert_id: text,
      library: text,
    };
    const named = Object.fromEntries([[text, text]]);
    const page = {
      url: `https://shop.example/${text}?utm_source=${text}`,
      title: text,
      referrer: text,
      utm_source: text,
    };
    const event = { ...fields, event_properties: { ...named, ...page }, user_properties: named };
    const headers = { 'User-Agent': inHeader(text), 'X-Forwarded-For': inHeader(text), 'X-Request-Id': inHeader(text) };
    expect((await track(processes.url, project.publicKey, event, headers)).body).toEqual({ accepted: 1 });
    const call = { user_id: text, device_id: text, user_properties: named, user_property_ops: { $set_once: named } };
    expect((await identify(processes.url, project.publicKey, call)).body).toEqual({ ok: true });
  }
  await eventually(async () => {
    expect(await ask('* | count')).toMatchObject([{ value: TEXTS.length }]);
    expect(await ask('users | count')).toMatchObject([{ value: TEXTS.length }]);
  });
}

/** A string literal of the query language. */
const literal = (text: string): string => JSON.stringify(text).replaceAll('\\r', '\\u000d');

/** Questions about a text that count its one event, or its one person, and nothing else. */
const COUNTED: readonly ((text: string) => string)[] = [
  (text) => `${text} | count`,
  (text) => `* | where event_type = ${text} | count`,
  (text) => `* | where user_id = ${text} and device_id = ${text} and session_id = ${text} | count`,
  (text) => `* | where insert_id in (${text}, "none") | count`,
  (text) => `* | where _library = ${text} | unique`,
  (text) => `* | where _title contains ${text} | count`,
  (text) => `* | where event_properties.${text} = ${text} | count`,
  (text) => `* | where event_properties.${text} exists | count`,
  (text) => `* | where event_properties.${text} ~ ".+" | count`,
  (text) => `* | where user_properties.${text} = ${text} | unique distinct_id`,
  (text) => `* | where user.${text} = ${text} | count`,
  (text) => `${text} | unique event_properties.${text}`,
  (text) => `user ${text} | count`,
  (text) => `users | where user_id = ${text} | count`,
  (text) => `users | where ${text} = ${text} | count`,
  (text) => `formula count(${text}) / unique(${text})`,
  (text) => `sessions | where session.utm_source = ${text} | count`,
];

/**
 * Questions of every other source, whose answers hold the text at least once, or nothing that is
 * not its own.
 */
const ANSWERED: readonly ((text: string) => string)[] = [
  (text) => `${text} | count by event_properties.${text}`,
  (text) => `* | where event_type = ${text} | list`,
  (text) => `funnel ${text} -> ${text} exclude "none" | window 1d`,
  (text) => `funnel ${text} -> "none" by event_properties.${text}`,
  (text) => `retention ${text} returning ${text}`,
  (text) => `paths from ${text} | by event_properties.${text}`,
  (text) => `paths to ${text}`,
  (text) => `lifecycle ${text}`,
  (text) => `stickiness ${text}`,
  (text) => `inspect ${text}`,
  (text) => `* | where event_type = ${text} | latest event_properties.${text}`,
  (text) => `choice ${text} | results ${text} | unit event_properties.${text}`,
];

describe('hostile text in a query', () => {
  test.each(TEXTS)('%j in quotes is a text value', async (text) => {
    const quoted = literal(text);
    const counts = await Promise.all(COUNTED.map(async (toQuery) => [toQuery(quoted), await ask(toQuery(quoted))]));
    for (const [query, rows] of counts) expect([query, rows]).toEqual([query, [expect.objectContaining({ value: 1 })]]);
    await Promise.all(ANSWERED.map((toQuery) => ask(toQuery(quoted))));
    expect(await ask(`* | where event_type = ${quoted} | list`)).toMatchObject([
      { event_type: text, user_id: text, device_id: text, session_id: text, insert_id: text },
    ]);
    expect(await ask(`users | where user_id = ${quoted} | list`)).toMatchObject([{ user_id: text }]);
  });

  test.each(TEXTS)('%j without quotes is refused or is a query of this project only', async (text) => {
    for (const q of [
      text,
      `* | where ${text}`,
      `* | where user_id = ${text}`,
      `* | count by ${text}`,
      `user ${text}`,
    ]) {
      const response = await fetch(`${processes.url}/query`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-API-Key': neighbour.secretKey },
        body: JSON.stringify({ q, format: 'json', timezone: 'UTC' }),
      });
      const body = await response.text();
      expect([200, 400]).toContain(response.status);
      if (response.status === 200) expect(JSON.parse(body).rows.filter(hasRealValue)).toEqual([]);
    }
  });

  test.each(TEXTS)('%j is refused as format, time zone, limit and offset', async (text) => {
    for (const field of ['format', 'timezone', 'limit', 'offset']) {
      const sent = { key: project.secretKey, body: { q: '* | count', [field]: text } };
      expect((await send(processes.url, 'POST /query', sent)).status).toBe(400);
    }
  });
});

/** The other project has no events, so its counts are zero. */
const hasRealValue = ({ value }: { value?: unknown }): boolean => value !== 0 && value !== null;

describe('hostile text in a path', () => {
  const PATHS = [
    'GET /api/orgs/{text}',
    'GET /api/orgs/{text}/members',
    'GET /api/projects/{text}',
    'GET /api/projects/{text}/dashboards',
    'GET /api/projects/{project}/dashboards/{text}',
    'DELETE /api/projects/{project}/tokens/{text}',
    'DELETE /api/me/tokens/{text}',
    'PATCH /api/orgs/{org}/members/{text}',
    'DELETE /api/orgs/{org}/members/{text}',
    'POST /api/orgs/{org}/domains/{text}/verify',
    'POST /api/invitations/{text}/accept',
    'GET /invitations/{text}',
    'GET /api/projects/{project}/usage?from={text}',
    'PUT /api/dashboard-sync/{text}',
    'GET /api/gdpr/requests/{text}',
    'GET /api/gdpr/audit?before={text}',
    'GET /api/admin/projects/{text}',
    'GET /{text}',
    'GET /public/{text}',
    'GET /login?next={text}',
    'GET /auth/idp/cb?code={text}&state={text}&error={text}',
  ];

  test.each(PATHS)('%s treats it as an unknown id or key', async (pattern) => {
    for (const text of TEXTS) {
      const [method, template = ''] = pattern.split(' ');
      const path = template
        .replaceAll('{text}', encodeURIComponent(text))
        .replace('{project}', project.id)
        .replace('{org}', team.organization.id);
      const isKeyed = /gdpr|dashboard-sync/.test(path);
      const isAdmin = path.startsWith('/api/admin');
      const response = await fetch(`${processes.url}${path}`, {
        method: method ?? '',
        redirect: 'manual',
        headers: {
          Accept: 'text/html, application/json',
          'Content-Type': 'application/json',
          ...(isKeyed && { 'X-API-Key': project.secretKey }),
          ...(isAdmin && { 'X-API-Key': team.organization.adminKey }),
          ...(!isKeyed && !isAdmin && { Cookie: `service_session=${owner().session}`, Origin: processes.url }),
        },
        ...(/PATCH|PUT/.test(pattern) && { body: JSON.stringify({ role: 'member', source_yaml: 'version: 1' }) }),
      });
      const body = await response.text();
      const isPage = /^GET \/(?:invitations|login)/.test(pattern);
      expect([pattern, text, response.status, isPage || response.status >= 300]).toEqual([
        pattern,
        text,
        expect.toSatisfy((status: number) => status < 500 || status === 503),
        true,
      ]);
      expect(body).not.toContain('<script>alert');
      expect(body).not.toContain('root:x:0');
      expect(response.headers.getSetCookie().join()).not.toContain('service_session=x');
      const location = response.headers.get('Location');
      if (location !== null) expect(new URL(location, processes.url).origin).toBe(processes.url);
    }
  });
});

describe('hostile text in names', () => {
  test.each(TEXTS)('%j is stored unchanged as a name, or refused', async (text) => {
    const status = /[\r\n]/.test(text) ? 400 : 201;
    const create = (route: string, body: object) => send(processes.url, `POST ${route}`, { ...owner(), body });
    const organization = await create('/api/orgs', { name: text });
    const made = await create(`/api/orgs/${team.organization.id}/projects`, { name: text });
    const token = await create(`/api/projects/${project.id}/tokens`, {
      name: text,
      kind: 'personal',
      scopes: ['query'],
    });
    expect([organization.status, made.status, token.status]).toEqual([status, status, status]);
    if (status === 201) {
      expect([organization.body.name, made.body.name, token.body.name]).toEqual(Array(3).fill(text.trim()));
      const changed = await send(processes.url, `PATCH /api/projects/${made.body.id}`, {
        ...owner(),
        body: { name: text },
      });
      expect(changed.body.name).toBe(text.trim());
    }
    expect((await create(`/api/orgs/${team.organization.id}/domains`, { domain: text })).status).toBe(400);
    expect(
      (await create(`/api/orgs/${team.organization.id}/invitations`, { email: text, role: 'member' })).status,
    ).toBe(400);
  });

  test.each(TEXTS)('%j is stored unchanged as a dashboard title, or refused', async (text) => {
    const card = { id: 'a', title: text, kind: 'metric', viz: 'number', query: `${literal(text)} | count` };
    const source = { version: 1, title: text, sections: [{ title: text, cards: [card] }] };
    const sent = { key: project.secretKey, body: { source_yaml: JSON.stringify(source) } };
    const { status, body } = await send(processes.url, 'PUT /api/dashboard-sync/named', sent);
    if (status === 400) return;
    expect([200, 201]).toContain(status);
    const path = `/api/projects/${project.id}/dashboards/${body.dashboard.id}`;
    const read = await send(processes.url, `GET ${path}`, owner());
    expect(read.body.config).toMatchObject({ title: text.trim(), sections: [{ cards: [{ title: text.trim() }] }] });
  });

  test('no name is markup on a page', async () => {
    const headers = { Accept: 'text/html', Cookie: `service_session=${owner().session}` };
    const page = await (await fetch(processes.url, { headers })).text();
    expect(page).toContain('&lt;script&gt;alert(1)');
    expect(page).not.toMatch(/<script>|<img src=x|onerror=alert\(1\)>/);
  });
});

test('persons whose ids are hostile texts are exported and erased separately', async () => {
  const pathOf = (text: string) => `${processes.url}/api/gdpr/users/${encodeURIComponent(text)}`;
  const headers = { 'X-API-Key': project.secretKey };
  for (const text of TEXTS) {
    const lines = (await (await fetch(`${pathOf(text)}/export`, { headers })).text()).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).user_id)).toEqual([text]);
  }
  const [kept = '', ...erased] = TEXTS;
  const receipts = erased.map(async (text) => (await fetch(pathOf(text), { method: 'DELETE', headers })).json());
  const gone = { status: 'deleted', events: 1, mappings: 1, profiles: 1 };
  expect(await Promise.all(receipts)).toMatchObject(erased.map((text) => ({ ...gone, user_id: text })));
  expect(await ask('* | list')).toMatchObject([{ user_id: kept }]);
  expect(await ask('users | list')).toMatchObject([{ user_id: kept }]);
});
