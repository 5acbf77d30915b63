// Compile time of any text of 16 KiB, as a ratio to a valid query of the same length.
import { expect, test } from 'vitest';
import { problemsOf } from '../../unit/query/compiling.js';
import { FULL_TEXTS } from '../../unit/query/forms.js';
import { NASTY_TEXTS } from '../../unit/query/nasty-texts.js';

const VALID = FULL_TEXTS['a list of persons'] ?? '';
const ROUNDS = 5;

function medianMs(text: string): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now();
    problemsOf(text);
    return performance.now() - startedAt;
  });
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}

// Without bounds, the worst of these takes 90 times as long as the valid one.
test.each(Object.entries(NASTY_TEXTS))('%s: not much longer than a list of as many bytes', (_, text) => {
  medianMs(text);
  const allowed = 8 * medianMs(VALID) + 20;
  expect(medianMs(text)).toBeLessThan(allowed);
});
