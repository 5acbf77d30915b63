// Attacks of a hostile tenant, with its own keys or none. Each runs until its process is ended.
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Random } from '../random.js';
import { BULKY_PERSON, ERASED_PEOPLE, erasedPerson, type Tenant } from './tenants.js';

export interface Attack {
  /** Description for the table. */
  readonly what: string;
  /** Service settings that differ from the defaults. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Time until the attack has an effect. */
  readonly headStartMs?: number;
  run(tenant: Tenant, random: Random): Promise<void>;
}

const BATCH_EVENTS = 2000;
const QUERY_BYTES_MAX = 16 * 1024;
const YAML_BYTES = 60 * 1024;
const CARDS = 700;
const BURST_REQUESTS = 100;
const BURST_EVERY_MS = 4000;
const GROUPS_MAX = 600;
const REFUSED_PAUSE_MS = 200;
const HALF_OPEN_CONNECTIONS = 1000;
const SLOW_READERS = 16;
const SLOW_READ_EVERY_MS = 1000;

const times = <T>(count: number, create: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => create(index));

/** Runs `count` concurrent loops; a loop pauses after a rejected request. */
async function inLoops(count: number, send: () => Promise<number>): Promise<void> {
  const loop = async (): Promise<void> => {
    for (;;) {
      const status = await send().catch(() => 0);
      if (status === 0 || status === 429 || status === 503) await delay(REFUSED_PAUSE_MS);
    }
  };
  await Promise.all(times(count, loop));
}

async function send(
  tenant: Tenant,
  request: { method: string; path: string; body?: string | Buffer; key?: string; headers?: Record<string, string> },
): Promise<number> {
  const { method, path, body, key = tenant.secretKey, headers } = request;
  const response = await fetch(tenant.url + path, {
    method,
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body }),
  });
  await response.arrayBuffer();
  return response.status;
}

const query = (tenant: Tenant, q: string, options: { format?: string; limit?: number } = {}): Promise<number> =>
  send(tenant, { method: 'POST', path: '/query', body: JSON.stringify({ q, format: 'json', ...options }) });

const largeBatch = (): string =>
  JSON.stringify({
    events: times(BATCH_EVENTS, (index) => ({
      event_type: 'visit',
      device_id: `device-${index}`,
      event_properties: { url: `https://shop.example/${index}`, plan: 'pro', amount: index },
    })),
  });

const track = (tenant: Tenant, body: string): Promise<number> =>
  send(tenant, { method: 'POST', path: '/track', body, key: tenant.publicKey });

const syncDashboard = (tenant: Tenant, sourceYaml: string): Promise<number> =>
  send(tenant, {
    method: 'PUT',
    path: '/api/dashboard-sync/attack',
    body: JSON.stringify({ source_yaml: sourceYaml }),
  });

const groupedBy = (count: number): string =>
  `* | count by ${times(count, (index) => `event_properties.p${index}`).join(', ')}`;

/** Finds the largest number of groups that the service accepts. */
async function findWidestQuery(tenant: Tenant): Promise<string> {
  for (let count = GROUPS_MAX; count > 1; count = Math.floor(count / 2)) {
    const status = await fetch(`${tenant.url}/query`, {
      method: 'POST',
      headers: { 'X-API-Key': tenant.secretKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ q: `${groupedBy(count)} | where event_type = "never"`, format: 'json' }),
      signal: AbortSignal.timeout(2000),
    }).then(
      (response) => response.status,
      // It runs, so it is wide enough.
      () => 200,
    );
    if (status !== 400) return groupedBy(count);
    await delay(100);
  }
  return groupedBy(1);
}

async function askWideQueries(tenant: Tenant, loops: number): Promise<void> {
  const widest = await findWidestQuery(tenant);
  await inLoops(loops, () => query(tenant, widest));
}

const manyCards = (): string =>
  [
    'version: 1',
    'title: Many',
    'sections:',
    '  - title: S',
    '    cards:',
    ...times(CARDS, (index) => `      - {id: c${index}, title: C, kind: metric, viz: number, query: '* | count'}`),
  ].join('\n');

const insertIdsWithoutTime = (random: Random): Buffer => {
  const prefix = 'x'.repeat(480) + random.between(1, 2 ** 31);
  const events = times(BATCH_EVENTS, (index) => ({ event_type: 'visit', insert_id: `${prefix}-${index}` }));
  // Similar ids compress well: few bytes on the wire, many in Redis.
  return gzipSync(JSON.stringify({ events }), { level: 1 });
};

/** Reads a little every second. */
const readSlowly = (tenant: Tenant): Promise<number> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(tenant.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET /api/gdpr/users/${BULKY_PERSON}/export HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${tenant.secretKey}\r\n\r\n`,
    );
    let isRefused = false;
    socket.on('data', (chunk: Buffer) => {
      if (/^HTTP\/1\.1 [45]/.test(chunk.toString('latin1', 0, 12))) {
        isRefused = true;
        socket.destroy();
      }
      socket.pause();
      setTimeout(() => socket.resume(), SLOW_READ_EVERY_MS);
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve(isRefused ? 429 : 200));
  });

const holdHalfOpen = (tenant: Tenant): Promise<number> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(tenant.url);
    const socket = connect(Number(port), hostname, () => socket.write('POST /track HTTP/1.1\r\nHost: x\r\nX-Slow: '));
    socket.on('error', () => {});
    socket.resume();
    socket.once('close', () => resolve(0));
  });

const sendGarbage = (tenant: Tenant): Promise<number> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(tenant.url);
    const socket = connect(Number(port), hostname, () => socket.write('this is no request\r\n\r\n'));
    socket.on('error', () => {});
    socket.resume();
    socket.once('close', () => resolve(200));
  });

export const ATTACKS = {
  'first-times': {
    what: '512-character insert_ids without a time, public key',
    // A smaller limit, so that the attack fills it within seconds instead of a day.
    settings: { REDIS_MEMORY_HIGH_WATER_BYTES: String(64 * 1024 * 1024) },
    headStartMs: 15_000,
    run: (tenant, random) =>
      inLoops(8, () =>
        send(tenant, {
          method: 'POST',
          path: '/track',
          body: insertIdsWithoutTime(random),
          key: tenant.publicKey,
          headers: { 'Content-Encoding': 'gzip' },
        }),
      ),
  },
  'yaml-brackets': {
    what: '60 KB of `[` as a dashboard',
    run: (tenant) => inLoops(8, () => syncDashboard(tenant, '['.repeat(YAML_BYTES))),
  },
  'yaml-cards': {
    what: '700 valid cards in a dashboard',
    run: (tenant) => inLoops(8, () => syncDashboard(tenant, manyCards())),
  },
  unparsable: {
    what: '16 KiB of query text that does not parse',
    run: (tenant) => inLoops(20, () => query(tenant, '| ( '.repeat(QUERY_BYTES_MAX / 4))),
  },
  'queries-4': {
    what: '4 queries at once, grouped by 600 properties or as many as are accepted',
    run: (tenant) => askWideQueries(tenant, 4),
  },
  'queries-40': {
    what: '40 of them at once',
    run: (tenant) => askWideQueries(tenant, 40),
  },
  'large-answers': {
    what: '10,000 rows of 20 properties as an answer, 6 at once',
    run: async (tenant) => {
      const ask = (format: string) => query(tenant, '* | list | last 30d', { format, limit: 10_000 });
      await Promise.all([inLoops(3, () => ask('json')), inLoops(3, () => ask('llm'))]);
    },
  },
  'large-batches': {
    what: '100 requests of 2,000 events at once, every 4 s',
    run: async (tenant) => {
      const body = largeBatch();
      for (;;) {
        const startedAt = Date.now();
        await Promise.all(times(BURST_REQUESTS, () => track(tenant, body).catch(() => 0)));
        await delay(Math.max(0, startedAt + BURST_EVERY_MS - Date.now()));
      }
    },
  },
  flood: {
    what: 'events as fast as they are accepted',
    run: (tenant) => {
      const body = largeBatch();
      return inLoops(16, () => track(tenant, body));
    },
  },
  erasures: {
    what: '100 erasures at once, again and again',
    run: (tenant, random) =>
      inLoops(100, () =>
        send(tenant, { method: 'DELETE', path: `/api/gdpr/users/${erasedPerson(random.between(1, ERASED_PEOPLE))}` }),
      ),
  },
  exports: {
    what: '16 exports that are read slowly',
    run: (tenant) => inLoops(SLOW_READERS, () => readSlowly(tenant)),
  },
  connections: {
    what: '1,000 connections that never finish a header, and garbage on others',
    run: async (tenant) => {
      await Promise.all([
        inLoops(HALF_OPEN_CONNECTIONS, () => holdHalfOpen(tenant)),
        inLoops(20, () => sendGarbage(tenant)),
      ]);
    },
  },
} as const satisfies Record<string, Attack>;

export type AttackName = keyof typeof ATTACKS;
export const attackOf = (name: AttackName): Attack => ATTACKS[name];

export const isAttack = (name: string): name is AttackName => Object.hasOwn(ATTACKS, name);
