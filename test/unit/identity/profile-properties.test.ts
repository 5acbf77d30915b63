import { expect, test } from 'vitest';
import { PROFILE_BYTES_MAX, ProfileProperties } from '../../../src/identity/profile-properties.js';

const HALF = 'x'.repeat(PROFILE_BYTES_MAX / 2 - 1);

test('a profile that is full takes nothing that makes it larger, and everything else', () => {
  const properties = new ProfileProperties({ a: HALF, b: HALF });
  properties.set('c', 1);
  properties.set('a', `${HALF}x`);
  expect(Object.fromEntries(properties)).toEqual({ a: HALF, b: HALF });
  properties.set('a', 'short');
  properties.set('c', 'ä');
  expect(Object.fromEntries(properties)).toEqual({ a: 'short', b: HALF, c: 'ä' });
});

test('what is removed makes room', () => {
  const properties = new ProfileProperties({ a: HALF, b: HALF });
  properties.delete('b');
  properties.delete('b');
  properties.set('c', HALF);
  expect([...properties.keys()]).toEqual(['a', 'c']);
});
