// How often a dashboard is read again by itself.
import { expect, test } from 'vitest';
import { refreshMs } from '../../../console/src/dashboards/refresh.js';

test('an interval is that of the document', () => {
  expect([refreshMs('10s'), refreshMs('5m'), refreshMs('24h'), refreshMs()]).toEqual([
    10_000,
    300_000,
    86_400_000,
    undefined,
  ]);
});

test('an interval that timers cannot wait for is the longest that they can', () => {
  for (const every of ['597h', '35792m', '999999h']) expect(refreshMs(every)).toBe(2 ** 31 - 1);
  expect(refreshMs('596h')).toBe(596 * 3_600_000);
});
