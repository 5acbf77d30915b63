// BatchedMeter: how long an id above its limit is refused.
import { type RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { afterEach, expect, test, vi } from 'vitest';
import { BatchedMeter } from '../../../../src/platform/flow/batched-meter.js';

afterEach(() => void vi.useRealTimers());

test('an id above its limit is refused for the rest of the window, also when the clock is set back', async () => {
  vi.useFakeTimers();
  const refused = new RateLimiterRes(0, 900, 11, false);
  const limiter = { points: 10, duration: 1, consume: () => Promise.reject(refused) } as unknown as RateLimiterRedis;
  const meter = new BatchedMeter(limiter);
  meter.add('k', 11);
  await vi.advanceTimersByTimeAsync(50);
  expect(meter.isExceeded('k')).toBe(true);
  vi.setSystemTime(Date.now() - 3_600_000);
  await vi.advanceTimersByTimeAsync(899);
  expect(meter.isExceeded('k')).toBe(true);
  await vi.advanceTimersByTimeAsync(1);
  expect(meter.isExceeded('k')).toBe(false);
});
