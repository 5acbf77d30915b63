import { expect, test } from 'vitest';
import { ReceiptPoller } from '../../../src/privacy/receipt-poller.js';

const here = { timeoutMs: 5_000, isGone: () => false };

test('one query asks for all that wait, and each is told of its own', async () => {
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
])('a request that %s is told so', async (_, options) => {
  expect(await new ReceiptPoller(async () => []).wait('a', options)).toBe(false);
});

test('a database that fails is asked again', async () => {
  let attempts = 0;
  const poller = new ReceiptPoller(async (ids) => {
    attempts += 1;
    if (attempts < 3) throw new Error('not now');
    return ids;
  });
  expect(await poller.wait('a', here)).toBe(true);
});
