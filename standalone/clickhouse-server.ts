// ClickHouse as a child process: command line, files, and readiness and liveness checks of the
// server in the optional package chdb.
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { FAILED_WRITE, FAILED_WRITES } from '../src/platform/clickhouse/failed-writes.js';
import { messageOf } from '../src/platform/errors.js';
import { packageRoot } from '../src/platform/paths.js';
import {
  basicAuthorization,
  CONFIG_FILE,
  SERVICE_USER,
  serverConfig,
  USERS_FILE,
  usersConfig,
} from './clickhouse-config.js';
import {
  type Account,
  findEngineAccount,
  findPrivateMount,
  isRoot,
  type PrivateMount,
  prepareEngineFolder,
  writeEngineFile,
} from './engine-user.js';
import { clickhouseMemoryBytes } from './memory.js';
import { StartProblem } from './problem.js';
import { ENGINE_LIVENESS, MustRestart, type ProcessSpec } from './supervised-process.js';

// Files of the earlier server in front of the library: its configuration, and request bodies left
// by a crash.
const OBSOLETE = ['engine.xml', 'staging'];

/** Folder in the engine's directory, where it writes and reads backups. */
export const BACKUPS_FOLDER = 'backups';

// Too many concurrent queries, memory limit, no free thread.
const BUSY = /^Code: (?:202|241|439)\b/;

export interface EmbeddedClickHouse {
  readonly url: string;
  readonly spec: ProcessSpec;
}

export interface EmbeddedClickHouseOptions {
  readonly directory: string;
  readonly port: number;
  readonly password: string;
  /** Password of the account that writes backups; without one there is no such account. */
  readonly backupPassword?: string;
  /** Whether the service's account may restore one. */
  readonly isRestoring?: boolean;
  /** The database that the service's account owns; with `*` at its end, all with that prefix. */
  readonly database: string;
  /** Settings of the accounts, as the profiles of other servers have them: for tests. */
  readonly profile?: Readonly<Record<string, string | number>>;
}

export function embeddedClickHouse(options: EmbeddedClickHouseOptions): EmbeddedClickHouse {
  const { directory, port, password } = options;
  const library = findLibrary();
  const launcher = join(packageRoot, 'dist', 'standalone', 'clickhouse-launcher.js');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const mount = isRoot() ? findPrivateMount(directory, [launcher, library, process.execPath]) : undefined;
  const account = findEngineAccount('clickhouse', mount && ['true']);
  const place = account === undefined || mount === undefined ? directory : mount.path;
  writeFiles(options, account, place);
  return {
    url: `http://${SERVICE_USER}:${password}@127.0.0.1:${port}`,
    spec: {
      name: 'clickhouse',
      isIsolated: true,
      ...commandOf([process.execPath, launcher, library, place], account, mount),
      beforeStart: async () => {
        writeFiles(options, account, place);
        removeUnwrittenMutations(join(directory, 'store', 'store'));
      },
      checkReady: () => checkAnswers(port, password, 1000),
      readyTimeoutMs: 120_000,
      liveness: { ...ENGINE_LIVENESS, check: (timeoutMs) => checkAlive(port, password, timeoutMs) },
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 60_000,
      orphanSignal: 'SIGTERM',
    },
  };
}

function commandOf(
  [command, ...args]: readonly [string, ...string[]],
  account: Account | undefined,
  mount: PrivateMount | undefined,
): Pick<ProcessSpec, 'command' | 'args'> {
  if (account === undefined || mount === undefined) return { command, args };
  const [first, ...rest] = mount.prefix;
  return { command: first, args: [...rest, command, ...args, String(account.uid), String(account.gid)] };
}

/** `place` is the path of the folder as the engine sees it. */
function writeFiles(options: EmbeddedClickHouseOptions, account: Account | undefined, place: string): void {
  const { directory, port, password, backupPassword, database, isRestoring = false, profile } = options;
  prepareEngineFolder({ directory, configurationFile: CONFIG_FILE, account });
  for (const name of OBSOLETE) rmSync(join(directory, name), { recursive: true, force: true });
  const memoryBytes = clickhouseMemoryBytes();
  const usersFile = join(place, USERS_FILE);
  const files = {
    [USERS_FILE]: usersConfig({ password, backupPassword, database, isRestoring, profile }),
    [CONFIG_FILE]: serverConfig({
      ...{ usersFile, port, memoryBytes, password, backupPassword },
      store: join(place, 'store'),
      backups: join(place, BACKUPS_FOLDER),
    }),
  };
  for (const [name, text] of Object.entries(files)) writeEngineFile(join(directory, name), text, account);
}

function findLibrary(): string {
  const require = createRequire(import.meta.url);
  try {
    require('ffi-rs');
    return (require('chdb/libchdb') as typeof import('chdb/libchdb')).libchdbPath();
  } catch (error) {
    throw new StartProblem(
      `ClickHouse is missing for ${process.platform}-${process.arch}: the optional packages chdb and ffi-rs are not installed or do not support this platform; set CLICKHOUSE_URL to a server that is already running.`,
      { cause: messageOf(error) },
    );
  }
}

/**
 * Runs a query with the service's password. After a fault in the engine its port may still be open,
 * and /ping answered.
 */
async function checkAnswers(port: number, password: string, timeoutMs: number): Promise<void> {
  await ask('SELECT 1', port, password, timeoutMs);
}

async function ask(query: string, port: number, password: string, timeoutMs: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { Authorization: basicAuthorization(password), Connection: 'close' },
    body: query,
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim());
  return text;
}

/** An engine that rejects a query for lack of resources is busy, and alive. */
async function checkAlive(port: number, password: string, timeoutMs: number): Promise<void> {
  const answer = await ask(FAILED_WRITES, port, password, timeoutMs).catch((error: unknown) => {
    if (!BUSY.test(messageOf(error))) throw error;
    return '0';
  });
  // Within a minute: a part that was merged from others is kept for so long after them.
  if (Number.parseInt(answer, 10) > 0) throw new MustRestart(FAILED_WRITE);
}

/**
 * Deletes the files of mutations that were not written, without which the engine starts: it
 * refuses an empty one.
 */
function removeUnwrittenMutations(store: string): void {
  if (!existsSync(store)) return;
  for (const table of foldersIn(store).flatMap((folder) => foldersIn(folder))) {
    for (const name of readdirSync(table)) {
      const path = join(table, name);
      if (/^mutation_\d+\.txt$/.test(name) && statSync(path).size === 0) rmSync(path);
    }
  }
}

const foldersIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
