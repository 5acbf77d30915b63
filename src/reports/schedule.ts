// Times of reports: `daily 08:00`, `monday 08:00`, `weekdays 08:00`, `monthly 1 08:00`. Pure:
// parsed when a document is saved, and turned into the next instant after another one.
import { dateOfDayNumber, dayNumber, instantOf, wallTimeAt } from '../query/time/timezone.js';

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

export interface Schedule {
  /** Whether a report is due on a day: a day number (timezone.ts), and the day of its month. */
  readonly isOn: (day: number, dayOfMonth: number) => boolean;
  readonly hour: number;
  readonly minute: number;
}

export const SCHEDULE_FORM =
  'is one of daily 08:00, weekdays 08:00, monday 08:00 (or another day), monthly 1 08:00 (days 1 to 28)';

/** Later days are not in every month. */
const MONTH_DAY_MAX = 28;

/** 0 is Monday. Day number 0 was a Thursday. */
const weekdayOf = (day: number): number => (((day + 3) % 7) + 7) % 7;

export function tryParseSchedule(text: string): Schedule | undefined {
  const [, days = '', hours, minutes] = /^\s*(\S+(?:\s+\d{1,2})?)\s+(\d{1,2}):(\d{2})\s*$/.exec(text) ?? [];
  const isOn = tryParseDays(days.toLowerCase());
  const [hour, minute] = [Number(hours), Number(minutes)];
  return isOn !== undefined && hour < 24 && minute < 60 ? { isOn, hour, minute } : undefined;
}

function tryParseDays(days: string): Schedule['isOn'] | undefined {
  if (days === 'daily') return () => true;
  if (days === 'weekdays') return (day) => weekdayOf(day) < 5;
  const weekday = WEEKDAYS.indexOf(days);
  if (weekday >= 0) return (day) => weekdayOf(day) === weekday;
  const ofMonth = Number(/^monthly\s+(\d{1,2})$/.exec(days)?.[1]);
  return ofMonth >= 1 && ofMonth <= MONTH_DAY_MAX ? (_day, dayOfMonth) => dayOfMonth === ofMonth : undefined;
}

/** More days than pass between two reports. */
const DAYS_MAX = 62;

/**
 * Unix milliseconds of the first time after `afterMs`. A local time that a clock change skips means
 * the instant of the change; of one that exists twice, the first.
 */
function nextTime({ isOn, hour, minute }: Schedule, zone: string, afterMs: number): number {
  const today = dayNumber(wallTimeAt(afterMs, zone));
  for (let day = today; day < today + DAYS_MAX; day++) {
    const date = dateOfDayNumber(day);
    if (!isOn(day, date.day)) continue;
    const instant = instantOf({ ...date, hour, minute }, zone);
    if (instant > afterMs) return instant;
  }
  throw new Error('a schedule has a time in every month');
}

/** The next time of a schedule that was checked. */
export function nextTimeOf(text: string, zone: string, after: Date): Date {
  const schedule = tryParseSchedule(text);
  if (schedule === undefined) throw new Error(`${text} is no schedule`);
  return new Date(nextTime(schedule, zone, after.getTime()));
}
