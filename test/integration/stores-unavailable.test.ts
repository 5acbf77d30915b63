// Behaviour while a store is unavailable: each process that needs it reports that it is not ready,
// and why; its metrics lack only those of the store; requests that need the store get 503, never
// 500, and all others work.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { createTeam, createTeamProject } from '../support/accounts.js';
import { expectDocumented } from '../support/contract.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabases, type ProcessGroup, startProcesses, type TestDatabases } from '../support/stack.js';
import { type StoreRelay, startStoreRelay } from '../support/store-relay.js';

const SETTING = { redis: 'REDIS_URL', postgres: 'DATABASE_URL', clickhouse: 'CLICKHOUSE_URL' } as const;
type Store = keyof typeof SETTING;
const STORES = Object.keys(SETTING) as Store[];
const PROCESSES = ['web', 'query', 'worker'] as const;
type Name = (typeof PROCESSES)[number];

let databases: TestDatabases;
let processes: ProcessGroup;
let keys: { used: string; secret: string; admin: string; session: string; project: string };
const relays = new Map<Store, StoreRelay>();

beforeAll(async () => {
  databases = await createTestDatabases();
  keys = await createKeys();
  const env: Record<string, string> = { ...databases.env };
  for (const store of STORES) {
    const relay = await startStoreRelay(String(databases.env[SETTING[store]]));
    relays.set(store, relay);
    env[SETTING[store]] = relay.url;
  }
  processes = await startProcesses(env);
});

afterEach(async () => {
  for (const relay of relays.values()) await relay.restore();
  // All processes have lost their connections to a store that was unavailable.
  for (const process of PROCESSES) {
    await eventually(async () => expect(await (await ask(process, '/readyz')).text()).toBe('ready'), 60_000);
  }
}, 140_000);

afterAll(async () => {
  await processes?.stop();
  for (const relay of relays.values()) await relay.close();
  await databases?.close();
});

async function createKeys() {
  const postgres = createPostgres(databases.config);
  try {
    const { organization, people } = await createTeam(postgres);
    const used = await createTeamProject(postgres, databases, organization.id);
    const other = await createTeamProject(postgres, databases, organization.id);
    return {
      used: used.secretKey,
      secret: other.secretKey,
      admin: organization.adminKey,
      session: people.owner.session,
      project: used.id,
    };
  } finally {
    await postgres.destroy();
  }
}

const relayOf = (store: Store): StoreRelay => relays.get(store) as StoreRelay;

const ask = (process: Name, path: string): Promise<Response> =>
  fetch(`${processes.get(process).url}${path}`, { signal: AbortSignal.timeout(10_000) });

async function metricsOf(process: Name): Promise<string> {
  const answer = await ask(process, '/metrics');
  expect(answer.status).toBe(200);
  return answer.text();
}

const NEEDED_BY: Record<Store, readonly Name[]> = {
  redis: ['web', 'worker'],
  postgres: ['web', 'query', 'worker'],
  clickhouse: ['query', 'worker'],
};
/** Metrics that a process computes from a store at every scrape. */
const MEASURED_IN: Record<Store, readonly [Name, metric: string][]> = {
  redis: [
    ['web', 'ingest_lag_seconds'],
    ['worker', 'queue_jobs'],
    ['worker', 'queue_oldest_waiting_seconds'],
  ],
  postgres: [
    ['worker', 'identity_outbox_rows'],
    ['worker', 'privacy_erasures_overdue'],
    ['worker', 'privacy_erasure_oldest_waiting_seconds'],
  ],
  clickhouse: [],
};

const aValueOf = (metric: string): RegExp => new RegExp(`^${metric}\\b.* \\d`, 'm');

describe.each(['cut', 'silence'] as const)('/readyz and /metrics after a %s', (way) => {
  test.each(STORES)('of %s name the unavailable store', async (store) => {
    for (const [process, metric] of MEASURED_IN[store]) {
      await eventually(async () => expect(await metricsOf(process)).toMatch(aValueOf(metric)), 30_000);
    }
    await relayOf(store)[way]();
    const told = NEEDED_BY[store].map(async (process) => {
      const [ready, metrics] = await Promise.all([ask(process, '/readyz'), metricsOf(process)]);
      expect([ready.status, await ready.json()]).toEqual([503, { error: `not ready: cannot use ${store}` }]);
      expect(metrics).toContain('process_cpu_seconds_total');
      expect(metrics).toContain(`store_reachable{store="${store}"} 0`);
      for (const [measuredBy, metric] of MEASURED_IN[store]) {
        if (measuredBy === process) expect(metrics).not.toMatch(aValueOf(metric));
      }
    });
    await Promise.all(told);
  });
});

interface Sent {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

async function send(
  route: string,
  { key, body, headers }: Sent = {},
): Promise<{ status: number; type: string; text: string }> {
  const [method = '', path = ''] = route.split(' ');
  const response = await fetch(processes.url + path, {
    method,
    headers: { ...(key !== undefined && { 'X-API-Key': key }), 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(20_000),
  });
  const [contentType, text] = [response.headers.get('Content-Type'), await response.text()];
  expectDocumented(route, { status: response.status, contentType, text });
  return { status: response.status, type: contentType ?? '', text };
}

const EVENT = { event_type: 'a' };
const QUERY = { q: 'a | count' };
const SIGN_IN_LINK = `/sign-in/${'a'.repeat(43)}.${Date.now() + 3_600_000}`;
const withSession = (): Record<string, string> => ({ Cookie: `service_session=${keys.session}` });

/** Routes of each class that need the store (503) and that do not. */
const ANSWERS: Record<Store, readonly [status: number, route: string, sent: () => Sent][]> = {
  redis: [
    [503, 'POST /track', () => ({ key: keys.used, body: EVENT })],
    [503, 'POST /track', () => ({ key: keys.used, body: { ...EVENT, insert_id: 'i' } })],
    [503, 'POST /identify', () => ({ key: keys.used, body: { user_id: 'u' } })],
    [503, 'DELETE /api/gdpr/users/u', () => ({ key: keys.used })],
    [503, 'GET /api/gdpr/users/u/export', () => ({ key: keys.used })],
    [200, 'POST /query', () => ({ key: keys.used, body: QUERY })],
    [200, 'GET /api/orgs', () => ({ headers: withSession() })],
  ],
  postgres: [
    [200, 'POST /track', () => ({ key: keys.used, body: EVENT })],
    [503, 'POST /track', () => ({ key: keys.secret, body: EVENT })],
    [503, 'POST /query', () => ({ key: keys.secret, body: QUERY })],
    [503, 'GET /api/gdpr/audit', () => ({ key: keys.used })],
    [503, 'GET /api/admin/projects', () => ({ key: keys.admin })],
    [503, 'PUT /api/dashboard-sync/a', () => ({ key: keys.secret, body: { source_yaml: 'version: 1' } })],
    [503, 'GET /api/orgs', () => ({ headers: withSession() })],
    [503, 'POST /api/orgs', () => ({ headers: withSession(), body: { name: 'More' } })],
    [503, `GET /api/projects/{project}/dashboards`, () => ({ headers: withSession() })],
    [503, 'GET /', () => ({ headers: { ...withSession(), Accept: 'text/html' } })],
    [503, 'GET /start', () => ({ headers: withSession() })],
    [503, 'GET /projects/{project}/ask', () => ({ headers: withSession() })],
    [503, 'GET /invitations/a', () => ({})],
    [503, `GET ${SIGN_IN_LINK}`, () => ({})],
    [503, `POST ${SIGN_IN_LINK}`, () => ({})],
    [503, 'POST /auth/logout', () => ({ headers: withSession() })],
    [200, 'GET /openapi.json', () => ({})],
  ],
  clickhouse: [
    [503, 'POST /query', () => ({ key: keys.used, body: QUERY })],
    [503, 'POST /api/projects/{project}/query', () => ({ headers: withSession(), body: QUERY })],
    [200, 'POST /track', () => ({ key: keys.used, body: EVENT })],
    [200, 'POST /identify', () => ({ key: keys.used, body: { user_id: 'u' } })],
  ],
};

describe('requests while a store is unavailable', () => {
  test.each(STORES)('answer 503 only where %s is needed', async (store) => {
    const used = () => send('POST /track', { key: keys.used, body: EVENT });
    // The store of the previous case may not be available again yet.
    await eventually(async () => expect(await used()).toMatchObject({ status: 200, text: '{"accepted":1}' }), 30_000);
    await relayOf(store).cut();
    for (const [status, route, sent] of ANSWERS[store]) {
      const answer = await send(route.replace('{project}', keys.project), sent());
      const logged = processes.get('web').output.slice(-5).join('\n');
      expect([route, answer.status, answer.text], logged).toEqual([route, status, expect.any(String)]);
      if (status !== 503) continue;
      if (route === 'GET /') expect(answer).toMatchObject({ type: expect.stringContaining('text/html') });
      else expect(JSON.parse(answer.text)).toEqual({ error: expect.stringMatching(/; try again$/) });
    }
    for (const process of PROCESSES) {
      // An unavailable store is not an internal error.
      const lines = processes.get(process).output.map((line) => JSON.parse(line) as { level: number; msg: string });
      expect(lines.filter(({ level, msg }) => level >= 50 && msg === 'request failed')).toEqual([]);
    }
  });
});

describe('while PostgreSQL keeps connections open and answers nothing', () => {
  const WAIT_MS = 15_000;
  const LATE_MS = 13_000;
  const timed = async (route: string, sent: Sent): Promise<[status: number, isLate: boolean]> => {
    const start = performance.now();
    const { status } = await send(route.replace('{project}', keys.project), sent);
    return [status, performance.now() - start > LATE_MS];
  };

  test('people get 503 within ten seconds, also many at once, and events are taken', { timeout: 90_000 }, async () => {
    const asPerson = { headers: withSession() };
    for (let warmed = 0; warmed < 2; warmed += 1) {
      expect(await timed('GET /api/orgs', asPerson)).toEqual([200, false]);
      expect(await timed('POST /track', { key: keys.used, body: EVENT })).toEqual([200, false]);
    }
    relayOf('postgres').silence();
    // The connections that are open, then new ones.
    for (const _round of [1, 2]) {
      const asked = [
        ...Array.from({ length: 12 }, () => timed('GET /api/orgs', asPerson)),
        timed('POST /api/orgs', { ...asPerson, body: { name: 'More' } }),
        timed('GET /api/projects/{project}/dashboards', asPerson),
      ];
      expect(await timed('POST /track', { key: keys.used, body: EVENT })).toEqual([200, false]);
      for (const answer of await Promise.all(asked)) expect(answer).toEqual([503, false]);
    }
    await relayOf('postgres').restore();
    await eventually(async () => expect(await timed('GET /api/orgs', asPerson)).toEqual([200, false]), WAIT_MS);
  });
});

test('a worker is not ready while PostgreSQL refuses writes, and web goes on', async () => {
  const admin = createPostgres(writingAnyway(databases.config));
  const name = new URL(databases.config.DATABASE_URL).pathname.slice(1);
  const renew = async () => {
    await relayOf('postgres').cut();
    await relayOf('postgres').restore();
  };
  try {
    await admin.raw('ALTER DATABASE ?? SET default_transaction_read_only = on', [name]);
    await renew();
    await eventually(async () => {
      const metrics = await metricsOf('worker');
      // It reads from PostgreSQL again.
      expect(metrics).toMatch(aValueOf('identity_outbox_rows'));
      expect(metrics).toContain('store_reachable{store="postgres"} 0');
    }, 30_000);
    expect((await ask('worker', '/readyz')).status).toBe(503);
    await eventually(async () => expect(await (await ask('web', '/readyz')).text()).toBe('ready'), 30_000);
  } finally {
    await admin.raw('ALTER DATABASE ?? RESET default_transaction_read_only', [name]);
    await admin.destroy();
    await renew();
  }
});

/** Connections whose transactions write although the database refuses that by default. */
function writingAnyway({ DATABASE_URL }: TestDatabases['config']): { DATABASE_URL: string } {
  const url = new URL(DATABASE_URL);
  url.searchParams.set('options', '-c default_transaction_read_only=off');
  return { DATABASE_URL: url.href };
}

test('METRICS_ENABLED=false closes /metrics of every process', async () => {
  const closed = await startProcesses({ ...databases.env, METRICS_ENABLED: 'false' });
  try {
    for (const process of PROCESSES) {
      const answer = await fetch(`${closed.get(process).url}/metrics`);
      expect([process, answer.status]).toEqual([process, 404]);
    }
  } finally {
    await closed.stop();
  }
});
