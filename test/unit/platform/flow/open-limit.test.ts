// How many of something are open at once: of a project, of an owner with all projects, and of all.
import { expect, test } from 'vitest';
import { OpenLimit } from '../../../../src/platform/flow/open-limit.js';

const held = (projectId: string, ownerId: string) => ({ projectId, ownerId });

test('a project holds a quarter of the places, an owner with several projects half', () => {
  const limit = new OpenLimit('views', 8);
  const leaving = ['a', 'a', 'b', 'b'].map((id) => limit.open(held(id, 'ann')));
  expect(() => limit.open(held('a', 'ann'))).toThrow('2 views of this project are open; its limit is 2');
  expect(() => limit.open(held('c', 'ann'))).toThrow('4 views of the owner of this project are open; their limit is 4');
  limit.open(held('d', 'dan'));
  leaving[0]?.();
  limit.open(held('c', 'ann'));
});

test('all places are held by several owners', () => {
  const limit = new OpenLimit('views', 4);
  const leaving = ['a', 'b', 'c', 'd'].map((id) => limit.open(held(id, `owner ${id}`)));
  expect(() => limit.open(held('e', 'eve'))).toThrow('4 views are open; the limit is 4');
  for (const leave of leaving) leave();
  limit.open(held('e', 'eve'));
});
