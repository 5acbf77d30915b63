// Compile time of any text of 16 KiB, in CPU time, as a ratio to a valid query of the same length.
import { expect, test } from 'vitest';
import { detailsOf, problemsOf } from '../../unit/query/compiling.js';
import { FULL_TEXTS } from '../../unit/query/forms.js';
import { NASTY_TEXTS } from '../../unit/query/nasty-texts.js';

const VALID = FULL_TEXTS['a list of persons'] ?? '';
const ROUNDS = 5;

/** CPU time of the cheapest round, which other processes of the machine do not change much. */
function cheapestMs(text: string, compile: (text: string) => unknown = problemsOf, rounds = ROUNDS): number {
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage();
    compile(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

// Without bounds, the worst of these takes 90 times as long as the valid one.
test.each(Object.entries(NASTY_TEXTS))(
  '%s compiles in at most 8 times the time of a list of equal length',
  (_, text) => {
    const allowed = 8 * cheapestMs(VALID) + 20;
    expect(cheapestMs(text)).toBeLessThan(allowed);
  },
);

// Without a bound, these take a hundred times as long.
test.each([
  ['before the columns', `select${' '.repeat(1_500)}x`],
  ['in a condition', `select a from b where x${' '.repeat(1_500)}!`],
])('fixes of a statement with many blanks %s take at most 16 times the time of a list', (_, text) => {
  expect(cheapestMs(text, detailsOf, 1)).toBeLessThan(16 * cheapestMs(VALID) + 100);
});
