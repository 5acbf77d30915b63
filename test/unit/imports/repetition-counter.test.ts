// Numbering of identical log lines within a window of memory.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { RepetitionCounter } from '../../../src/imports/repetition-counter.js';

const digestLine = (text: string): Buffer => createHash('sha256').update(text).digest();

const CASES: readonly (readonly [rule: string, lines: string, numbers: readonly number[]])[] = [
  ['every line counts for itself', 'abab', [0, 0, 1, 1]],
  ['in any order', 'abcacb', [0, 0, 0, 1, 1, 1]],
  ['across a generation', 'abcda', [0, 0, 0, 0, 1]],
  ['a line of the previous generation is carried on', 'aabcdaa', [0, 1, 0, 0, 0, 2, 3]],
  ['a line is forgotten after two generations', 'abcdefgha', [0, 0, 0, 0, 0, 0, 0, 0, 0]],
];

test.each(CASES)('RepetitionCounter: %s', (_rule, lines, numbers) => {
  const counter = new RepetitionCounter(4);
  const file = {};
  expect([...lines].map((line) => counter.next(digestLine(line), file))).toEqual(numbers);
});

test('RepetitionCounter: each file is numbered for itself, also what is in its previous generation', () => {
  const counter = new RepetitionCounter(2);
  const [first, second] = [{}, {}];
  expect([...'abc'].map((line) => counter.next(digestLine(line), first))).toEqual([0, 0, 0]);
  expect([...'abca'].map((line) => counter.next(digestLine(line), second))).toEqual([0, 0, 0, 1]);
});
