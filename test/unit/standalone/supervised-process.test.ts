// What the supervisor says about a process that does not start, when it gives one up, and when it
// starts one again.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { isProcessRunning } from '../../../src/platform/process-running.js';
import { type ProcessSpec, SupervisedProcess } from '../../../standalone/supervised-process.js';

const observer = { line: () => {}, started: () => {}, ended: () => {}, restarting: () => {} };

afterEach(() => vi.useRealTimers());

const neverReady = () => Promise.reject(new Error('not ready'));

async function problemOf(program: string, hasGate = true, checkReady = neverReady): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'supervised-'));
  try {
    const path = join(folder, 'web.mjs');
    writeFileSync(path, program);
    const supervised = new SupervisedProcess(
      {
        ...{ name: 'web', command: process.execPath, args: [path], hasGate },
        checkReady,
        ...{ readyTimeoutMs: 30_000, stopSignal: 'SIGTERM', stopTimeoutMs: 1000, orphanSignal: 'SIGKILL' },
      },
      observer,
    );
    return await supervised.start().then(String, String);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const ENDED = 'StartProblem: web did not start: it ended with status 1';

test.each([
  ["process.stderr.write('PORT: missing\\n'); process.exit(1)", `${ENDED}: PORT: missing.`],
  ["throw new Error('with a trace')", `${ENDED}.`],
  ['process.stderr.write(\'{"level":50}\\n\'); process.exit(1)', `${ENDED}.`],
  ['process.exit(1)', `${ENDED}.`],
])('%s is reported as %s', async (program, problem) => {
  expect(await problemOf(program)).toBe(problem);
});

test('the log of an engine is not reported', async () => {
  expect(await problemOf("process.stderr.write('Shutting down\\n'); process.exit(1)", false)).toBe(`${ENDED}.`);
});

test('a clock that is set forward ends no process that is starting', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const program = "process.stderr.write('PORT: missing\\n'); setTimeout(() => process.exit(1), 1000)";
  const setForward = () => {
    vi.setSystemTime(Date.now() + 60_000);
    return neverReady();
  };
  expect(await problemOf(program, true, setForward)).toBe(`${ENDED}: PORT: missing.`);
});

const SLEEPER: ProcessSpec = {
  ...{ name: 'sleeper', command: 'sleep', args: ['600'], checkReady: async () => {}, readyTimeoutMs: 30_000 },
  ...{ stopSignal: 'SIGTERM', stopTimeoutMs: 1000, orphanSignal: 'SIGKILL' },
};

test('a process is ended when it has answered once, and then does not several times in a row', async () => {
  const answers = 'no no no yes no no yes no no no'.split(' ');
  const reasons: string[] = [];
  let asked = 0;
  const check = async () => {
    asked += 1;
    if (answers[asked - 1] !== 'yes') throw new Error('silence');
  };
  const liveness = { check, timeoutMs: 1, intervalMs: 1, failuresMax: 3 };
  const restarting = (_name: string, reason: string) => void reasons.push(`${reason} after ${asked}`);
  const supervised = new SupervisedProcess({ ...SLEEPER, liveness }, { ...observer, restarting });
  await supervised.start();
  await vi.waitFor(() => expect(reasons).not.toEqual([]));
  await supervised.stop();
  expect(reasons).toEqual(['it did not answer 3 times in a row (silence) after 10']);
});

test('the pause before a start grows while a process ends by itself', async () => {
  const pauses: number[] = [];
  const restarting = (_name: string, _reason: string, pauseMs: number) => void pauses.push(pauseMs);
  const supervised = new SupervisedProcess({ ...SLEEPER, args: ['0.1'] }, { ...observer, restarting });
  await supervised.start();
  await vi.waitFor(() => expect(pauses).toEqual([200, 400]), 10_000);
  await supervised.stop();
});

test('a process that is stopped while it is prepared is not started', async () => {
  let prepared = () => {};
  const beforeStart = () => new Promise<void>((resolve) => (prepared = resolve));
  const supervised = new SupervisedProcess({ ...SLEEPER, beforeStart }, observer);
  const loading = supervised.load();
  await supervised.stop();
  prepared();
  await loading;
  expect(supervised.pid).toBeUndefined();
});

test('a process that ignores the signal is ended after its time', async () => {
  const script = 'trap "" TERM; echo ready; while :; do sleep 0.05; done';
  let isReady = false;
  const spec = { ...SLEEPER, command: 'sh', args: ['-c', script], stopTimeoutMs: 100 };
  const supervised = new SupervisedProcess({ ...spec, onLine: () => (isReady = true) }, observer);
  await supervised.start();
  await vi.waitFor(() => expect(isReady).toBe(true));
  const { pid } = supervised;
  await supervised.stop();
  expect(isProcessRunning(pid ?? 0)).toBe(false);
});
