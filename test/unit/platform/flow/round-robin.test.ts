// RoundRobin, Turns and interleave: fair order over keys.
import { expect, test } from 'vitest';
import { interleave, RoundRobin } from '../../../../src/platform/flow/round-robin.js';
import { Turns } from '../../../../src/platform/flow/turns.js';

test('RoundRobin alternates keys, first in, first out within a key', () => {
  const queue = new RoundRobin<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.push(item.slice(0, 1), item);
  expect(queue.peek()).toBe('a1');
  const taken = [queue.shift(), queue.shift()];
  queue.push('b', 'b2');
  while (!queue.isEmpty) taken.push(queue.shift());
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'c2', 'a3']);
  expect([queue.shift(), queue.peek()]).toEqual([undefined, undefined]);
});

test('RoundRobin keeps items of one kind together within their key', () => {
  const queue = new RoundRobin<string>();
  queue.push('a', 'a 2024 first', '2024');
  queue.push('a', 'a 2023', '2023');
  queue.push('b', 'b');
  queue.push('a', 'a 2024 second', '2024');
  const taken = [];
  while (!queue.isEmpty) taken.push(queue.shift());
  expect(taken).toEqual(['a 2024 first', 'b', 'a 2024 second', 'a 2023']);
});

test('Turns starts one task per iteration of the event loop, round-robin by key', async () => {
  const turns = new Turns();
  const begun: string[] = [];
  let iteration = 0;
  const count = () => {
    iteration += 1;
    if (begun.length < 4) setImmediate(count);
  };
  count();
  await Promise.all(
    ['a1', 'a2', 'a3', 'b1'].map(async (name) => {
      await turns.enter(name.slice(0, 1));
      begun.push(`${name} in iteration ${iteration}`);
    }),
  );
  expect(begun.map((text) => text.slice(0, 2))).toEqual(['a1', 'a2', 'b1', 'a3']);
  expect(new Set(begun.map((text) => text.slice(3))).size).toBe(4);
});

test('interleave() alternates items by key', () => {
  expect(interleave(['a1', 'a2', 'b1', 'a3', 'c1', 'b2'], ([key = '']) => key)).toEqual([
    ...['a1', 'b1', 'c1', 'a2', 'b2', 'a3'],
  ]);
});

test('shift() skips a key that the predicate refuses, and keeps its position', () => {
  const queue = new RoundRobin<string>();
  for (const item of ['a1', 'b1', 'b2']) queue.push(item.slice(0, 1), item);
  const taken = [queue.shift((key) => key !== 'a'), queue.shift((key) => key !== 'a')];
  expect(taken).toEqual(['b1', 'b2']);
  expect(queue.shift((key) => key !== 'a')).toBe(undefined);
  expect([queue.size, queue.countOf('a'), queue.countOf('b')]).toEqual([1, 1, 0]);
  expect(queue.shift()).toBe('a1');
});

test('shift() puts a served key behind keys that arrived meanwhile', () => {
  const queue = new RoundRobin<string>();
  for (const item of ['a1', 'a2']) queue.push('a', item);
  expect(queue.shift()).toBe('a1');
  queue.push('b', 'b1');
  // Both wait: a was added again before b came.
  expect([queue.shift(), queue.shift()]).toEqual(['a2', 'b1']);
});
