// The time of the service in a browser whose clock is wrong.
import { afterEach, expect, test, vi } from 'vitest';
import { partOf } from '../../../console/src/answer/buckets.js';
import { readClock } from '../../../console/src/api/clock.js';

const DAY_MS = 86_400_000;

const answeredAt = (time: Date) => new Response('{}', { headers: { Date: time.toUTCString() } });

afterEach(() => {
  vi.useRealTimers();
  // Other tests share the module.
  readClock(answeredAt(new Date()));
});

test.each([-1, 1])('a bucket is running by the clock of the service, when that of the browser is %d d off', (days) => {
  const service = new Date('2026-11-28T12:00:00Z');
  vi.useFakeTimers({ now: service.getTime() + days * DAY_MS });
  readClock(answeredAt(service));
  const of = (to: string) => ({ period: `2026-11-01T00:00:00Z/${to}`, timeZone: 'UTC' });
  expect(partOf('day', '2026-11-28', of('2026-11-28T12:00:00Z'))).toBe('so far');
  expect(partOf('day', '2026-11-28', of('2026-11-28T11:00:00Z'))).toBe('partial');
});
