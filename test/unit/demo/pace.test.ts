// Pace of the requests of `npm run demo`.
import { expect, test } from 'vitest';
import { createPace } from '../../../src/demo/pace.js';

test('createPace() spreads calls over time', async () => {
  const pace = createPace(100, undefined);
  const startedMs = performance.now();
  for (let call = 0; call < 11; call += 1) await pace(1);
  // Ten intervals of 10 ms; a timer may end a millisecond early.
  expect(performance.now() - startedMs).toBeGreaterThan(85);
});

test('createPace() does not catch up after a pause', async () => {
  const pace = createPace(50, undefined);
  await pace(1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  const startedMs = performance.now();
  for (let call = 0; call < 4; call += 1) await pace(1);
  expect(performance.now() - startedMs).toBeGreaterThan(50);
});

test('createPace() stops waiting on abort', async () => {
  const abort = new AbortController();
  const pace = createPace(0.001, abort.signal);
  await pace(1);
  const waiting = pace(1);
  abort.abort();
  await expect(waiting).rejects.toThrow(/abort/i);
});
