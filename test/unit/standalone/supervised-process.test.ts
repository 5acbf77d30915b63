// What the supervisor says about a process that does not start, and when it gives one up.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { SupervisedProcess } from '../../../standalone/supervised-process.js';

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
