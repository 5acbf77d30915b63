// Progress of the steps of a command.
import { expect, test } from 'vitest';
import { type StepState, toStepStatus } from '../../../src/platform/progress.js';

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
