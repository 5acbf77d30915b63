// Runs the processes of the Procfile for a test: starts them from `dist`, waits until they are
// ready, kills and restarts them.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { packageRoot } from '../../src/platform/paths.js';

import { parseProcfile } from '../../standalone/procfile.js';
import { eventually } from './eventually.js';
import type { Environment } from './stack.js';
import { takePort } from './take-port.js';

export type ProcessKind = 'web' | 'query' | 'worker';

export interface TestProcess {
  readonly name: string;
  readonly pid: number;
  /** Where it listens; for a worker, its operations routes. */
  readonly url: string;
  /** Lines of both outputs so far. */
  readonly output: readonly string[];
  readonly isRunning: boolean;
  /** Kills the process, with SIGKILL by default. Resolves with its exit status, or null. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ProcessGroup {
  /** Of `web`: the one public address. */
  readonly url: string;
  /**
   * Starts one more process (a second worker), or a killed one again. Resolves when it is ready.
   */
  start(kind: ProcessKind, name?: string): Promise<TestProcess>;
  /** Throws when there is none of that name. */
  get(name: string): TestProcess;
  /** Stops all of them gracefully. */
  stop(): Promise<void>;
}

const PORT_SETTING = { web: 'PORT', query: 'QUERY_PORT', worker: 'WORKER_PORT' } as const satisfies Record<
  ProcessKind,
  string
>;

/** A process that has ended is not waited for. */
const READY_TIMEOUT_MS = 120_000;

/** Signals that no test sends. */
const CRASHES: readonly NodeJS.Signals[] = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGILL', 'SIGTRAP'];

export async function startProcesses(
  env: Environment,
  kinds: readonly ProcessKind[] = ['query', 'worker', 'web'],
): Promise<ProcessGroup> {
  const ports = { web: await takePort(), query: await takePort() };
  const url = `http://127.0.0.1:${ports.web}`;
  const shared = { PUBLIC_URL: url, QUERY_URL: `http://127.0.0.1:${ports.query}`, ...env };
  const processes = new Map<string, TestProcess>();
  const group: ProcessGroup = {
    url,
    start: async (kind, name = kind) => {
      const port = kind === 'worker' ? await takePort() : ports[kind];
      const started = await startProcess({ kind, name, port, env: { ...shared, [PORT_SETTING[kind]]: String(port) } });
      processes.set(name, started);
      return started;
    },
    get: (name) => {
      const found = processes.get(name);
      if (found === undefined) throw new Error(`no process ${name} was started`);
      return found;
    },
    stop: async () => {
      await Promise.all([...processes.values()].map((running) => running.kill('SIGTERM')));
    },
  };
  try {
    await Promise.all(kinds.map((kind) => group.start(kind)));
  } catch (error) {
    await group.stop();
    throw error;
  }
  return group;
}

async function startProcess(options: {
  kind: ProcessKind;
  name: string;
  port: number;
  env: Environment;
}): Promise<TestProcess> {
  const { kind, name, port, env } = options;
  const entry = parseProcfile(readFileSync(`${packageRoot}/Procfile`, 'utf8')).find((process) => process.name === kind);
  if (entry === undefined) throw new Error(`the Procfile has no ${kind}`);
  const child = spawn(entry.command, entry.args, {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = toTestProcess(child, { name, url: `http://127.0.0.1:${port}` });
  try {
    await eventually(() => requireReady(started), READY_TIMEOUT_MS);
  } catch (error) {
    await started.kill();
    throw new Error(`${name} did not become ready:\n${started.output.slice(-20).join('\n')}`, { cause: error });
  }
  return started;
}

async function requireReady(started: TestProcess): Promise<void> {
  if (!started.isRunning) return;
  const response = await fetch(`${started.url}/readyz`, { signal: AbortSignal.timeout(2000) });
  if (!response.ok) throw new Error(await response.text());
}

function toTestProcess(child: ChildProcess, { name, url }: { name: string; url: string }): TestProcess {
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', (line) => output.push(line));
  }
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let isAskedToEnd = false;
  // Some tests expect it; the reason helps with all others.
  child.once('close', (status, signal) => {
    if ((isAskedToEnd && status === 0) || (signal !== null && !CRASHES.includes(signal))) return;
    process.stderr.write(`${name} at ${url} ended with ${status ?? signal}:\n${output.slice(-5).join('\n')}\n`);
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    name,
    pid: child.pid ?? 0,
    url,
    output,
    get isRunning() {
      return isRunning();
    },
    kill: async (signal = 'SIGKILL') => {
      if (isRunning()) {
        isAskedToEnd = true;
        child.kill(signal);
        await exit;
      }
      return child.exitCode;
    },
  };
}
