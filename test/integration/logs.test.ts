// Logs and metrics: one JSON object per line, the request id with every failure, and never a key, a
// session or personal data.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPostgres, type Postgres } from '../../src/platform/postgres/client.js';
import { createRedis, type Redis } from '../../src/platform/redis/client.js';
import { createTeam, createTeamProject, type TestPerson } from '../support/accounts.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';

let databases: TestDatabases;
let postgres: Postgres;
let redis: Redis;
let processes: ProcessGroup;
let owner: TestPerson;
let keys: { public: string; secret: string; admin: string };
let projectId: string;

beforeAll(async () => {
  databases = await createTestDatabases({ LOG_LEVEL: 'info' });
  postgres = createPostgres(databases.config);
  redis = createRedis(databases.config);
  const { organization, people } = await createTeam(postgres);
  const project = await createTeamProject(postgres, databases, organization.id);
  owner = people.owner;
  projectId = project.id;
  keys = { public: project.publicKey, secret: project.secretKey, admin: organization.adminKey };
  processes = await startProcesses(databases.env);
});

afterAll(async () => {
  await processes?.stop();
  redis?.disconnect();
  await postgres?.destroy();
  await databases?.close();
});

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly request?: string;
  readonly route?: string;
}

const NAMES = ['web', 'query', 'worker'] as const;
const textsOf = (name: (typeof NAMES)[number]): readonly string[] => processes.get(name).output;
const linesOf = (name: (typeof NAMES)[number]): Line[] => textsOf(name).map((text) => JSON.parse(text) as Line);

const call = (path: string, init: { body?: unknown; headers?: Record<string, string> } = {}): Promise<Response> =>
  fetch(`${processes.url}${path}`, {
    method: init.body === undefined ? 'GET' : 'POST',
    headers: { 'X-API-Key': keys.secret, 'Content-Type': 'application/json', ...init.headers },
    ...(init.body !== undefined && { body: typeof init.body === 'string' ? init.body : JSON.stringify(init.body) }),
  });

/** The log of the one failure that a request of this id had. */
const failureOf = (id: string): Promise<Line> =>
  eventually(() => {
    const line = linesOf('web').find(({ request, msg }) => request === id && msg === 'request failed');
    if (line === undefined) throw new Error(`nothing is logged of ${id}`);
    return line;
  });

describe('X-Request-Id', () => {
  const PATHS = [
    ['/track', { event_type: 'a' }],
    ['/identify', { user_id: 'a' }],
    ['/query', { q: 'a | count' }],
    ['/nowhere', undefined],
    ['/healthz', undefined],
  ] as const;

  test.each(PATHS)('of the request is repeated in the response: %s', async (path, body) => {
    const given = 'Req-1._x';
    const answer = await call(path, { body, headers: { 'X-Request-Id': given } });
    expect(answer.headers.get('X-Request-Id')).toBe(given);
  });

  test.each(['x'.repeat(65), 'a b', 'a,b', '{"level":60}', "a'--", '../a', 'ä'])(
    'is replaced when the request sends %s',
    async (given) => {
      for (const [path, body] of PATHS) {
        const answer = await call(path, { body, headers: { 'X-Request-Id': given } });
        expect(answer.headers.get('X-Request-Id')).toMatch(/^[0-9A-Za-z]{16}$/);
      }
    },
  );

  test('is logged with a failure, in the process that failed', async () => {
    await postgres.raw('ALTER TABLE dashboards RENAME TO dashboards_away');
    const path = `/api/projects/${projectId}/dashboards`;
    const cookie = { Cookie: `service_session=${owner.session}` };
    const answer = await call(path, { headers: { 'X-Request-Id': 'fails-1', ...cookie } });
    expect([answer.status, await answer.json()]).toEqual([500, { error: 'internal error' }]);
    const err = { stack: expect.stringContaining('    at ') };
    expect(await failureOf('fails-1')).toMatchObject({ level: 50, route: '/api/projects/:projectID/dashboards', err });
    await postgres.raw('ALTER TABLE dashboards_away RENAME TO dashboards');
  });

  test('is logged with the cause of a 503, without a trace', async () => {
    await processes.get('query').kill();
    const sent = { body: { q: '* | count' }, headers: { 'X-Request-Id': 'fails-3' } };
    expect((await call('/query', sent)).status).toBe(503);
    const failure = { level: 40, err: { code: expect.stringMatching(/ECONNREFUSED|ECONNRESET/) } };
    const logged = await failureOf('fails-3');
    expect(logged).toMatchObject(failure);
    expect(logged).not.toHaveProperty('err.stack');
    await processes.start('query');
  });
});

describe('logs', () => {
  test('do not contain the data of a command that Redis rejected', async () => {
    // A hash under the key of the queue's list: the command that stores the job fails.
    await redis.hset('bull:identify:wait', 'in', 'the way');
    const body = { user_id: 'distinctive-person', user_properties: { email: 'distinctive@example.com' } };
    const answer = await call('/identify', { body, headers: { 'X-Request-Id': 'fails-2' } });
    expect(answer.status).toBe(500);
    const failure = JSON.stringify(await failureOf('fails-2'));
    expect(failure).toContain('WRONGTYPE');
    expect(failure).not.toContain('distinctive');
    await redis.del('bull:identify:wait');
  });

  test('have one JSON object a line for any request, and no secret of it, nor have metrics and errors', async () => {
    const forged = '\n{"level":60,"msg":"forged"}\r\n';
    const answers = [
      await call(`/track?key=${keys.public}`, { body: { event_type: forged, event_properties: { [forged]: forged } } }),
      await call(`/track?key=${keys.secret}`, { body: forged, headers: { 'X-API-Key': '' } }),
      await call(`/track?key=${keys.admin}`, { body: '{', headers: { 'User-Agent': '{"level":60,"msg":"forged"}' } }),
      await call('/track', { body: { events: [{ event_type: '', user_id: keys.secret }] } }),
      await call(`/api/projects/${encodeURIComponent(forged)}/dashboards?key=${keys.secret}`),
      await call(`/api/gdpr/users/distinctive-person${encodeURIComponent(forged)}%ff`),
      await call('/api/gdpr/users/distinctive-person/export'),
      await call('/query', { body: { q: `"${keys.secret}" | where a = ${forged}` } }),
      await call('/api/admin/projects', { headers: { 'X-API-Key': `${keys.admin.slice(0, -1)}!` } }),
      await call('/api/orgs', { headers: { Cookie: `service_session=${owner.session}x` } }),
    ];
    for (const answer of answers.slice(0, 7)) {
      const text = await answer.text();
      for (const key of [keys.public, keys.secret, keys.admin, owner.session]) expect(text).not.toContain(key);
    }
    const secrets = [...Object.values(keys), owner.session, '?key=', 'distinctive'];
    for (const name of NAMES) {
      expect(linesOf(name).length).toBeGreaterThan(0);
      for (const line of linesOf(name)) {
        expect(line).toMatchObject({ level: expect.any(Number), time: expect.any(String), process: name });
        expect(line.msg).not.toBe('forged');
      }
      const metrics = await (await fetch(`${processes.get(name).url}/metrics`)).text();
      const written = [...textsOf(name), ...metrics.split('\n')];
      for (const secret of secrets) expect(written.filter((line) => line.includes(secret))).toEqual([]);
    }
  });
});
