// Instants as text.
import { expect, test } from 'vitest';
import { formatInstant } from '../../../src/platform/instant.js';

test('formatInstant() writes milliseconds unless they are 0', () => {
  expect(formatInstant(Date.UTC(2026, 0, 1))).toBe('2026-01-01T00:00:00Z');
  expect(formatInstant(Date.UTC(2026, 0, 1) + 5)).toBe('2026-01-01T00:00:00.005Z');
});
