// Runs `npm start` for a test: the supervisor on a data directory, its output and its processes.
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/platform/paths.js';
import { tryReadLock } from '../../standalone/instance-lock.js';
import type { StandaloneFile } from '../../standalone/standalone-file.js';
import { eventually } from './eventually.js';
import { takePort } from './take-port.js';

/** None of them has been rotated before the start. */
export type StandaloneKeys = Readonly<Record<keyof StandaloneFile, string>>;

export interface TestStandalone {
  readonly dataDirectory: string;
  readonly url: string;
  /** Everything printed so far. */
  readonly output: () => string;
  /** Resolves with the standalone file when the supervisor reports that it is ready. */
  ready(): Promise<StandaloneKeys>;
  /** Process ids by the names of the supervised processes. */
  pids(): ReadonlyMap<string, number>;
  signal(signal: NodeJS.Signals): void;
  /** Closes the reading end of its output. */
  closeTerminal(): void;
  /** Resolves with the exit status. */
  ended(): Promise<number | null>;
}

export async function startStandalone(options: {
  dataDirectory: string;
  env?: Readonly<Record<string, string>>;
  args?: readonly string[];
}): Promise<TestStandalone> {
  const { dataDirectory, args = [] } = options;
  const port = options.env?.PORT ?? String(await takePort());
  const child = spawn(process.execPath, [join(packageRoot, 'tools/start.mjs'), ...args], {
    cwd: packageRoot,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.env, DATA_DIR: dataDirectory, PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = endOf(child);
  return {
    dataDirectory,
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    ready: async () => {
      await eventually(() => {
        if (child.exitCode !== null) return;
        if (!output.includes('Ready')) throw new Error(`not ready:\n${output}`);
      }, 120_000);
      if (!output.includes('Ready')) throw new Error(`it ended:\n${output}`);
      return JSON.parse(readFileSync(join(dataDirectory, 'standalone.json'), 'utf8')) as StandaloneKeys;
    },
    pids: () => new Map(tryReadLock(dataDirectory)?.children.map(({ name, pid }) => [name, pid])),
    signal: (signal) => void child.kill(signal),
    closeTerminal: () => {
      child.stdout.destroy();
      child.stderr.destroy();
    },
    ended: () => ended,
  };
}

const endOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('close', (status) => resolve(status)));
