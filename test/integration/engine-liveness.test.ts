// Liveness checks: an engine that no longer responds is killed and restarted; a busy or paused one
// is not.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { basicAuthorization } from '../../standalone/clickhouse-config.js';
import { embeddedClickHouse } from '../../standalone/clickhouse-server.js';
import { findFreePort } from '../../standalone/free-port.js';
import { embeddedPostgres } from '../../standalone/postgres-server.js';
import { embeddedRedis } from '../../standalone/redis-server.js';
import { type LivenessCheck, type ProcessSpec, SupervisedProcess } from '../../standalone/supervised-process.js';
import { eventually } from '../support/eventually.js';

interface EngineOptions {
  /** Does not exist yet. */
  readonly directory: string;
  readonly port: number;
}

const ENGINES: readonly [name: string, (options: EngineOptions) => ProcessSpec | Promise<ProcessSpec>][] = [
  ['ClickHouse', (options) => embeddedClickHouse({ ...options, password: 'password', database: 'analytics' }).spec],
  ['Redis', (options) => embeddedRedis({ ...options, password: 'password' }).spec],
  [
    'PostgreSQL',
    async (options) =>
      (await embeddedPostgres({ ...options, superuserPassword: 'superuser', password: 'password' })).spec,
  ],
];
const configureClickHouse = ENGINES[0]?.[1] as (options: EngineOptions) => ProcessSpec;

const directories: string[] = [];
const servers: SupervisedProcess[] = [];
/** Reasons of the restarts. */
let reasons: string[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
  reasons = [];
});

async function newOptions(): Promise<EngineOptions> {
  const directory = mkdtempSync(join(tmpdir(), 'event-analytics-liveness-'));
  directories.push(directory);
  return { directory: join(directory, 'engine'), port: await findFreePort() };
}

async function start(spec: ProcessSpec, liveness: Partial<LivenessCheck>): Promise<SupervisedProcess> {
  if (spec.liveness === undefined) throw new Error('Its answers are not watched.');
  const server = new SupervisedProcess(
    { ...spec, liveness: { ...spec.liveness, ...liveness } },
    { line: () => {}, started: () => {}, ended: () => {}, restarting: (_name, reason) => reasons.push(reason) },
  );
  servers.push(server);
  await server.start();
  return server;
}

const send = (server: SupervisedProcess, signal: NodeJS.Signals): boolean => process.kill(server.pid ?? 0, signal);

test.each(ENGINES)('%s is killed and restarted when it stops responding', async (_name, configure) => {
  const spec = await configure(await newOptions());
  const server = await start(spec, { timeoutMs: 500, intervalMs: 100, failuresMax: 3 });
  const { pid } = server;
  // After its first reply; before it, it counts as loading.
  await delay(500);
  send(server, 'SIGSTOP');
  await eventually(() => expect(server.pid).not.toBe(pid));
  expect(reasons).toEqual([expect.stringMatching(/^it did not answer 3 times in a row \(/)]);
  await eventually(() => spec.checkReady());
});

test.each(ENGINES)('%s is not restarted after a short pause', async (_name, configure) => {
  const server = await start(await configure(await newOptions()), { intervalMs: 20, failuresMax: 1 });
  const { pid } = server;
  await delay(500);
  send(server, 'SIGSTOP');
  await delay(2000);
  send(server, 'SIGCONT');
  await delay(200);
  expect(reasons).toEqual([]);
  expect(server.pid).toBe(pid);
});

// As ClickHouse responds after a failed shutdown. The server is a script, because no request brings
// the engine into this state.
test('ClickHouse is killed and restarted when it answers every query with an error', async () => {
  const options = await newOptions();
  const script = `
    let answered = 0;
    require('node:http').createServer((request, response) => {
      answered += 1;
      if (answered > 3) response.statusCode = 500;
      response.end(answered > 3 ? 'Code: 236. DB::Exception: Server is shutting down. (ABORTED)' : '0');
    }).listen(${options.port}, '127.0.0.1');`;
  const spec = { ...configureClickHouse(options), command: process.execPath, args: ['-e', script] };
  const server = await start(spec, { intervalMs: 50, failuresMax: 3 });
  const { pid } = server;
  await eventually(() => expect(server.pid).not.toBe(pid));
  expect(reasons[0]).toMatch(/^it did not answer 3 times in a row \(Code: 236\. /);
});

test('ClickHouse is not restarted when it refuses a query because too many run', async () => {
  const options = await newOptions();
  const server = await start(configureClickHouse(options), { intervalMs: 20, failuresMax: 1 });
  const { pid } = server;
  const ask = async (body: string): Promise<string> => {
    const headers = { Authorization: basicAuthorization('password'), Connection: 'close' };
    return (await fetch(`http://127.0.0.1:${options.port}/`, { method: 'POST', body, headers })).text();
  };
  const slow = 'SELECT sleepEachRow(1) FROM numbers(8) SETTINGS max_block_size = 1, max_threads = 1';
  const all = Promise.all(Array.from({ length: 200 }, () => ask(slow)));
  await eventually(async () => expect(await ask('SELECT 1')).toMatch(/^Code: 202\. /));
  await all;
  expect(await ask('SELECT 1')).toBe('1\n');
  expect(reasons).toEqual([]);
  expect(server.pid).toBe(pid);
});

test('a log line of PostgreSQL that arrives after its exit is ignored', async () => {
  const { spec } = await embeddedPostgres({
    ...(await newOptions()),
    superuserPassword: 'superuser',
    password: 'password',
  });
  // The message comes from a child that outlives the process.
  const script = '(sleep 0.5; echo "LOG:  received smart shutdown request") & sleep 0.2';
  const scripted = { ...spec, command: 'sh', args: ['-c', script], checkReady: async () => {} };
  const server = await start(scripted, {});
  const { pid } = server;
  await eventually(() => expect(server.pid).not.toBe(pid));
  await delay(600);
  expect(reasons[0]).toBe('it ended with status 0');
});

test('PostgreSQL restarts without waiting for its clients after a SIGTERM from outside', async () => {
  const options = await newOptions();
  const { spec, superuserUrl } = await embeddedPostgres({
    ...options,
    superuserPassword: 'superuser',
    password: 'password',
  });
  const server = await start(spec, {});
  const { pid } = server;
  const client = new pg.Client({ connectionString: superuserUrl.replace(/analytics$/, 'postgres') });
  client.on('error', () => {});
  await client.connect();
  send(server, 'SIGTERM');
  await eventually(() => expect(server.pid).not.toBe(pid));
  await eventually(() => spec.checkReady());
  expect(reasons).toEqual(['it ended with status 0']);
});
