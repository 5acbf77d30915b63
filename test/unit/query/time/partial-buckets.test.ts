// Which time buckets of an answer are partial: by the range, the present, the zone and the source.
import { expect, test } from 'vitest';
import { compile } from '../../../../src/query/compile.js';
import { CONTEXT } from '../compiling.js';

const NOW = '2026-11-20T09:30:15Z';

test.each([
  ['a | last 7d | count by day', 'UTC', ['2026-11-13', '2026-11-20']],
  ['a | from 2026-11-13 to 2026-11-20 | count by day', 'UTC', []],
  ['a | from 2026-11-13 to 2026-11-20 | count by week', 'UTC', ['2026-11-09', '2026-11-16']],
  // The month ends later than now, and begins with its first bucket.
  ['a | from 2026-11-01 to 2026-12-01 | count by day', 'Europe/Berlin', ['2026-11-20']],
  ['a | from 2027-01-01 to 2027-01-05 | count by day', 'UTC', []],
  ['a | from 2027-01-01T12:00:00 to 2027-01-05 | count by day', 'UTC', ['2027-01-01']],
  ['a | this month | count by month', 'Asia/Tokyo', ['2026-11-01']],
  ['a | last 1h | count by hour', 'Asia/Kolkata', ['2026-11-20T08:30:00Z', '2026-11-20T09:30:00Z']],
  ['a | today | count by minute', 'UTC', ['2026-11-20T09:30:00Z']],
  ['formula count(a) as n by week | last 7d', 'UTC', ['2026-11-09', '2026-11-16']],
  ['sessions | last 2d', 'UTC', ['2026-11-18', '2026-11-20']],
  // Each value looks back for 28 days: only the last day is not over.
  ['a | last 7d | unique by day | rolling 28d', 'UTC', ['2026-11-20']],
  ['a | last 7d | count by weekday', 'UTC', []],
  // The range cuts no day of another time; the present does.
  ['users | last 30d | count by day of first_seen', 'UTC', ['2026-11-20']],
  ['a | from 2026-11-03 to 2026-11-05 | count by week of user.first_seen', 'UTC', ['2026-11-16']],
  ['a | last 7d | count by day of session.start_time', 'UTC', ['2026-11-20']],
  ['a | last 7d | count by day of user.last_seen', 'UTC', ['2026-11-20']],
  ['sessions | last 2d | count by day of session.end_time', 'UTC', ['2026-11-20']],
  ['users | last 7d | count by day', 'UTC', ['2026-11-13', '2026-11-20']],
  // The range selects these rows by the time that is named.
  ['users | last 30d | count by day of last_seen', 'UTC', ['2026-10-21', '2026-11-20']],
  ['users | last 7d | count by day of user.last_seen', 'UTC', ['2026-11-13', '2026-11-20']],
  ['sessions | last 2d | count by day of session.start_time', 'UTC', ['2026-11-18', '2026-11-20']],
  ['a | last 2d | latest user_id per device_id | count by day of set_at', 'UTC', ['2026-11-18', '2026-11-20']],
  // Periods of a lifecycle are whole; in the one that runs, people may still return.
  ['lifecycle a | last 14d', 'UTC', ['2026-11-16']],
  ['lifecycle a by month', 'Asia/Tokyo', ['2026-11-01']],
  ['lifecycle a by day | last 2d', 'Pacific/Kiritimati', ['2026-11-20']],
  ['lifecycle a | last 14d | people new', 'UTC', []],
  ['a | last 7d | count by _country', 'UTC', []],
])('%s in %s', (query, timezone, expected) => {
  const { partial } = compile(query, { ...CONTEXT, nowMs: Date.parse(NOW), timezone });
  expect(partial?.startsMs ?? []).toEqual(expected.map((start) => Date.parse(start)));
});
