// Parser for dates and timestamps in queries.
import { instantOf } from './timezone.js';

export const MOMENT_FORM = 'a time is written 2026-01-31, 2026-01-31T09:30:00, or with an offset 2026-01-31T09:30:00Z';

const MOMENT = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function monthLength(year: number, month: number): number {
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && isLeapYear ? 29 : (MONTH_LENGTHS[month - 1] ?? 0);
}

function offsetMs(text: string): number {
  if (text.toUpperCase() === 'Z') return 0;
  const sign = text.startsWith('-') ? -1 : 1;
  return sign * (Number(text.slice(1, 3)) * 60 + Number(text.slice(-2))) * 60_000;
}

/** Epoch milliseconds; undefined for an invalid date. Without an offset the time is in `zone`. */
export function tryParseMoment(text: string, zone: string): number | undefined {
  const match = MOMENT.exec(text.trim());
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > monthLength(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59 || year < 1900 || year > 2299) return undefined;
  const millisecond = Math.floor(Number(`0.${match[7] ?? 0}`) * 1000);
  const wall = { year, month, day, hour, minute, second, millisecond };
  return match[8] === undefined ? instantOf(wall, zone) : instantOf(wall, 'UTC') - offsetMs(match[8]);
}
