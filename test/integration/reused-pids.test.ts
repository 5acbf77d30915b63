// Engines that were killed start again when their pids belong to other processes, as after a crash
// of the machine or container.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { embeddedClickHouse } from '../../standalone/clickhouse-server.js';
import { findAccount, isRoot } from '../../standalone/engine-user.js';
import { findFreePort } from '../../standalone/free-port.js';
import { embeddedPostgres } from '../../standalone/postgres-server.js';
import { type ProcessSpec, SupervisedProcess } from '../../standalone/supervised-process.js';

const root = mkdtempSync(join(tmpdir(), 'event-analytics-pids-'));
const directory = join(root, 'engine');
const servers: SupervisedProcess[] = [];
let other: ChildProcess | undefined;

afterEach(async () => {
  other?.kill();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  rmSync(directory, { recursive: true, force: true });
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

async function start(spec: ProcessSpec): Promise<SupervisedProcess> {
  const server = new SupervisedProcess(spec, {
    ...{ line: () => {}, started: () => {}, ended: () => {}, restarting: () => {} },
  });
  servers.push(server);
  await server.start();
  return server;
}

test('PostgreSQL starts when another program has the pid of the dead server', async () => {
  const { spec } = await embeddedPostgres({
    ...{ directory, port: await findFreePort(), superuserPassword: 'superuser', password: 'password' },
  });
  const killed = await start(spec);
  const file = join(directory, 'postmaster.pid');
  const written = readFileSync(file, 'utf8');
  killed.kill();
  await killed.stop();
  // PostgreSQL ignores processes of other accounts.
  other = spawn('sleep', ['600'], { stdio: 'ignore', ...(isRoot() && findAccount('postgres')) });
  writeFileSync(file, written.replace(/^\d+/, String(other.pid)));
  await expect(start(spec)).resolves.toBeDefined();
});

test('ClickHouse starts when a killed one with the same pid has left its folder', async () => {
  const { spec } = embeddedClickHouse({
    ...{ directory, port: await findFreePort(), password: 'password', database: 'analytics' },
  });
  // The shell becomes the engine, with its pid.
  const leave =
    'mkdir -p "$0/run.$$/working" && mkfifo "$0/run.$$/start.fifo" && chown -R --reference="$0" "$0/run.$$"';
  const args = ['-c', `${leave} && exec "$@"`, directory, spec.command, ...spec.args];
  await expect(start({ ...spec, command: 'sh', args })).resolves.toBeDefined();
});
