// TLS to PostgreSQL and Redis with a self-signed certificate, as platforms have it: refused unless
// a setting allows it. Relays that end TLS stand in front of the real stores.
import { readFileSync } from 'node:fs';
import { connect, createServer as createPlainServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { createPostgres } from '../../src/platform/postgres/client.js';
import { createFailFastRedis, createRedis } from '../../src/platform/redis/client.js';
import { eventually } from '../support/eventually.js';
import { runScript } from '../support/run-script.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';

const FOLDER = join(packageRoot, 'test', 'support', 'tls');
const CERTIFICATE = {
  key: readFileSync(join(FOLDER, 'self-signed.key')),
  cert: readFileSync(join(FOLDER, 'self-signed.pem')),
};
const SSL_REQUEST_BYTES = 8;
const silent = pino({ level: 'silent' });
const servers: Server[] = [];
const sockets = new Set<Socket>();
let databases: TestDatabases;
let postgresUrl: string;
let redisUrl: string;

function relay(client: Socket, url: string): void {
  const { hostname, port } = new URL(url);
  const store = connect(Number(port), hostname);
  for (const socket of [client, store]) {
    sockets.add(socket);
    socket.on('error', () => {});
  }
  client.pipe(store).pipe(client);
}

async function listen(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `localhost:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

beforeAll(async () => {
  databases = await createTestDatabases();
  const { DATABASE_URL, REDIS_URL } = databases.config;
  const redis = createTlsServer(CERTIFICATE, (client) => relay(client, REDIS_URL));
  redisUrl = withHost(REDIS_URL.replace(/^redis:/, 'rediss:'), await listen(redis));
  // A client of PostgreSQL asks for TLS first.
  const postgres = createPlainServer((client) => {
    client.once('data', (request) => {
      if (request.length !== SSL_REQUEST_BYTES) return client.destroy();
      client.write('S');
      relay(new TLSSocket(client, { isServer: true, ...CERTIFICATE }), DATABASE_URL);
    });
    client.on('error', () => {});
    sockets.add(client);
  });
  postgresUrl = withHost(DATABASE_URL, await listen(postgres));
});

afterAll(async () => {
  for (const server of servers) server.close();
  for (const socket of sockets) socket.destroy();
  await databases?.close();
});

function withHost(text: string, host: string): string {
  return text.replace(/@[^/]+\//, `@${host}/`);
}

async function askPostgres(url: string, tls: 'url' | 'verify' | 'self-signed'): Promise<unknown> {
  const postgres = createPostgres({ DATABASE_URL: url, DATABASE_TLS: tls }, { poolMax: 1 });
  try {
    return (await postgres.raw('SELECT 1 AS one')).rows;
  } finally {
    await postgres.destroy();
  }
}

test('PostgreSQL with a self-signed certificate is used only when the setting says so', async () => {
  expect(await askPostgres(postgresUrl, 'self-signed')).toEqual([{ one: 1 }]);
  expect(await askPostgres(`${postgresUrl}?sslmode=require`, 'self-signed')).toEqual([{ one: 1 }]);
  await expect(askPostgres(postgresUrl, 'verify')).rejects.toThrow('self-signed certificate');
  await expect(askPostgres(`${postgresUrl}?sslmode=verify-full`, 'url')).rejects.toThrow('self-signed certificate');
});

test('Redis with a self-signed certificate is used only when the setting says so, also by copies of a client', async () => {
  const trusting = { REDIS_URL: redisUrl, REDIS_TLS: 'self-signed' } as const;
  const redis = createRedis(trusting);
  const copy = redis.duplicate();
  const failFast = createFailFastRedis(trusting, silent);
  try {
    expect(await redis.ping()).toBe('PONG');
    expect(await copy.ping()).toBe('PONG');
    await eventually(async () => expect(await failFast.ping()).toBe('PONG'));
  } finally {
    for (const client of [redis, copy, failFast]) client.disconnect();
  }

  const strict = createRedis({ REDIS_URL: redisUrl, REDIS_TLS: 'verify' });
  const reason = await new Promise<Error>((resolve) => strict.once('error', resolve));
  strict.disconnect();
  expect(reason.message).toContain('self-signed certificate');
});

test('a process names a Redis without TLS whose address asks for it, and the reverse', async () => {
  const said: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => said.push(line) });
  const plain = databases.config.REDIS_URL.replace(/^redis:/, 'rediss:');
  const clients = [plain, redisUrl.replace(/^rediss:/, 'redis:')].map((REDIS_URL) =>
    createFailFastRedis({ REDIS_URL }, log),
  );
  try {
    await eventually(() => {
      expect(said.join()).toContain('Redis cannot be used: it has no TLS: begin REDIS_URL with redis://');
      expect(said.join()).toContain('Redis cannot be used: it has TLS: begin REDIS_URL with rediss://');
    });
  } finally {
    for (const client of clients) client.disconnect();
  }
});

describe('npm run doctor', () => {
  const doctor = (REDIS_URL: string) => runScript(['dist/cli/doctor.js'], { ...databases.env, REDIS_URL });

  test('names a Redis without TLS whose address asks for it, and the reverse', async () => {
    const plain = String(databases.env.REDIS_URL);
    const asked = await doctor(plain.replace(/^redis:/, 'rediss:'));
    expect(asked.output).toMatch(/✗ Redis: it has no TLS: begin REDIS_URL with redis:\/\/\n +→ see that it runs/);
    const unasked = await doctor(redisUrl.replace(/^rediss:/, 'redis:'));
    expect(unasked.output).toMatch(/✗ Redis: it has TLS: begin REDIS_URL with rediss:\/\/\n +→ see that it runs/);
    expect([asked.status, unasked.status]).toEqual([1, 1]);
  });

  test('names the setting for a certificate of Redis that is not trusted', async () => {
    const { output } = await doctor(redisUrl);
    expect(output).toMatch(/✗ Redis: self-signed certificate\n +→ .*\(REDIS_TLS for its certificate\)/);
  });
});
