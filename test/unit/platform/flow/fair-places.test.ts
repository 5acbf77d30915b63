// FairPlaces: order, time slices and lent places of exports.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { FairPlaces, type Place } from '../../../../src/platform/flow/fair-places.js';
import { newUuidV7, toProjectId } from '../../../../src/platform/ids.js';

const [a, b] = [toProjectId(newUuidV7()), toProjectId(newUuidV7())];
const never = new AbortController().signal;

/** Places in the order in which they are granted. */
function createQueue(count: number, times = { sliceMs: 0, lendMs: 10 }) {
  const places = new FairPlaces(count, times);
  const granted: string[] = [];
  const ask = (name: string, project = a, signal = never): Promise<Place> => {
    const asked = places.acquire(project, signal);
    asked.then(
      () => granted.push(name),
      () => granted.push(`${name} left`),
    );
    return asked;
  };
  return { granted, ask };
}

test('a free place goes to the project with the fewest places, of equals to the one served longest ago', async () => {
  const { granted, ask } = createQueue(2);
  const [first] = await Promise.all([ask('a1'), ask('a2')]);
  const waiting = [ask('a3'), ask('a4'), ask('b1', b), ask('b2', b)];
  first.release();
  (await waiting[2])?.release();
  await delay(0);
  expect(granted).toEqual(['a1', 'a2', 'b1', 'b2']);
});

test('after its time slice an export yields its place to another project, and not to its own', async () => {
  const { granted, ask } = createQueue(1);
  const first = await ask('a1');
  void ask('a2');
  first.lend();
  expect(first.takeBack()).toBe(true);
  void ask('b1', b);
  first.lend();
  expect(first.takeBack()).toBe(false);
  first.release();
  await delay(0);
  expect(granted).toEqual(['a1', 'b1']);
});

test('within its time slice an export keeps its place', async () => {
  const { ask } = createQueue(1, { sliceMs: 60_000, lendMs: 60_000 });
  const first = await ask('a1');
  void ask('b1', b);
  first.lend();
  expect(first.takeBack()).toBe(true);
  first.release();
});

test('a lent place goes to any waiting export, and its owner is notified', async () => {
  const { granted, ask } = createQueue(1);
  const first = await ask('a1');
  first.lend();
  await delay(30);
  expect(first.lost.aborted).toBe(false);
  await ask('a2');
  expect(first.lost.aborted).toBe(true);
  expect(first.takeBack()).toBe(false);
  first.release();
  void ask('a3');
  await delay(0);
  expect(granted).toEqual(['a1', 'a2']);
});

test('an aborted export stops waiting', async () => {
  const { granted, ask } = createQueue(1);
  const first = await ask('a1');
  const leaving = new AbortController();
  const left = ask('a2', a, leaving.signal).catch(() => {});
  void ask('a3');
  leaving.abort();
  await left;
  first.release();
  await delay(0);
  expect(granted).toEqual(['a1', 'a2 left', 'a3']);
});

test('a clock that is set back does not lengthen a time slice', async () => {
  const { ask } = createQueue(1, { sliceMs: 5, lendMs: 1000 });
  const first = await ask('a1');
  void ask('b1', b);
  await delay(10);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  expect(first.takeBack()).toBe(false);
  vi.useRealTimers();
});
