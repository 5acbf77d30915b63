// Spacing of calls: each waits for its place.
import { expect, test } from 'vitest';
import { paced } from '../../../src/imports/pace.js';

test('calls are sent in their order', async () => {
  const sent: number[] = [];
  const send = paced(
    async (call: number) => {
      sent.push(call);
      return call;
    },
    { perSecond: 1000 },
  );
  expect(await Promise.all([0, 1, 2, 3].map(send))).toEqual([0, 1, 2, 3]);
  expect(sent).toEqual([0, 1, 2, 3]);
});

test('a call waits for its place, which an interrupt ends', async () => {
  const interrupt = new AbortController();
  const send = paced(async (call: number) => call, { perSecond: 0.001, signal: interrupt.signal });
  await send(0);
  const waiting = send(1);
  interrupt.abort();
  await expect(waiting).rejects.toThrow('aborted');
});

test('calls of a burst are sent at the rate and no faster', async () => {
  const sentMs: number[] = [];
  const send = paced(async () => sentMs.push(performance.now()), { perSecond: 50 });
  await Promise.all(Array.from({ length: 6 }, send));
  // Five places of 20 ms after the first call; a timer may be early by a millisecond.
  expect(Number(sentMs.at(-1)) - Number(sentMs[0])).toBeGreaterThan(95);
});
