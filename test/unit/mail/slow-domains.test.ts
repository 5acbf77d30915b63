import { afterEach, expect, test, vi } from 'vitest';
import { SlowDomains } from '../../../src/mail/slow-domains.js';

afterEach(() => vi.useRealTimers());

test('after a timeout one mail at a time tries a domain, until one is answered', () => {
  vi.useFakeTimers({ now: 0 });
  const domains = new SlowDomains(60_000);
  const take = () => domains.takeTurn('b@slow.example.com');
  expect(take()).toBeUndefined();
  domains.timedOut('a@Slow.example.com');
  vi.advanceTimersByTime(1);
  expect(take()).toBe(59_999);
  expect(domains.takeTurn('a@example.com')).toBeUndefined();
  vi.advanceTimersByTime(59_999);
  expect(take()).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(take()).toBe(59_999);
  domains.answered('a@slow.example.com');
  expect(take()).toBeUndefined();
  expect(take()).toBeUndefined();
});

test('a change of the clock changes no wait', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 29) });
  const domains = new SlowDomains(60_000);
  domains.timedOut('a@slow.example.com');
  for (const now of [Date.UTC(2026, 10, 28), Date.UTC(2026, 10, 30)]) {
    vi.setSystemTime(now);
    expect(domains.takeTurn('a@slow.example.com')).toBe(60_000);
  }
});
