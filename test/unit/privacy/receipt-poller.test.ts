// ReceiptPoller: shared polling of erasure receipts.
import { expect, test } from 'vitest';
import { ReceiptPoller } from '../../../src/privacy/receipt-poller.js';

const here = { timeoutMs: 5_000, isGone: () => false };

test('polls all waiting requests with one query and resolves each with its own result', async () => {
  const asked: (readonly string[])[] = [];
  const erased = new Set<string>();
  const poller = new ReceiptPoller(async (ids) => {
    asked.push(ids);
    return ids.filter((id) => erased.has(id));
  });
  const waits = ['a', 'b', 'c'].map((id) => poller.wait(id, here));
  erased.add('b');
  expect(await waits[1]).toBe(true);
  erased.add('a').add('c');
  expect(await Promise.all(waits)).toEqual([true, true, true]);
  expect(asked.length).toBeLessThanOrEqual(4);
});

test.each([
  ['takes longer than it may', { timeoutMs: 0, isGone: () => false }],
  ['waits for a connection that was closed', { timeoutMs: 5_000, isGone: () => true }],
])('resolves false for a request that %s', async (_, options) => {
  expect(await new ReceiptPoller(async () => []).wait('a', options)).toBe(false);
});

test('retries when the database fails', async () => {
  let attempts = 0;
  const poller = new ReceiptPoller(async (ids) => {
    attempts += 1;
    if (attempts < 3) throw new Error('not now');
    return ids;
  });
  expect(await poller.wait('a', here)).toBe(true);
});
