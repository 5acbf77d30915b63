// Size limit of the properties of a profile.
import { expect, test } from 'vitest';
import { PROFILE_BYTES_MAX, ProfileProperties } from '../../../src/identity/profile-properties.js';

const HALF = 'x'.repeat(PROFILE_BYTES_MAX / 2 - 1);

test('a full profile ignores changes that make it larger, and applies others', () => {
  const properties = new ProfileProperties({ a: HALF, b: HALF });
  properties.set('c', 1);
  properties.set('a', `${HALF}x`);
  expect(Object.fromEntries(properties)).toEqual({ a: HALF, b: HALF });
  properties.set('a', 'short');
  properties.set('c', 'ä');
  expect(Object.fromEntries(properties)).toEqual({ a: 'short', b: HALF, c: 'ä' });
});

test('a removed property frees its bytes', () => {
  const properties = new ProfileProperties({ a: HALF, b: HALF });
  properties.delete('b');
  properties.delete('b');
  properties.set('c', HALF);
  expect([...properties.keys()]).toEqual(['a', 'c']);
});
