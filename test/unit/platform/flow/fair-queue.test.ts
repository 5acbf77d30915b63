// Fair queue: the order between projects, and the limit.
import { expect, test } from 'vitest';
import { FairQueue } from '../../../../src/platform/flow/fair-queue.js';

const anyone = () => true;

function takeAll(queue: FairQueue<string>, mayHaveTurn: (owner: string) => boolean = anyone): string[] {
  const taken: string[] = [];
  for (let next = queue.take(mayHaveTurn); next !== undefined; next = queue.take(mayHaveTurn)) taken.push(next.item);
  return taken;
}

function queueOf(items: readonly [owner: string, item: string][]): FairQueue<string> {
  const queue = new FairQueue<string>({ itemsMax: 100, perOwnerMax: 100 });
  for (const [owner, item] of items) queue.tryAdd(owner, item);
  return queue;
}

test('owners take turns, and each has its items in order', () => {
  const many = Array.from({ length: 4 }, (_, index): [string, string] => ['a', `a${index}`]);
  expect(takeAll(queueOf([...many, ['b', 'b0'], ['c', 'c0'], ['b', 'b1']]))).toEqual([
    ...['a0', 'b0', 'c0', 'a1', 'b1', 'a2', 'a3'],
  ]);
});

test('an owner who has had a turn is behind those who come later', () => {
  const queue = queueOf([
    ['a', 'a0'],
    ['a', 'a1'],
  ]);
  expect(queue.take(anyone)?.item).toBe('a0');
  queue.tryAdd('b', 'b0');
  // Both wait: a was added again before b came.
  expect(takeAll(queue)).toEqual(['a1', 'b0']);
});

test('an owner who may have no turn is passed over, and keeps its place', () => {
  const queue = queueOf([
    ['a', 'a0'],
    ['b', 'b0'],
  ]);
  expect(takeAll(queue, (owner) => owner !== 'a')).toEqual(['b0']);
  expect(queue.size).toBe(1);
  expect(takeAll(queue)).toEqual(['a0']);
});

test('there is no room beyond what one owner, or all together, may have waiting', () => {
  const queue = new FairQueue<string>({ itemsMax: 3, perOwnerMax: 2 });
  expect(queue.tryAdd('a', 'a0')).toBe('added');
  expect(queue.tryAdd('a', 'a1')).toBe('added');
  expect(queue.tryAdd('a', 'a2')).toBe('owner is full');
  expect(queue.tryAdd('b', 'b0')).toBe('added');
  expect(queue.tryAdd('c', 'c0')).toBe('queue is full');
  expect(queue.drain()).toEqual(['a0', 'a1', 'b0']);
  expect(queue.size).toBe(0);
});
