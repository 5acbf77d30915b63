// Rules for all routes: strict matching of paths, no caching of responses with data, and a JSON
// body for errors that Node raises before routing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMethodLookup } from '../../src/access/allowed-methods.js';
import { ROUTES } from '../../src/access/route-matrix.js';
import { createOrganization } from '../../src/accounts/store.js';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createTeam, createTeamProject } from '../support/accounts.js';
import { sendRaw, sendTarget } from '../support/raw-http.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;
let processes: ProcessGroup;
let secretKey: string;
let adminKey: string;
let session: string;
let projectId: string;
let organizationId: string;

beforeAll(async () => {
  databases = await createTestDatabases();
  postgres = createPostgres(databases.config);
  const team = await createTeam(postgres);
  ({ secretKey } = await createTeamProject(postgres, databases, team.organization.id));
  ({ adminKey } = team.organization);
  // Routes that rotate a key or delete a project must not change the credentials of the other
  // cases.
  const target = await createOrganization(postgres, { name: 'Target', ownerId: team.people.owner.id });
  organizationId = target.id;
  projectId = (await createTeamProject(postgres, databases, target.id)).id;
  session = team.people.owner.session;
  processes = await startProcesses(databases.env);
});

afterAll(async () => {
  await processes?.stop();
  await postgres?.destroy();
  await databases?.close();
});

const urlOf = (name: string): string => processes.get(name).url;

/** Headers of a caller who may use the route. */
const credentialsFor = (path: string): Record<string, string> => ({
  'X-API-Key': path.startsWith('/api/admin/') ? adminKey : secretKey,
  Cookie: `service_session=${session}`,
});

const pathOf = (path: string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const known: Readonly<Record<string, string>> = { projectID: projectId, orgID: organizationId };
    return known[name] ?? '00000000-0000-7000-8000-000000000000';
  });

/**
 * Variants of a path that a lenient server treats as equal, and a filter in front of it does not.
 */
function variantsOf(path: string): string[] {
  if (path === '/') return ['//', '/./', '/%2f', '/#', '/.'];
  const letter = /[a-z]/.exec(path)?.[0] ?? '';
  return [
    path.replace(letter, letter.toUpperCase()),
    path.replace(letter, `%${letter.charCodeAt(0).toString(16)}`),
    path.replace(/^\/[\w.-]+/, (part) => part.toUpperCase()),
    `${path}/`,
    `/${path}`,
    `/.${path}`,
    `/x/..${path}`,
    `${path}%2f`,
    `${path}%20`,
    `${path}%00`,
    `${path};x=1`,
    `${path}#x`,
    `${path}\\`,
    `\\${path}`,
    path.replace(/^\//, '/%2f'),
  ];
}

describe('strict matching of paths', () => {
  const REFUSED: readonly unknown[] = [
    { status: 404, body: '{"error":"there is no such route"}' },
    { status: 400, body: '{"error":"the request target is not a path, with or without a query"}' },
    { status: 400, body: '{"error":"the request is not valid HTTP/1.1"}' },
  ];
  // The last segment of a route may hold anything that does not end it.
  const isParameter = (variant: string, route: string): boolean =>
    route.endsWith('}') && /(?:%2f|%20|%00|;x=1|\\)$/.test(variant);

  test.each(ROUTES)('$method $path is not reached by variants of its path', async ({ method, path }) => {
    const reached: unknown[] = [];
    const isRoute = (variant: string) => ROUTES.some((route) => route.method === method && route.path === variant);
    const isReached = (variant: string) => isParameter(variant, path) || isRoute(variant);
    for (const target of variantsOf(pathOf(path)).filter((variant) => !isReached(variant))) {
      const { status, body } = await sendTarget(urlOf('web'), { method, target, headers: credentialsFor(path) });
      const isRefused = REFUSED.some((refusal) => JSON.stringify(refusal) === JSON.stringify({ status, body }));
      if (!isRefused) reached.push({ target, status, body });
    }
    expect(reached).toEqual([]);
  });

  test.each([
    ['query', 'POST', '/query'],
    ...['query', 'worker'].flatMap((name) => ['/healthz', '/readyz', '/metrics'].map((path) => [name, 'GET', path])),
  ])('process %s: %s %s is not reached by variants of its path', async (name = '', method = '', path = '') => {
    const headers = credentialsFor(path);
    const isReached = ({ status, body }: { status: number; body: string }) =>
      !(status === 404 || status === 400) || !/no such route|request target|not valid HTTP/.test(body);
    expect(isReached(await sendTarget(urlOf(name), { method, target: path, headers }))).toBe(true);
    for (const target of variantsOf(path)) {
      const answer = await sendTarget(urlOf(name), { method, target, headers });
      expect({ target, isReached: isReached(answer) }).toEqual({ target, isReached: false });
    }
  });

  test('a request target in absolute form reaches the same routes', async () => {
    const target = 'http://localhost/healthz';
    expect(await sendTarget(urlOf('web'), { method: 'GET', target })).toMatchObject({ status: 200, body: 'ok' });
  });

  test('an unknown path is a page for browsers, and JSON below /api', async () => {
    const see = (path: string) => fetch(urlOf('web') + path, { headers: { Accept: 'text/html,*/*;q=0.8' } });
    const page = await see('/login/');
    expect(page.status).toBe(404);
    expect(await page.text()).toContain('<h1>Page not found</h1>');
    expect(await (await see('/api/orgs/')).json()).toEqual({ error: 'there is no such route' });
  });
});

describe('a method that a path does not have', () => {
  test.each([
    ['web', 'DELETE', '/track', 'POST'],
    ['web', 'POST', '/llms.txt', 'GET, HEAD'],
    ['web', 'PUT', '/api/orgs', 'GET, HEAD, POST'],
    ['web', 'GET', '/api/invitations/none/accept', 'POST'],
    ['query', 'GET', '/query', 'POST'],
    ['query', 'POST', '/healthz', 'GET, HEAD'],
  ])('process %s: %s %s is answered with 405 and Allow: %s', async (name, method, path, allowed) => {
    const response = await fetch(urlOf(name) + path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allowed]);
    expect(await response.json()).toEqual({
      error: `${method} is not possible here; use ${allowed.replaceAll(', ', ' or ')}`,
    });
  });

  const paths = [...new Set(ROUTES.map(({ path }) => path))];
  const methodsOf = createMethodLookup(ROUTES);

  test.each(paths)('%s is answered with 405, with and without credentials', async (path) => {
    const target = pathOf(path);
    const allowed = methodsOf(target);
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((method) => !allowed.includes(method));
    expect(others).not.toEqual([]);
    for (const method of others) {
      for (const headers of [{}, credentialsFor(path)]) {
        const answer = await sendTarget(urlOf('web'), { method, target, headers });
        expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, allowed.join(', ')]);
      }
    }
  });

  test('is 404 in a process without the path', async () => {
    expect((await fetch(`${urlOf('query')}/track`)).status).toBe(404);
  });
});

describe('compression of answers', () => {
  const query = { method: 'POST', body: JSON.stringify({ q: 'fields', format: 'json' }) };

  test.each<[string, string, RequestInit, string | null]>([
    ['a document', '/openapi.json', {}, 'br'],
    ['a text', '/llms.txt', {}, 'gzip'],
    ['an answer of a query', '/query', query, 'br'],
    ['a document for clients that take none', '/openapi.json', {}, null],
    ['a short answer', '/healthz', {}, null],
    ['an error', '/api/none', {}, null],
  ])('%s', async (_what, path, init, coding) => {
    const headers = {
      ...credentialsFor(path),
      'Accept-Encoding': coding ?? (path === '/openapi.json' ? 'identity' : 'br'),
    };
    const response = await fetch(urlOf('web') + path, { ...init, headers });
    const text = await response.text();
    expect([response.headers.get('content-encoding'), text.length > 1024]).toEqual([
      coding,
      path !== '/healthz' && path !== '/api/none',
    ]);
    expect(response.headers.get('vary') ?? '').toMatch(
      text.length > 1024 ? /Accept-Encoding/i : /^((?!Accept-Encoding).)*$/i,
    );
    if (coding !== null) expect(Number(response.headers.get('content-length'))).toBeLessThan(text.length);
  });

  test('not of server-sent events, which are sent at once', async () => {
    const path = `/api/projects/${projectId}/live?seconds=1`;
    const response = await fetch(urlOf('web') + path, {
      headers: { ...credentialsFor(path), 'Accept-Encoding': 'br' },
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('content-encoding')).toBeNull();
    await response.text();
  });
});

describe('Cache-Control', () => {
  /** Responses that are equal for all clients. */
  const PUBLIC = new Set(['/public/service.js', '/llms.txt', '/openapi.json']);

  test.each(ROUTES)('$method $path is no-store unless public', async ({ method, path }) => {
    for (const headers of [{}, credentialsFor(path)]) {
      const answer = await sendTarget(urlOf('web'), { method, target: pathOf(path), headers });
      const caching = answer.headers.get('cache-control') ?? 'none';
      if (PUBLIC.has(path)) expect(caching).toMatch(/^public, max-age=/);
      else expect(caching).toBe('no-store');
    }
  });

  test.each(['web', 'query'])('answers and errors of /query in the process %s are no-store', async (name) => {
    for (const [body, status] of [
      ['{"q":"* | count"}', 200],
      ['{"q":"* | cuont"}', 400],
    ] as const) {
      const headers = { 'X-API-Key': secretKey };
      const answer = await fetch(`${urlOf(name)}/query`, { method: 'POST', headers, body });
      expect([answer.status, answer.headers.get('Cache-Control')]).toEqual([status, 'no-store']);
    }
  });
});

const HEAD = 'POST /track HTTP/1.1\r\nHost: x\r\n';
const SECRET = 'sk_do_not_repeat';

describe('errors that Node raises before routing', () => {
  const CASES: readonly [what: string, bytes: string, status: number, error: string][] = [
    ['no HTTP', `${SECRET}\r\n\r\n`, 400, 'the request is not valid HTTP/1.1'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00', 400, 'the request is not valid HTTP/1.1'],
    ['an unknown version', 'GET / HTTP/3.7\r\n\r\n', 400, 'the request is not valid HTTP/1.1'],
    ['white space before a colon', `GET / HTTP/1.1\r\n${SECRET} : x\r\n\r\n`, 400, 'the request is not valid HTTP/1.1'],
    ['a missing Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'the header Host is required'],
    [
      'two lengths',
      `${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
      400,
      'the request is not valid',
    ],
    ['a negative length', `${HEAD}Content-Length: -1\r\n\r\n`, 400, 'the request is not valid HTTP/1.1'],
    [
      'a large header',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(100_000)}\r\n\r\n`,
      431,
      'larger than 16384 bytes',
    ],
    ['an unknown expectation', `${HEAD}Expect: ${SECRET}\r\nContent-Length: 0\r\n\r\n`, 417, 'takes 100-continue only'],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'the method CONNECT is not supported'],
  ];

  async function expectRefused(name: string, bytes: string, refusal: { status: number; error: string }): Promise<void> {
    const answer = await sendRaw(urlOf(name), bytes);
    expect(answer.status).toBe(refusal.status);
    expect(JSON.parse(answer.body).error).toContain(refusal.error);
    expect(answer.body).not.toContain(SECRET);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('content-length')).toBe(String(answer.body.length));
    expect(answer.headers.get('connection')).toBe('close');
    expect(answer.headers.has('allow')).toBe(refusal.status === 405);
  }

  const PROCESSES = ['web', 'query', 'worker'];

  for (const name of PROCESSES) {
    test.each(CASES)(`${name}: %s`, (_what, bytes, status, error) => expectRefused(name, bytes, { status, error }));
  }

  test('unfinished headers are answered with 408', async () => {
    const refusal = { status: 408, error: 'the request did not arrive in time' };
    await Promise.all(PROCESSES.map((name) => expectRefused(name, 'GET / HTTP/1.1\r\nHost: x\r\n', refusal)));
  });

  test.each([
    ['a chunk without a size', 'zz\r\n', 400],
    ['a chunk extension without end', `1;${'a'.repeat(100_000)}\r\n`, 413],
  ])('%s in the middle of a body is answered with an error as JSON', async (_what, chunk, status) => {
    const head = `${HEAD}X-API-Key: ${secretKey}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`;
    const answer = await sendRaw(urlOf('web'), head + chunk);
    expect(answer.status).toBe(status);
    expect(Object.keys(JSON.parse(answer.body))).toEqual(['error']);
  });

  test('other requests are served afterwards', async () => {
    expect((await fetch(`${urlOf('web')}/healthz`)).status).toBe(200);
  });
});
