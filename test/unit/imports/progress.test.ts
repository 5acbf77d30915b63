// Progress output of the import, on a terminal and without one.
import { expect, test } from 'vitest';
import { ProgressDisplay, type ProgressState, toBar } from '../../../src/imports/progress.js';

const state = (lines: number, elapsedMs: number, bytesTotal?: number): ProgressState => ({
  summary: { lines, sent: 0, accepted: 0, skipped: 0, unparsable: lines > 9000 ? 2 : 0 },
  bytesRead: 500,
  bytesTotal,
  elapsedMs,
});

const BARS: readonly (readonly [rule: string, state: ProgressState, bar: string])[] = [
  ['with a size', state(8000, 2000, 1000), '[############............]  50 %  8,000 lines  4,000 lines/s'],
  ['without a size', state(8000, 2000), '8,000 lines  4,000 lines/s'],
  ['a log that has grown', state(1, 1000, 100), '[########################] 100 %  1 lines  1 lines/s'],
  ['with unparsable lines', state(1_234_567, 1_000_000), '1,234,567 lines  1,235 lines/s  2 unparsable'],
];

test.each(BARS)('toBar(): %s', (_rule, given, bar) => {
  expect(toBar(given)).toBe(bar);
});

function show(isTTY: boolean, elapsed: readonly number[]): string[] {
  const written: string[] = [];
  const display = new ProgressDisplay({ isTTY, columns: 200, write: (text) => written.push(text) });
  for (const elapsedMs of elapsed) display.update(state(10, elapsedMs));
  display.note('done');
  return written;
}

test('a terminal is redrawn in place at most ten times a second, with notes above', () => {
  expect(show(true, [0, 50, 150])).toEqual([
    '\r10 lines  10000 lines/s\x1b[K'.replace('10000', '10,000'),
    '\r10 lines  67 lines/s\x1b[K',
    '\r\x1b[K',
    'done\n',
  ]);
});

test('without a terminal a line is written every five seconds, and none for a short import', () => {
  expect(show(false, [10, 2000])).toEqual(['done\n']);
  expect(show(false, [10, 2000, 5020])).toEqual(['10 lines  2 lines/s\n', 'done\n']);
});
