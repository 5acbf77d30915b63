// Rate limits over HTTP, disabled features, and rate limits while Redis is unavailable.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRateLimits } from '../../src/access/rate-limits.js';
import { upsertPerson } from '../../src/accounts/people.js';
import { createSession } from '../../src/accounts/sessions.js';
import type { NewProject } from '../../src/accounts/store.js';
import { createLogger } from '../../src/platform/log.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { createFailFastRedis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { takePort } from '../support/take-port.js';
import { createTestProject, openEventStore, track } from '../support/track.js';

const LIMIT = 5;

let databases: TestDatabases;
let processes: ProcessGroup;
let project: NewProject;

beforeAll(async () => {
  databases = await createTestDatabases({
    TRACK_REQUESTS_PER_SECOND: String(LIMIT),
    QUERY_REQUESTS_PER_SECOND: String(LIMIT),
    SESSION_REQUESTS_PER_SECOND: String(LIMIT),
    SIGN_IN_REQUESTS_PER_MINUTE: String(LIMIT),
    // One key or session must not use up what its project or person may send.
    RATE_LIMIT_PROJECT_FACTOR: '100',
    RATE_LIMIT_PERSON_FACTOR: '100',
    TRUST_PROXY: 'loopback',
    FEATURES_OFF: 'identify, dashboards, privacy',
    IDP_PRESET: 'google',
    IDP_CLIENT_ID: 'test',
    IDP_CLIENT_SECRET: 'test',
  });
  project = await createTestProject(databases);
  processes = await startProcesses(databases.env, ['query', 'web']);
});

afterAll(async () => {
  await processes?.stop();
  await databases?.close();
});

const send = () => track(processes.url, project.publicKey, { event_type: 'a' });
const ask = () =>
  fetch(`${processes.url}/query`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-Key': project.secretKey },
    body: JSON.stringify({ q: 'a | count' }),
  });

/** Sends many requests at once: one after the other, they may be too slow for the limit. */
const untilRefused = <T extends { readonly status: number }>(request: () => Promise<T>): Promise<T> =>
  eventually(async () => {
    const answers = await Promise.all(Array.from({ length: 4 * LIMIT }, request));
    const refused = answers.find(({ status }) => status !== 200);
    if (refused === undefined) throw new Error('no request is refused');
    return refused;
  });

describe('rate limit of a key', () => {
  test('answers 429 with Retry-After: 60 to this key only, until the next second', async () => {
    const refused = await untilRefused(send);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('60');
    expect(refused.body.error).toBe(`too many requests; the limit is ${LIMIT} per second for a key`);
    expect(await track(processes.url, project.secretKey, { event_type: 'a' })).toMatchObject({ status: 200 });
    await eventually(async () => expect(await send()).toMatchObject({ status: 200 }));
  });

  test.each([
    ['/e/', 503, (key: string) => [{ event: 'a', distinct_id: 'd', properties: { token: key } }]],
    ['/2/httpapi', 429, (key: string) => ({ api_key: key, events: [{ event_type: 'a', device_id: 'd' }] })],
  ])('answers the SDKs at %s with %i, after which they repeat', async (path, status, bodyFor) => {
    const { publicKey } = await createTestProject(databases);
    const init = { method: 'POST', body: JSON.stringify(bodyFor(publicKey)) };
    const refused = await untilRefused(() => fetch(processes.url + path, init));
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([status, '60']);
  });

  test('refuses queries exactly above the limit', async () => {
    const startedAt = Date.now();
    const answers = await Promise.all(Array.from({ length: 4 * LIMIT }, ask));
    const windows = 1 + Math.ceil((Date.now() - startedAt) / 1000);
    const answered = answers.filter(({ status }) => status === 200).length;
    const refused = answers.filter(({ status }) => status === 429);
    expect(answered + refused.length).toBe(answers.length);
    expect(answered).toBeGreaterThanOrEqual(LIMIT);
    expect(answered).toBeLessThanOrEqual(LIMIT * windows);
    for (const { headers } of refused) expect(headers.get('Retry-After')).toBe('60');
  });
});

describe('rate limits of people', () => {
  test.each(['/api/orgs', '/', '/start', '/projects/7/ask'])('count each session separately at %s', async (path) => {
    const postgres = createPostgres(databases.config);
    const person = { provider: 'test', subject: path, email: undefined, emailVerified: false, name: undefined };
    const id = await upsertPerson(postgres, person);
    const [one, other] = [await createSession(postgres, id), await createSession(postgres, id)];
    await postgres.destroy();
    const visit = (session: string) =>
      fetch(processes.url + path, { headers: { Cookie: `service_session=${session}`, Accept: 'text/html' } });
    expect((await untilRefused(() => visit(one))).status).toBe(429);
    expect((await visit(other)).status).toBe(200);
  });

  test('count sign-ins by client address', async () => {
    const begin = (address: string) =>
      fetch(`${processes.url}/auth/idp`, { redirect: 'manual', headers: { 'X-Forwarded-For': address } });
    const statusesFrom = async (addresses: readonly string[]) =>
      (await Promise.all(addresses.map(begin))).map(({ status }) => status).sort();
    const once = Array.from({ length: LIMIT }, () => 302);
    expect(await statusesFrom(Array.from({ length: LIMIT + 1 }, () => '203.0.113.7'))).toEqual([...once, 429]);
    expect((await begin('203.0.113.8')).status).toBe(302);
    // As a server that listens to both kinds of addresses names one of IPv4.
    expect((await begin('::ffff:203.0.113.7')).status).toBe(429);
    expect((await begin('::ffff:203.0.113.8')).status).toBe(302);
    // An IPv6 network of a subscriber (/64) counts as one address.
    expect(await statusesFrom(Array.from({ length: LIMIT + 1 }, (_, n) => `2001:db8::${n}`))).toEqual([...once, 429]);
    expect((await begin('2001:db8:0:1::1')).status).toBe(302);
    expect((await begin('203.0.113.7')).headers.get('Retry-After')).toBe('60');
  });

  test('count only the address that the proxy adds, not those that a client claims', async () => {
    const behindOne = await startProcesses({ ...databases.env, TRUST_PROXY: '1' }, ['web']);
    try {
      const begin = (forwardedFor: string) =>
        fetch(`${behindOne.url}/auth/idp`, { redirect: 'manual', headers: { 'X-Forwarded-For': forwardedFor } });
      const claims = Array.from({ length: LIMIT + 1 }, (_, n) => begin(`192.0.2.${n}, 203.0.113.9`));
      const statuses = (await Promise.all(claims)).map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array.from({ length: LIMIT }, () => 302), 429]);
      expect((await begin('203.0.113.9, 203.0.113.10')).status).toBe(302);
    } finally {
      await behindOne.stop();
    }
  });
});

describe('rate limits of several processes', () => {
  const log = createLogger({ process: 'test', level: 'silent' });
  const settings = () => ({ ...databases.config, SIGN_IN_REQUESTS_PER_MINUTE: 10 });
  const takeTen = (limits: ReturnType<typeof createRateLimits>, key: string) =>
    Promise.allSettled(Array.from({ length: 10 }, () => limits.signIn.take(key)));
  const countTaken = (results: readonly PromiseSettledResult<void>[]) =>
    results.filter(({ status }) => status === 'fulfilled').length;

  test('are shared through Redis', async () => {
    const [one, two] = [createFailFastRedis(databases.config, log), createFailFastRedis(databases.config, log)];
    await Promise.all([one.ping(), two.ping()]).catch(() => {});
    await eventually(() => expect([one.status, two.status]).toEqual(['ready', 'ready']));
    const results = await Promise.all([
      takeTen(createRateLimits(settings(), one), 'shared'),
      takeTen(createRateLimits(settings(), two), 'shared'),
    ]);
    expect(countTaken(results.flat())).toBe(10);
    one.disconnect();
    two.disconnect();
  });

  test('apply per process while Redis is unavailable', async () => {
    const redis = createFailFastRedis({ REDIS_URL: `redis://127.0.0.1:${await takePort()}` }, log);
    const limits = createRateLimits(settings(), redis);
    expect(countTaken(await takeTen(limits, 'alone'))).toBe(10);
    expect(countTaken(await takeTen(limits, 'alone'))).toBe(0);
    expect(() => limits.track.take({ key: 'alone' })).not.toThrow();
    redis.disconnect();
  });
});

test('geography headers of a client are ignored without a trusted proxy', async () => {
  const settings = { GEOIP_HEADERS: 'country=x-country', TRUST_PROXY: '192.0.2.1' };
  const [behindProxy, direct] = [
    await startProcesses({ ...databases.env, ...settings, TRUST_PROXY: 'loopback' }, ['web', 'worker']),
    await startProcesses({ ...databases.env, ...settings }, ['web']),
  ];
  const store = openEventStore(databases);
  try {
    const there = await createTestProject(databases);
    const send = (url: string, event_type: string) =>
      track(url, there.publicKey, { event_type }, { 'X-Country': 'NZ', 'X-Forwarded-For': '192.0.2.1' });
    expect(await send(direct.url, 'direct')).toMatchObject({ status: 200 });
    expect(await send(behindProxy.url, 'behind-proxy')).toMatchObject({ status: 200 });
    await eventually(async () => expect(await store.count(there.id)).toBe(2));
    const rows = await store.rows<{ event_type: string }>(there.id, 'event_type, geo_country');
    expect(rows.sort((a, b) => (a.event_type < b.event_type ? -1 : 1))).toEqual([
      { event_type: 'behind-proxy', geo_country: 'NZ' },
      { event_type: 'direct', geo_country: '' },
    ]);
  } finally {
    await Promise.all([behindProxy.stop(), direct.stop()]);
    await store.client.close();
  }
});

describe('a disabled feature', () => {
  test.each([
    ['POST', '/identify', 'identify'],
    ['PUT', '/api/dashboard-sync/a', 'dashboards'],
    ['GET', '/api/projects/7/dashboards', 'dashboards'],
    ['DELETE', '/api/gdpr/users/7', 'privacy'],
    ['POST', '/api/projects/7/erasures', 'privacy'],
    ['GET', '/api/projects/7/erasures/7', 'privacy'],
    ['POST', '/api/projects/7/exports', 'privacy'],
    ['GET', '/api/projects/7/audit', 'privacy'],
  ])('%s %s answers 503', async (method, path, feature) => {
    const response = await fetch(`${processes.url}${path}`, { method });
    expect([response.status, await response.json()]).toEqual([503, { error: `the feature "${feature}" is disabled` }]);
  });
});
