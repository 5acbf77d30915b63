// Redis as a child process: small, durable (append-only file, flushed every second), and without
// eviction.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { messageOf } from '../src/platform/errors.js';
import { isNewFileLine, setAppendMode } from './append-mode.js';
import { fillHoles } from './append-only-file.js';
import { askEngine } from './ask-engine.js';
import { findEngineAccount, PROBE, prepareEngineFolder, writeEngineFile } from './engine-user.js';
import { StartProblem } from './problem.js';
import { ENGINE_LIVENESS, type ProcessSpec } from './supervised-process.js';

// Server programs, each with the account that its package creates.
const SERVERS = [
  { command: 'redis-server', name: 'redis' },
  { command: 'valkey-server', name: 'valkey' },
];
const CONFIGURATION_FILE = 'redis.conf';
// Redis makes every path absolute.
const WORKING_FOLDER = '/proc/self/cwd';

const READY_TIMEOUT_MS = 1000;
const SERVICE_USER = 'analytics';
const ADMIN_USER = 'admin';
// No CONFIG SET, MODULE, DEBUG, REPLICAOF, SHUTDOWN, ACL, MIGRATE and similar. Of the dangerous
// commands, the service needs those that read the server's state, and the rewrite of the
// append-only file after an erasure.
const SERVICE_COMMANDS = '+@all -@admin -@dangerous +info +keys +flushdb +bgrewriteaof +config|get +client|list';

export interface EmbeddedRedis {
  readonly url: string;
  readonly spec: ProcessSpec;
}

export interface EmbeddedRedisOptions {
  readonly directory: string;
  readonly port: number;
  readonly password: string;
  /** Password of a second user `admin` with all rights, for tests. */
  readonly adminPassword?: string;
}

export function embeddedRedis(options: EmbeddedRedisOptions): EmbeddedRedis {
  const { directory, port, password } = options;
  const { command, name } = findServer();
  const account = findEngineAccount(name, [command, '--version']);
  prepareEngineFolder({ directory, configurationFile: CONFIGURATION_FILE, account });
  // In a file instead of arguments, which every user of the machine can read.
  const writeConfiguration = () =>
    writeEngineFile(join(directory, CONFIGURATION_FILE), redisConfiguration(options), account);
  writeConfiguration();
  return {
    url: `redis://${SERVICE_USER}:${password}@127.0.0.1:${port}/0`,
    spec: {
      name: 'redis',
      isIsolated: true,
      command,
      // The path is relative to its working directory, because another account cannot access the
      // folders above.
      args: [join(account === undefined ? directory : WORKING_FOLDER, CONFIGURATION_FILE)],
      cwd: directory,
      ...(account === undefined ? {} : { user: account }),
      beforeStart: async () => {
        writeConfiguration();
        await fillHoles(directory);
      },
      onLine: (line, { pid }) => {
        if (process.platform === 'linux' && pid !== undefined && isNewFileLine(line)) trySetAppendMode(pid);
      },
      checkReady: () => checkReady(port, password),
      liveness: { ...ENGINE_LIVENESS, check: async (timeoutMs) => void (await ping(port, password, timeoutMs)) },
      // Loading a large append-only file takes time.
      readyTimeoutMs: 120_000,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 20_000,
      orphanSignal: 'SIGTERM',
    },
  };
}

function redisConfiguration({ port, password, adminPassword }: EmbeddedRedisOptions): string {
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    // Off: a connection without a login may run no command. The user has all rights nevertheless,
    // because Redis reads its append-only file as this user, and drops each transaction that the
    // user may not run.
    'user default off resetpass ~* &* +@all',
    `user ${SERVICE_USER} on #${digestOf(password)} ~* &* ${SERVICE_COMMANDS}`,
    ...(adminPassword === undefined ? [] : [`user ${ADMIN_USER} on #${digestOf(adminPassword)} ~* &* +@all`]),
    'dir .',
    'daemonize no',
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory-policy noeviction',
    'databases 64',
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * Where it is not permitted, a full disk can damage the file: its holes are filled at the next
 * start.
 */
function trySetAppendMode(pid: number): void {
  try {
    setAppendMode(pid);
  } catch (error) {
    process.stderr.write(`redis: its append-only file could not be protected from a full disk: ${messageOf(error)}\n`);
  }
}

const digestOf = (password: string): string => createHash('sha256').update(password).digest('hex');

function findServer(): { readonly command: string; readonly name: string } {
  const tried = SERVERS.map((server) => ({ server, ...spawnSync(server.command, ['--version'], PROBE) }));
  const found = tried.find(({ status }) => status === 0);
  if (found !== undefined) return found.server;
  const hanging = tried.find(({ signal }) => signal === PROBE.killSignal);
  throw new StartProblem(
    hanging === undefined
      ? 'Redis is missing: install redis-server or valkey-server, or set REDIS_URL to a server that is already running.'
      : `"${hanging.server.command} --version" does not end: repair that program, or set REDIS_URL to a server that is already running.`,
  );
}

/** Requires PONG, not "LOADING": Redis listens before it has read its file. */
async function checkReady(port: number, password: string): Promise<void> {
  const answer = await ping(port, password, READY_TIMEOUT_MS);
  if (!answer.includes('PONG')) throw new Error(`Redis answers ${answer}`);
}

/** The reply, which may be an error: loading, a script is running, the disk is full. */
const ping = (port: number, password: string, timeoutMs: number): Promise<string> =>
  askEngine('Redis', { port, request: `AUTH ${SERVICE_USER} ${password}\r\nPING\r\n`, timeoutMs }, (reply) =>
    reply.includes('PONG') || reply.includes('-') ? reply.trim() : undefined,
  );
