// Clock changes that break the rhythm of whole hours, such as the half hour of Lord Howe Island:
// one hour of the clock is shorter or longer, and later hours begin at another minute in UTC.
import type { TimeRange } from '../analyze/resolved.js';
import { changesOf, dayNumber, offsetAt, wallTimeAt } from './timezone.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const intoHour = (ms: number): number => ((ms % HOUR_MS) + HOUR_MS) % HOUR_MS;

/** Milliseconds since the clock showed a full hour, without changes since. */
const sinceFullHour = (ms: number, zone: string): number => intoHour(ms + offsetAt(ms, zone));

/**
 * First instant of the hour of the clock that contains the instant. An hour goes on behind a change
 * when the clock shows the same hour before and after it.
 */
export function startOfHour(ms: number, zone: string): number {
  const start = ms - sinceFullHour(ms, zone);
  const change = changesOf({ fromMs: start, toMs: ms + 1 }, zone).findLast((at) => at > start);
  if (change === undefined) return start;
  return hourOfClock(change - 1, zone) === hourOfClock(change, zone) ? startOfHour(change - 1, zone) : change;
}

const hourOfClock = (ms: number, zone: string): number => Math.floor((ms + offsetAt(ms, zone)) / HOUR_MS);

export function startOfNextHour(startMs: number, zone: string): number {
  const next = startMs + HOUR_MS - sinceFullHour(startMs, zone);
  if (offsetAt(next, zone) === offsetAt(startMs, zone)) return next;
  const change = changesOf({ fromMs: startMs + 1, toMs: next + 1 }, zone)[0];
  if (change === undefined) return next;
  return startOfHour(change, zone) === change ? change : startOfNextHour(change, zone);
}

/** A change of clocks after which hours begin at another minute, or at which one ends early. */
export interface IrregularChange {
  readonly atMs: number;
  /** Start of the hour that contains the change. */
  readonly hourMs: number;
  /** The first full hour from the change on. */
  readonly fullHourMs: number;
  /** Milliseconds that clocks are ahead of the hours of UTC before the change, and after it. */
  readonly before: number;
  readonly after: number;
}

/** Ascending. Those that may have an effect on the hours of instants in the range. */
export function irregularChanges({ fromMs, toMs }: TimeRange, zone: string): IrregularChange[] {
  return changesOf({ fromMs: fromMs - HOUR_MS, toMs }, zone).flatMap((atMs) => {
    const [before, after] = [offsetAt(atMs - 1, zone), offsetAt(atMs, zone)];
    if (intoHour(atMs + before) === 0 && intoHour(atMs + after) === 0) return [];
    const fullHourMs = atMs + intoHour(-(atMs + after));
    return [{ atMs, hourMs: startOfHour(atMs, zone), fullHourMs, before: intoHour(before), after: intoHour(after) }];
  });
}

/** Days of the range that the calendar of the zone does not have, as midnight in UTC. */
export function skippedDays(range: TimeRange, zone: string): number[] {
  return changesOf(range, zone).flatMap((atMs) => {
    if (offsetAt(atMs, zone) - offsetAt(atMs - 1, zone) < DAY_MS) return [];
    const [last, next] = [atMs - 1, atMs].map((ms) => dayNumber(wallTimeAt(ms, zone))) as [number, number];
    return Array.from({ length: next - last - 1 }, (_, index) => (last + 1 + index) * DAY_MS);
  });
}

const skippedByZone = new Map<string, readonly number[]>();
const [FIRST_YEAR, LAST_YEAR] = [1970, 2037];
/** More than daylight saving moves clocks. */
const CROSSING_MS = DAY_MS / 2;

/**
 * The days since 1970 that the calendar of the zone does not have, as days since 1970. A zone skips
 * a day when it crosses the date line, and then its clocks stay ahead: only years that begin and
 * end with offsets far apart are searched.
 */
export function allSkippedDays(zone: string): readonly number[] {
  const known = skippedByZone.get(zone) ?? findSkippedDays(zone);
  skippedByZone.set(zone, known);
  return known;
}

function findSkippedDays(zone: string): number[] {
  const found: number[] = [];
  let before = Number.POSITIVE_INFINITY;
  for (let year = FIRST_YEAR; year <= LAST_YEAR; year++) {
    const toMs = Date.UTC(year + 1, 0, 4);
    const after = offsetAt(toMs, zone);
    if (after - before > CROSSING_MS) {
      found.push(...skippedDays({ fromMs: Date.UTC(year, 0, 4), toMs }, zone).map((ms) => ms / DAY_MS));
    }
    before = after;
  }
  return found;
}

/** Buckets that are evenly apart: the number of the first in its range, and where it starts. */
export interface EvenBuckets {
  readonly index: number;
  readonly start: number;
}

/** The hours of the range, in seconds. */
export function evenHours(range: TimeRange, zone: string): EvenBuckets[] {
  const runs = [{ index: 0, start: startOfHour(range.fromMs, zone) / 1000 }];
  for (const { atMs } of irregularChanges(range, zone)) {
    // The hour before the change, and the next, may have another length.
    const before = startOfHour(atMs - 1, zone);
    for (const hourMs of [before, startOfNextHour(before, zone)]) {
      const nextMs = startOfNextHour(hourMs, zone);
      const last = runs.at(-1) as EvenBuckets;
      if (nextMs === hourMs + HOUR_MS || nextMs / 1000 <= last.start) continue;
      const hours = (hourMs / 1000 - last.start) / (HOUR_MS / 1000);
      runs.push({ index: last.index + hours + 1, start: nextMs / 1000 });
    }
  }
  return runs;
}

/** The days of the range, in days since 1970. */
export function evenDays(range: TimeRange, zone: string): EvenBuckets[] {
  const runs = [{ index: 0, start: dayNumber(wallTimeAt(range.fromMs, zone)) }];
  for (const skippedMs of skippedDays(range, zone)) {
    const last = runs.at(-1) as EvenBuckets;
    const skipped = skippedMs / DAY_MS;
    // A range that begins with the change begins behind the day.
    if (skipped < last.start) continue;
    runs.push({ index: last.index + skipped - last.start, start: skipped + 1 });
  }
  return runs;
}
