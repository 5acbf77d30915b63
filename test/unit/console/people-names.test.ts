// What a person is called in a heading.
import { expect, test } from 'vitest';
import { headingOf } from '../../../console/src/people/names.js';

test.each([
  [{ properties: { name: 'Ada' }, email: 'ada@example.com' }, 'Ada'],
  [{ properties: { name: '' }, email: 'ada@example.com' }, 'ada@example.com'],
  [{ properties: { name: 7 }, email: null }, undefined],
  [{ properties: null, email: null }, undefined],
  [undefined, undefined],
])('headingOf(%j) is %j', (profile, expected) => expect(headingOf(profile)).toBe(expected));
