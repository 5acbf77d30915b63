// The time zone in the body of a query, and fields that no query reads.
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

test('fields that no query reads are ignored with a warning each', () => {
  const { warnings } = parseQueryBody({ q: 'a', timzone: 'Asia/Tokyo', 'tz\n': 'UTC' }, 'UTC');
  expect(warnings).toEqual([
    'the field "timzone" of the body is unknown and was ignored; nearest: "timezone"',
    'the field "tz " of the body is unknown and was ignored; fields are q, format, limit, offset, timezone, explain',
  ]);
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`field_${at}`, 1]));
  expect(parseQueryBody({ q: 'a', ...many }, 'UTC').warnings).toHaveLength(5);
  expect(parseQueryBody({ q: 'a', limit: 1, offset: 0, explain: false }, 'UTC').warnings).toEqual([]);
});
