// Starts the system as `npm start` does, supervisor included, in a temporary directory and on a
// free port.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClickHouse } from '../src/platform/clickhouse/client.js';
import { packageRoot, SERVICE_ENVIRONMENT_FILE } from '../src/platform/paths.js';
import { findFreePort } from '../standalone/free-port.js';
import { tryReadLock } from '../standalone/instance-lock.js';
import type { NamedProcess } from './process-usage.js';
import type { Stack } from './stack.js';

const SUPERVISOR = join(packageRoot, 'dist', 'standalone', 'main.js');
const START_TIMEOUT_MS = 120_000;
// Longer than the supervisor's shutdown: a killed supervisor would leave engines running.
const STOP_TIMEOUT_MS = 150_000;
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const ENGINE_CONNECTIONS = 4;
const DATABASE = 'analytics';

/** Measure the machine, not the rate limits of a key or the answers that are kept. */
export const UNLIMITED: Settings = {
  IDENTIFY_REQUESTS_PER_SECOND: '1000000',
  TRACK_REQUESTS_PER_SECOND: '1000000',
  PROJECT_EVENTS_PER_SECOND: '100000000',
  PROJECT_BYTES_PER_SECOND: '100000000000',
  QUERY_REQUESTS_PER_SECOND: '1000000',
  ANSWER_CACHE_BYTES: '0',
};

type Settings = Readonly<Record<string, string>>;

/**
 * Uses a temporary directory, which is deleted afterwards, or the directory of the caller.
 * `settings` replace `UNLIMITED`.
 */
export async function startStack(options: { directory?: string; settings?: Settings } = {}): Promise<Stack> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'event-analytics-bench-'));
  const supervisor = spawn(process.execPath, [SUPERVISOR], {
    env: {
      ...withoutStores(process.env),
      DATA_DIR: directory,
      PORT: String(await findFreePort()),
      LOG_LEVEL: 'warn',
      ...(options.settings ?? UNLIMITED),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collectOutput(supervisor);
  // Stop the stack when the run is interrupted.
  const end = () => void stop().finally(() => process.exit(1));
  for (const signal of ENDING_SIGNALS) process.once(signal, end);
  const stop = async () => {
    for (const signal of ENDING_SIGNALS) process.off(signal, end);
    await stopSupervisor(supervisor);
    if (options.directory === undefined) rmSync(directory, { recursive: true, force: true });
  };
  try {
    const keys = await untilReady(supervisor, join(directory, 'standalone.json'), output);
    const urls = readStoreUrls(directory);
    const clickhouse = createClickHouse(
      { CLICKHOUSE_URL: urls.CLICKHOUSE_URL, CLICKHOUSE_DATABASE: DATABASE },
      { maxConnections: ENGINE_CONNECTIONS },
    );
    return {
      url: keys.url.replace(/\/$/, ''),
      projectId: keys.project_id,
      publicKey: keys.public_key,
      secretKey: keys.secret_key,
      ...{ database: DATABASE, directory },
      clickhouse,
      clickhouseUrl: urls.CLICKHOUSE_URL,
      postgresUrl: urls.DATABASE_URL,
      processes: () => findProcesses(directory),
      stop: async () => {
        await clickhouse.close();
        await stop();
      },
    };
  } catch (cause) {
    await stop();
    throw cause;
  }
}

/**
 * Ignores store settings of this machine: the stack under test brings its own. Empty instead of
 * absent, because `npm start` takes absent ones from .env.
 */
export const withoutStores = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  ...{ DATABASE_URL: '', REDIS_URL: '', CLICKHOUSE_URL: '' },
});

interface StandaloneKeys {
  readonly url: string;
  readonly project_id: string;
  readonly public_key: string;
  readonly secret_key: string;
}

async function untilReady(supervisor: ChildProcess, file: string, output: () => string): Promise<StandaloneKeys> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (supervisor.exitCode !== null) throw new Error(`the stack did not start:\n${output()}`);
    const keys = tryReadKeys(file);
    if (keys !== undefined && (await isReady(keys.url))) return keys;
    await sleep(200);
  }
  throw new Error(`the stack is not ready after ${START_TIMEOUT_MS / 1000} s:\n${output()}`);
}

function tryReadKeys(file: string): StandaloneKeys | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as StandaloneKeys;
  } catch {
    return undefined;
  }
}

const isReady = (url: string): Promise<boolean> =>
  fetch(new URL('readyz', `${url}/`)).then(
    (response) => response.ok,
    () => false,
  );

/** Last output of the supervisor, for the error of a failed start. */
function collectOutput(supervisor: ChildProcess): () => string {
  let text = '';
  for (const stream of [supervisor.stdout, supervisor.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text = (text + chunk).slice(-4000);
    });
  }
  return () => text;
}

async function stopSupervisor(supervisor: ChildProcess): Promise<void> {
  if (supervisor.exitCode !== null || supervisor.signalCode !== null) return;
  const ended = new Promise((resolve) => supervisor.once('exit', resolve));
  supervisor.kill('SIGTERM');
  const timer = setTimeout(() => supervisor.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

/**
 * Reads the processes from the lock of the data directory. They may be restarted, so read it each
 * time.
 */
function findProcesses(directory: string): NamedProcess[] {
  const lock = tryReadLock(directory);
  if (lock === undefined) throw new Error(`no instance runs on ${directory}`);
  return [{ name: 'supervisor', pid: lock.holder.pid }, ...lock.children];
}

/** With their passwords: the stack keeps them for the commands of operators. */
const readStoreUrls = (directory: string): StoreUrls =>
  JSON.parse(readFileSync(join(directory, SERVICE_ENVIRONMENT_FILE), 'utf8')) as StoreUrls;

interface StoreUrls {
  readonly CLICKHOUSE_URL: string;
  readonly DATABASE_URL: string;
}
