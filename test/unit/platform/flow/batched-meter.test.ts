// BatchedMeter: how long an id above its limit is refused, and which points Redis is told.
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

test('an id with many points at once is refused at once, until the excess has been worked off', async () => {
  vi.useFakeTimers();
  const refused = new RateLimiterRes(0, 900, 31, false);
  const limiter = { points: 10, duration: 1, consume: () => Promise.reject(refused) } as unknown as RateLimiterRedis;
  const meter = new BatchedMeter(limiter, { carriesExcess: true });
  meter.add('k', 10);
  expect(meter.isExceeded('k')).toBe(false);
  meter.add('k', 21);
  expect(meter.isExceeded('k')).toBe(true);
  // The rest of the window, and the time in which 21 points more are allowed.
  await vi.advanceTimersByTimeAsync(50 + 900 + 2099);
  expect(meter.isExceeded('k')).toBe(true);
  await vi.advanceTimersByTimeAsync(2);
  expect(meter.isExceeded('k')).toBe(false);
});

test('Redis is told of the points of a second that are enough, and of no fewer', async () => {
  vi.useFakeTimers();
  const told: [string, number][] = [];
  const consume = async (id: string, points: number) => void told.push([id, points]);
  const limiter = { points: 100, duration: 1, consume } as unknown as RateLimiterRedis;
  const meter = new BatchedMeter(limiter, { unreported: 5 });
  // The first points begin a second.
  meter.add('other', 1);
  await vi.advanceTimersByTimeAsync(50);
  meter.add('k', 4);
  await vi.advanceTimersByTimeAsync(50);
  expect(told).toEqual([]);
  meter.add('k', 1);
  await vi.advanceTimersByTimeAsync(50);
  expect(told).toEqual([['k', 5]]);
  meter.add('k', 4);
  await vi.advanceTimersByTimeAsync(1000);
  meter.add('other', 1);
  await vi.advanceTimersByTimeAsync(50);
  meter.add('k', 4);
  await vi.advanceTimersByTimeAsync(50);
  expect(told).toEqual([['k', 5]]);
});
