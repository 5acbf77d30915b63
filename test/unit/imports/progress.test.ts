// Progress output of the import, on a terminal and without one.
import { expect, test } from 'vitest';
import { type ProgressState, showProgress, toBar } from '../../../src/imports/progress.js';
import { ProgressDisplay } from '../../../src/platform/progress.js';

const state = (read: number, elapsedMs: number, bytesTotal?: number): ProgressState => ({
  read,
  skipped: read > 9000 ? 2 : 0,
  identities: 0,
  bytesRead: 500,
  bytesTotal,
  elapsedMs,
});

const BARS: readonly (readonly [rule: string, state: ProgressState, bar: string])[] = [
  ['with a size', state(8000, 2000, 1000), '[############............]  50 %  8,000 records  4,000/s  2 s left'],
  [
    'minutes that are left',
    state(8000, 2000, 500 * 40),
    '[#.......................]   2 %  8,000 records  4,000/s  1 min 18 s left',
  ],
  [
    'hours that are left',
    state(8000, 90_000, 500 * 100),
    '[........................]   1 %  8,000 records  89/s  2 h 28 min left',
  ],
  ['without a size', state(8000, 2000), '8,000 records  4,000/s'],
  ['a log that has grown', state(1, 1000, 100), '[########################] 100 %  1 records  1/s'],
  ['with skipped records', state(1_234_567, 1_000_000), '1,234,567 records  1,235/s  2 skipped'],
  [
    'with identities',
    { ...state(9000, 1000, 500), identities: 1200 },
    '[########################] 100 %  9,000 records  1,200 identities',
  ],
];

test.each(BARS)('toBar(): %s', (_rule, given, bar) => {
  expect(toBar(given)).toBe(bar);
});

function show(isTTY: boolean, elapsed: readonly number[]): string[] {
  const written: string[] = [];
  const display = new ProgressDisplay({ isTTY, columns: 200, write: (text) => written.push(text) });
  for (const elapsedMs of elapsed) showProgress(display, state(10, elapsedMs));
  display.note('done');
  return written;
}

test('a terminal is redrawn in place at most ten times a second, with notes above', () => {
  expect(show(true, [0, 50, 150])).toEqual([
    '\r10 records  10,000/s\x1b[K',
    '\r10 records  67/s\x1b[K',
    '\r\x1b[K',
    'done\n',
  ]);
});

test('without a terminal a line is written every ten seconds, and none for a short import', () => {
  expect(show(false, [10, 2000])).toEqual(['done\n']);
  expect(show(false, [10, 2000, 10_020])).toEqual(['10 records  1/s\n', 'done\n']);
});
