import { expect, test } from 'vitest';
import { parseConfig } from '../../../src/platform/config.js';
import { purgeEveryMs } from '../../../src/privacy/purge-interval.js';

const MINUTE_MS = 60_000;
const every = (delayMs: number, byMs: number): number =>
  purgeEveryMs({ PRIVACY_PURGE_DELAY_MS: delayMs, PRIVACY_PURGE_BY_MS: byMs });

test('by default files are rewritten at most every ten minutes', () => {
  const config = parseConfig({
    DATABASE_URL: 'postgres://x',
    REDIS_URL: 'redis://x',
    CLICKHOUSE_URL: 'http://x',
    SECRET_KEY_BASE: 'x'.repeat(32),
  });
  expect(purgeEveryMs(config)).toBe(10 * MINUTE_MS);
});

test('three purges fit between the earliest moment and the deadline', () => {
  for (const [delayMs, byMs] of [
    [30 * MINUTE_MS, 60 * MINUTE_MS],
    [50 * MINUTE_MS, 60 * MINUTE_MS],
    [MINUTE_MS, 24 * 60 * MINUTE_MS],
  ] as const) {
    expect(3 * every(delayMs, byMs)).toBeLessThanOrEqual(byMs - delayMs);
    expect(3 * every(delayMs, byMs)).toBeLessThanOrEqual(delayMs);
  }
});

test('without a delay each purge may follow at once', () => {
  expect(every(0, 60 * MINUTE_MS)).toBe(0);
});
