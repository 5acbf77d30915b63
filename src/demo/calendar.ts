// When people visit: 90 days up to the end, with growth, seasons, weekdays, a sale, and hours of
// their own time zone.
import type { Random } from './random.js';
import { SALE } from './stories.js';

export const DAYS = 90;
const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

const YEAR_DAYS = 365.25;
/** Coffee sells best shortly before the end of the year. */
const BEST_DAY_OF_YEAR = 350;
const SEASON_AMPLITUDE = 0.2;
const GROWTH = { from: 0.75, to: 1.2 } as const;
/** From Sunday. */
const WEEKDAYS = [1.3, 1.05, 1, 0.95, 0.9, 0.75, 1.05] as const;
/** From midnight: quiet nights, a peak at noon and a larger one in the evening. */
const HOURS = [
  ...[10, 5, 3, 2, 2, 3, 8, 16, 26, 32, 36, 42],
  ...[50, 44, 36, 34, 36, 42, 52, 66, 78, 70, 46, 24],
] as const;

const ALL_DAYS: readonly number[] = Array.from({ length: DAYS }, (_, day) => day);

const ALL_HOURS: readonly number[] = HOURS.map((_, hour) => hour);

/** 00:00 UTC of a day; the day of the end is the last, number 89. */
export const startOfDay = (endMs: number, day: number): number =>
  (Math.floor(endMs / DAY_MS) - (DAYS - 1) + day) * DAY_MS;

const weekdayOf = (endMs: number, day: number): number => WEEKDAYS[new Date(startOfDay(endMs, day)).getUTCDay()] ?? 1;

/** Whether someone who could visit on that day does, or waits for the next one. */
export const isVisitDay = (random: Random, endMs: number, day: number): boolean =>
  random.chance(weekdayOf(endMs, day) / Math.max(...WEEKDAYS));

export function demandOf(endMs: number, day: number): number {
  const date = new Date(startOfDay(endMs, day));
  const dayOfYear = (date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS;
  const season = 1 + SEASON_AMPLITUDE * Math.cos((2 * Math.PI * (dayOfYear - BEST_DAY_OF_YEAR)) / YEAR_DAYS);
  const growth = GROWTH.from + ((GROWTH.to - GROWTH.from) * day) / (DAYS - 1);
  const isSale = day >= SALE.days[0] && day <= SALE.days[1];
  return growth * season * weekdayOf(endMs, day) * (isSale ? SALE.visitFactor : 1);
}

/** Picks a day in proportion to its demand, from `first` to `last`. */
export function createDayPicker(endMs: number): (random: Random, first?: number, last?: number) => number {
  const demand = ALL_DAYS.map((day) => demandOf(endMs, day));
  return (random, first = 0, last = DAYS - 1) =>
    random.weighted(ALL_DAYS, (day) => (day >= first && day <= last ? (demand[day] ?? 0) : 0));
}

/** A time on that day, at an hour that is usual where the person lives. */
export function pickTime(random: Random, dayStartMs: number, utcOffsetHours: number): number {
  const local = random.weighted(ALL_HOURS, (hour) => HOURS[hour] ?? 0);
  const utc = (local - utcOffsetHours + 24) % 24;
  return dayStartMs + utc * HOUR_MS + Math.floor(random.next() * HOUR_MS);
}
