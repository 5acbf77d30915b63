// Days for which Redis keeps the counts of rejected and of dropped events.
import { DAY_MS, toDay } from '../platform/utc-day.js';

const COUNTED_DAYS = 30;

/** A day's counts are kept so long after their last change. */
export const COUNTS_KEPT_MS = (COUNTED_DAYS + 1) * DAY_MS;

/** YYYY-MM-DD (UTC), the day of `now` first. */
export const countedDays = (now: number): string[] =>
  Array.from({ length: COUNTED_DAYS }, (_, age) => toDay(new Date(now - age * DAY_MS)));
