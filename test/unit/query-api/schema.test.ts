// The time zone in the body of a query.
import { expect, test } from 'vitest';
import { parseQueryBody } from '../../../src/query-api/schema.js';

test('a time zone is read in any case, and that of the project when there is none', () => {
  expect(parseQueryBody({ q: 'a', timezone: 'europe/berlin' }, 'UTC').timezone).toBe('Europe/Berlin');
  expect(parseQueryBody({ q: 'a' }, 'Asia/Tokyo').timezone).toBe('Asia/Tokyo');
});

test('a time zone that is not known is refused with an example', () => {
  const message = 'timezone is not a known IANA time zone; write a name such as Europe/Berlin';
  expect(() => parseQueryBody({ q: 'a', timezone: 'Europe/Berln' }, 'UTC')).toThrow(message);
});
