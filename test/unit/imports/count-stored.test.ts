// Counting of what an import stored, with a stub of the service's answers.
import { expect, test } from 'vitest';
import { countStored } from '../../../src/imports/count-stored.js';

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
