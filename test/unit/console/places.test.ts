// Places for the requests of a page that may run at a time.
import { afterEach, expect, test, vi } from 'vitest';
import { createPlaces } from '../../../console/src/api/places.js';

const stay = new AbortController().signal;

afterEach(() => void vi.useRealTimers());

test('a place goes to the one that waits, and not to one that comes in the same moment', async () => {
  const { enter, leave } = createPlaces(2, 0);
  const inside: string[] = [];
  const come = (name: string) => void enter(stay).then(() => inside.push(name));
  for (const name of ['a', 'b', 'c']) come(name);
  await null;
  leave();
  come('d');
  await expect.poll(() => inside).toEqual(['a', 'b', 'c']);
  leave();
  leave();
  come('e');
  await expect.poll(() => inside).toHaveLength(5);
});

test('callers that have left meanwhile do not hold up those that follow', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout'] });
  const { enter, leave } = createPlaces(1, 70);
  const first = enter(stay);
  for (let count = 0; count < 30; count++) void enter(AbortSignal.abort()).then(leave);
  await vi.advanceTimersByTimeAsync(70);
  await first;
  leave();
  const next = vi.fn();
  void enter(stay).then(next);
  await vi.advanceTimersByTimeAsync(70);
  expect(next).toHaveBeenCalled();
});
