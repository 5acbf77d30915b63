// States of an alert over its checks.
import { expect, test } from 'vitest';
import { advance, type Outcome, type Standing } from '../../../src/alerts/state.js';

const after = (...outcomes: Outcome[]): Standing =>
  outcomes.reduce(advance, { state: 'ok', failures: 0 } satisfies Standing as Standing);

test('an alert follows its condition at once', () => {
  expect(after('firing')).toEqual({ state: 'firing', failures: 0 });
  expect(after('firing', 'ok')).toEqual({ state: 'ok', failures: 0 });
});

test('three failed checks in a row make it failing, and before the third it keeps its state', () => {
  expect(after('firing', 'failed', 'failed')).toEqual({ state: 'firing', failures: 2 });
  expect(after('firing', 'failed', 'failed', 'failed')).toEqual({ state: 'failing', failures: 3 });
  expect(after('failed', 'failed', 'failed', 'firing')).toEqual({ state: 'firing', failures: 0 });
});

test.each(['ok', 'firing'] as const)('a check that ends in %s begins the count of failed ones again', (outcome) => {
  expect(after('failed', 'failed', outcome, 'failed', 'failed')).toEqual({ state: outcome, failures: 2 });
});
