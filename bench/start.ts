// Time and CPU of `npm start` on an installed and built clone: with a new data directory, and with
// the data of that start.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { packageRoot } from '../src/platform/paths.js';
import { findFreePort } from '../standalone/free-port.js';
import { atMost, type Measurement } from './measurement.js';
import { readCpuMs } from './process-usage.js';
import type { BenchContext } from './stack.js';
import { withoutStores } from './start-stack.js';
import { median } from './statistics.js';

const START = join(packageRoot, 'tools', 'start.mjs');
const TIMEOUT_MS = 120_000;
const READY_EVERY_MS = 20;

interface Started {
  readonly seconds: number;
  /** Of all processes, those that have ended included. */
  readonly cpuMs: number;
}

export async function benchStart({ isQuick, say }: Omit<BenchContext, 'stack'>): Promise<Measurement[]> {
  const rounds = isQuick ? 1 : 5;
  const starts: { isNew: Started; again: Started }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    say(`start: round ${round} of ${rounds}`);
    const directory = mkdtempSync(join(tmpdir(), 'event-analytics-bench-'));
    try {
      starts.push({ isNew: await startOnce(directory), again: await startOnce(directory) });
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  const of = (pick: (start: (typeof starts)[number]) => number): number => median(starts.map(pick));
  return [
    { name: 'from npm start to ready, with data', value: of(({ again }) => again.seconds), unit: 's', aim: atMost(4) },
    { name: 'from npm start to ready, new directory', value: of(({ isNew }) => isNew.seconds), unit: 's' },
    { name: 'CPU of a start with data', value: of(({ again }) => again.cpuMs), unit: 'ms' },
    { name: 'CPU of a start in a new directory', value: of(({ isNew }) => isNew.cpuMs), unit: 'ms' },
  ];
}

async function startOnce(directory: string): Promise<Started> {
  const port = await findFreePort();
  const startedMs = performance.now();
  const supervisor = spawn(process.execPath, [START], {
    env: { ...withoutStores(process.env), DATA_DIR: directory, PORT: String(port), LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  supervisor.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-4000);
  });
  const ended = new Promise((resolve) => supervisor.once('exit', resolve));
  try {
    while (!(await isReady(port))) {
      if (supervisor.exitCode !== null) throw new Error(`the stack did not start:\n${output}`);
      if (performance.now() - startedMs > TIMEOUT_MS) throw new Error(`the stack is not ready in time:\n${output}`);
      await sleep(READY_EVERY_MS);
    }
    const seconds = (performance.now() - startedMs) / 1000;
    const [cpuMs = 0] = readCpuMs([{ name: 'all', pid: supervisor.pid ?? 0 }]).values();
    return { seconds, cpuMs };
  } finally {
    supervisor.kill('SIGTERM');
    await ended;
  }
}

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
