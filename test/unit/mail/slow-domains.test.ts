import { expect, test } from 'vitest';
import { SlowDomains } from '../../../src/mail/slow-domains.js';

test('after a timeout one mail at a time tries a domain, until one is answered', () => {
  const domains = new SlowDomains(60_000);
  const take = (nowMs: number) => domains.takeTurn('b@slow.example.com', nowMs);
  expect(take(0)).toBeUndefined();
  domains.timedOut('a@Slow.example.com', 30_000);
  expect(take(30_001)).toBe(90_000);
  expect(domains.takeTurn('a@example.com', 30_001)).toBeUndefined();
  expect(take(90_000)).toBeUndefined();
  expect(take(90_001)).toBe(150_000);
  domains.answered('a@slow.example.com');
  expect(take(90_002)).toBeUndefined();
  expect(take(90_003)).toBeUndefined();
});
