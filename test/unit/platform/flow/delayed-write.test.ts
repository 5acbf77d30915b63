// The delayed write: one write for what is noted within the delay, and a close that waits for it.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DelayedWrite } from '../../../../src/platform/flow/delayed-write.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Each write ends when `end` is called. */
function open() {
  const ends: (() => void)[] = [];
  const delayed = new DelayedWrite(1000, () => new Promise<void>((resolve) => void ends.push(resolve)));
  return { delayed, ends };
}

async function isClosed(closing: Promise<void>): Promise<boolean> {
  let isSettled = false;
  void closing.then(() => (isSettled = true));
  await vi.advanceTimersByTimeAsync(0);
  return isSettled;
}

test('writes once for everything noted within the delay', async () => {
  const { delayed, ends } = open();
  delayed.schedule();
  delayed.schedule();
  await vi.advanceTimersByTimeAsync(999);
  expect(ends).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(ends).toHaveLength(1);
});

test('close() writes at once what waits for the delay', async () => {
  const { delayed, ends } = open();
  delayed.schedule();
  const closing = delayed.close();
  expect(ends).toHaveLength(1);
  expect(await isClosed(closing)).toBe(false);
  ends[0]?.();
  expect(await isClosed(closing)).toBe(true);
  await vi.advanceTimersByTimeAsync(5000);
  expect(ends).toHaveLength(1);
});

test('close() waits for a write that has begun, and for what was noted during it', async () => {
  const { delayed, ends } = open();
  delayed.schedule();
  await vi.advanceTimersByTimeAsync(1000);
  delayed.schedule();
  const closing = delayed.close();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  expect(await isClosed(closing)).toBe(false);
  ends[0]?.();
  expect(await isClosed(closing)).toBe(true);
});

test('close() resolves when nothing was noted', async () => {
  expect(await isClosed(open().delayed.close())).toBe(true);
});
