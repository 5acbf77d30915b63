// Progress of the steps of a command.
import { afterEach, expect, test, vi } from 'vitest';
import { logProgress, StepProgress, type StepState, toStepStatus } from '../../../src/platform/progress.js';

const MEBIBYTE = 1024 * 1024;

const STEPS: readonly (readonly [rule: string, state: StepState, elapsedMs: number, line: string])[] = [
  [
    'bytes with a total',
    { step: 'writing the archive', done: 5 * MEBIBYTE, total: 20 * MEBIBYTE, unit: 'bytes' },
    2000,
    ' 25 %  writing the archive  5.0 MiB  2.5 MiB/s  6 s left',
  ],
  [
    'rows without a total',
    { step: 'copying', done: 3000, total: undefined, unit: 'rows' },
    1500,
    'copying  3,000 rows  2,000/s',
  ],
  ['the end', { step: 'copying', done: 7, total: 7, unit: 'rows' }, 1000, '100 %  copying  7 rows  7/s'],
  ['an empty total', { step: 'copying', done: 0, total: 0, unit: 'rows' }, 0, 'copying  0 rows  0/s'],
];

test.each(STEPS)('toStepStatus(): %s', (_rule, state, elapsedMs, line) => {
  expect(toStepStatus(state, elapsedMs)).toBe(line);
});

test('more than was expected fills the bar', () => {
  let shown = '';
  const write = (text: string) => {
    shown += text;
  };
  new StepProgress({ isTTY: true, write }).update({ step: 'copying', done: 9, total: 7, unit: 'rows' });
  expect(shown).toContain(`[${'#'.repeat(24)}] 100 %  copying  9 rows`);
});

afterEach(() => {
  vi.useRealTimers();
});

test('work without a terminal has a line per 10 s in the log, with rate and remaining time', async () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  let done = 0;
  const read = async (): Promise<StepState> => ({ step: 'rewriting', done, total: 400 * MEBIBYTE, unit: 'bytes' });
  const work = async () => {
    for (let second = 0; second < 35; second += 1) {
      done += 10 * MEBIBYTE;
      await vi.advanceTimersByTimeAsync(1000);
    }
  };
  await logProgress({ info: (line) => void lines.push(line) }).watch(read, work);
  expect(lines).toEqual([
    '25 %  rewriting  100.0 MiB  10.0 MiB/s  30 s left',
    '50 %  rewriting  200.0 MiB  10.0 MiB/s  20 s left',
    '75 %  rewriting  300.0 MiB  10.0 MiB/s  10 s left',
  ]);
});

test('a reading that fails is skipped, and the failure of the work is passed on', async () => {
  vi.useFakeTimers();
  const watching = logProgress({ info: () => {} }).watch(
    () => Promise.reject(new Error('no answer')),
    async () => {
      await vi.advanceTimersByTimeAsync(3000);
      throw new Error('the work failed');
    },
  );
  await expect(watching).rejects.toThrow('the work failed');
});
