// Size limit of the properties of a profile.
import { expect, test } from 'vitest';
import { PROFILE_BYTES_MAX, ProfileProperties, propertyBytes } from '../../../src/identity/profile-properties.js';

const HALF = 'x'.repeat(PROFILE_BYTES_MAX / 2 - propertyBytes('a', ''));

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

const SMALL = { a: 1, b: 0.5, c: true, d: 12345678 };

test('a number takes as many bytes as PostgreSQL writes digits, at least eight', () => {
  for (const value of Object.values(SMALL)) expect(propertyBytes('a', value)).toBe(propertyBytes('a', 'x'.repeat(8)));
  for (const value of [1e300, -Number.MAX_VALUE, 5e-324]) expect(propertyBytes('a', value)).toBeGreaterThan(300);
  const properties = new ProfileProperties();
  for (let n = 0; n < 20_000; n += 1) properties.set(`k${n}`, 1e300);
  expect(properties.size).toBeLessThan(PROFILE_BYTES_MAX / 300);
});

test('stored properties above the limit are kept, and grow no further', () => {
  const properties = new ProfileProperties({ a: HALF, b: HALF, c: HALF });
  properties.set('d', 1);
  properties.set('c', `${HALF}x`);
  expect(Object.fromEntries(properties)).toEqual({ a: HALF, b: HALF, c: HALF });
});
