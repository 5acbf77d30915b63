// Compile time of any text of 16 KiB, in CPU time, as a ratio to a valid query of the same length.
import { expect, test } from 'vitest';
import { detailsOf, problemsOf } from '../../unit/query/compiling.js';
import { FULL_TEXTS } from '../../unit/query/forms.js';
import { NASTY_TEXTS } from '../../unit/query/nasty-texts.js';

const VALID = FULL_TEXTS['a list of persons'] ?? '';
const ROUNDS = 5;

/** CPU time of one compilation, in milliseconds. */
function cpuMs(text: string, compile: (text: string) => unknown): number {
  const before = process.cpuUsage();
  compile(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * CPU time of the cheapest compilation of `text`, divided by that of the valid query. The two take
 * turns, so that a slower machine, or another process on the same core, makes both dearer.
 */
function costOf(text: string, compile: (text: string) => unknown = problemsOf, rounds = ROUNDS): number {
  const cheapest = { text: Number.POSITIVE_INFINITY, valid: Number.POSITIVE_INFINITY };
  for (let round = 0; round < rounds; round += 1) {
    cheapest.valid = Math.min(cheapest.valid, cpuMs(VALID, problemsOf));
    cheapest.text = Math.min(cheapest.text, cpuMs(text, compile));
  }
  return cheapest.text / cheapest.valid;
}

// The dearest of these takes 6.5 times as long as the valid one; without bounds, 90 times.
test.each(Object.entries(NASTY_TEXTS))(
  '%s compiles in at most 20 times the time of a list of equal length',
  (_, text) => {
    expect(costOf(text)).toBeLessThan(20);
  },
);

// Without a bound of the parts that are looked at, these take 37 to 113 times as long.
test.each([
  ['digits', '1'.repeat(3_900)],
  ['a condition of one word', `a | where ${'a'.repeat(3_900)}`],
  ['calls in calls', 'a('.repeat(1_950)],
  ['words', 'by a '.repeat(780)],
  ['blanks of a statement', `select${' '.repeat(3_900)}x`],
  ['blanks of a condition', `select a from b where x${' '.repeat(3_900)}!`],
])('fixes of %s take at most 20 times the time of a list', (_, text) => {
  expect(costOf(text, detailsOf)).toBeLessThan(20);
});
