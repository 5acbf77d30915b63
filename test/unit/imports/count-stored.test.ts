// Counting of what an import stored, with a stub of the service's answers.
import { expect, test } from 'vitest';
import { countStored, createCounter } from '../../../src/imports/count-stored.js';
import { startScriptedServer } from '../../support/scripted-server.js';

/** Counts in their order; the last one repeats. */
function createCounts(...counts: (number | undefined)[]) {
  let asked = 0;
  return async () => counts[Math.min(asked++, counts.length - 1)];
}

const wait = async () => undefined;
const isCounted = async () => true;
const isNotCounted = async () => false;

test('new events are all there as soon as their number is', async () => {
  const options = { before: 10, sent: 5, sendLastAgain: isCounted, wait };
  expect(await countStored(createCounts(10, 12, 15), options)).toBe(5);
});

test('events of others that arrive meanwhile are not more than were sent', async () => {
  expect(await countStored(createCounts(90), { before: 10, sent: 5, sendLastAgain: isCounted, wait })).toBe(5);
});

test('a second import stores none', async () => {
  expect(await countStored(createCounts(15), { before: 15, sent: 5, sendLastAgain: isCounted, wait })).toBe(0);
});

test('an import that overlaps stores the rest, although its last events were known', async () => {
  const late = [15, 15, 15, 15, 15, 15, 17];
  expect(await countStored(createCounts(...late), { before: 15, sent: 5, sendLastAgain: isCounted, wait })).toBe(2);
});

test('each change of the count begins the wait for another', async () => {
  const slow = [...Array(10).fill(0), ...Array(10).fill(1), 5];
  expect(await countStored(createCounts(...slow), { before: 0, sent: 5, sendLastAgain: isCounted, wait })).toBe(5);
});

test('an import stores no fewer events than none when others are deleted meanwhile', async () => {
  expect(await countStored(createCounts(7), { before: 10, sent: 5, sendLastAgain: isCounted, wait })).toBe(0);
});

test('events that wait longer than an answer are waited for while others are counted', async () => {
  const answers = [false, false, true];
  const sendLastAgain = async () => answers.shift() ?? true;
  expect(await countStored(createCounts(0, 1, 2, 2), { before: 0, sent: 5, sendLastAgain, wait })).toBe(2);
});

test('a count that never settles, below what was sent, ends the wait', async () => {
  let asked = 0;
  const alternating = async () => [15, 16][asked++ % 2];
  await countStored(alternating, { before: 10, sent: 50, sendLastAgain: isNotCounted, wait });
  await countStored(alternating, { before: 10, sent: 50, sendLastAgain: isCounted, wait });
  // Events of another import of the same source, at a rate that never reaches what was sent.
  let others = 10;
  const growing = async () => others++;
  await countStored(growing, { before: 10, sent: 1e9, sendLastAgain: isCounted, wait });
  expect(others).toBeLessThan(1000);
});

test('the number is unknown while the service counts nothing, or does not answer', async () => {
  const options = { before: 0, sent: 5, wait };
  expect(await countStored(createCounts(0), { ...options, sendLastAgain: isNotCounted })).toBeUndefined();
  expect(await countStored(createCounts(0, undefined), { ...options, sendLastAgain: isCounted })).toBeUndefined();
  expect(await countStored(createCounts(undefined), { ...options, sendLastAgain: isCounted })).toBeUndefined();
});

test('the service counts the events of the source at all times', async () => {
  const server = await startScriptedServer();
  server.answers.push({ status: 200, body: '{"rows":[{"count":7}]}' }, { status: 503 });
  const count = createCounter({ url: server.url, key: 'sk_a', library: 'service-import/mixpanel' });
  expect([await count(), await count()]).toEqual([7, undefined]);
  expect(server.requests[0]).toMatchObject({
    path: '/query',
    headers: { 'x-api-key': 'sk_a' },
    body: { q: '* | from 2000-01-01 to 2100-01-01 | where _library = "service-import/mixpanel" | count' },
  });
  await server.close();
});

test('a count that is interrupted ends the import', async () => {
  const signal = AbortSignal.abort(new Error('interrupted'));
  const count = createCounter({ url: 'http://127.0.0.1:9', key: 'sk_a', library: 'l', signal });
  await expect(count()).rejects.toThrow('interrupted');
});
