// ClickHouse as a child process: the engine's own HTTP server, from the library that the optional package chdb brings.
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../src/platform/paths.js';
import {
  basicAuthorization,
  CONFIG_FILE,
  SERVICE_USER,
  serverConfig,
  USERS_FILE,
  usersConfig,
} from './clickhouse-config.js';
import { reasonOf, StartProblem } from './problem.js';
import type { ProcessSpec } from './supervised-process.js';

const GIBIBYTE = 1024 ** 3;
// Of the earlier server in front of the library: its configuration, and bodies of inserts that a crash left behind.
const OBSOLETE = ['engine.xml', 'staging'];

export interface EmbeddedClickHouse {
  readonly url: string;
  readonly spec: ProcessSpec;
}

export interface EmbeddedClickHouseOptions {
  readonly directory: string;
  readonly port: number;
  readonly password: string;
  /** The one that the service's account owns; with `*` at its end, all whose names begin so. */
  readonly database: string;
}

export function embeddedClickHouse(options: EmbeddedClickHouseOptions): EmbeddedClickHouse {
  const { directory, port, password } = options;
  const library = findLibrary();
  writeFiles(options);
  return {
    url: `http://${SERVICE_USER}:${password}@127.0.0.1:${port}`,
    spec: {
      name: 'clickhouse',
      isIsolated: true,
      command: process.execPath,
      args: [join(packageRoot, 'dist', 'standalone', 'clickhouse-launcher.js'), library, directory],
      checkReady: () => checkAnswers(port, password),
      readyTimeoutMs: 120_000,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 60_000,
      orphanSignal: 'SIGTERM',
    },
  };
}

/** Half of the machine, within reason: the engine refuses queries beyond it instead of being killed. */
export const engineMemoryBytes = (): number => Math.floor(Math.min(Math.max(totalmem() / 2, GIBIBYTE), 4 * GIBIBYTE));

function writeFiles({ directory, port, password, database }: EmbeddedClickHouseOptions): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // One that an earlier version made could be read by others.
  chmodSync(directory, 0o700);
  for (const name of OBSOLETE) rmSync(join(directory, name), { recursive: true, force: true });
  const memoryBytes = engineMemoryBytes();
  const usersFile = join(directory, USERS_FILE);
  const files = {
    [CONFIG_FILE]: serverConfig({ usersFile, store: join(directory, 'store'), port, memoryBytes, password }),
    [USERS_FILE]: usersConfig({ password, database }),
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name);
    rmSync(path, { force: true });
    writeFileSync(path, text, { mode: 0o600 });
  }
}

function findLibrary(): string {
  const require = createRequire(import.meta.url);
  try {
    require('ffi-rs');
    return (require('chdb/libchdb') as typeof import('chdb/libchdb')).libchdbPath();
  } catch (error) {
    throw new StartProblem(
      `ClickHouse is missing for ${process.platform}-${process.arch}: the optional packages chdb and ffi-rs are not installed or do not support this platform; set CLICKHOUSE_URL to a server that is already running.`,
      { cause: reasonOf(error) },
    );
  }
}

/** A query with the service's password. After a fault in the engine its port may still be open, and /ping be answered. */
async function checkAnswers(port: number, password: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { Authorization: basicAuthorization(password), Connection: 'close' },
    body: 'SELECT 1',
    signal: AbortSignal.timeout(1000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim());
}
