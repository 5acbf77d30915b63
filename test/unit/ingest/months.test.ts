// Grouping of events by months and quarters.
import { expect, test } from 'vitest';
import { groupByMonths, MonthSet, monthOf } from '../../../src/ingest/insert/months.js';

const eventsOf = (...days: string[]) => days.map((day) => ({ day, time: Date.parse(day) }));
const ofYears = (from: number, to: number) =>
  Array.from({ length: (to - from + 1) * 12 }, (_, month) => ({
    time: Date.UTC(from + Math.floor(month / 12), month % 12, 28, 23, 59, 59, 999),
  }));

test('MonthSet counts distinct months in UTC', () => {
  const months = new MonthSet();
  for (const { time } of eventsOf(
    '2026-01-31T23:59:59.999Z',
    '2026-02-01',
    '2026-01-01',
    '2000-01-01',
    '2027-01-01T00:00:00+01:00',
  )) {
    months.add(time);
  }
  expect(months.size).toBe(4);
  expect(monthOf(Date.UTC(2026, 11, 31)) + 1).toBe(monthOf(Date.UTC(2027, 0, 1)));
});

test('groupByMonths() keeps events of at most three months together', () => {
  const events = eventsOf('2025-12-31', '2026-01-01', '2026-02-28', '2025-12-01');
  expect(groupByMonths(events)).toEqual([events]);
});

test('groupByMonths() splits events of more months by quarter, newest first', () => {
  const events = ofYears(2000, 2026);
  const groups = groupByMonths(events);
  expect(groups).toHaveLength(27 * 4);
  expect(groups[0]?.[0]).toEqual({ time: Date.UTC(2026, 9, 28, 23, 59, 59, 999) });
  for (const group of groups) expect(new Set(group.map(({ time }) => monthOf(time))).size).toBe(3);
  expect(
    groups
      .flat()
      .map(({ time }) => time)
      .sort((a, b) => a - b),
  ).toEqual(events.map(({ time }) => time));
});
