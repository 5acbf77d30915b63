// Wall-clock arithmetic in IANA time zones: where a calendar day starts, and which instant a local
// time means on days with a clock change. Temporal does the arithmetic (temporal-polyfill, until
// Node has it).
import { Temporal } from 'temporal-polyfill';

export interface WallTime {
  readonly year: number;
  /** 1 to 12. Arithmetic may go outside: month 13 is January of the next year. */
  readonly month: number;
  readonly day: number;
  readonly hour?: number;
  readonly minute?: number;
  readonly second?: number;
  readonly millisecond?: number;
}

// Resolving a name costs more than compiling a query, so each is resolved once.
const zones = new Map<string, string | undefined>();
const ZONES_MAX = 1000;

/**
 * The time zone as it is written, in the case of the IANA database; undefined for an unknown zone.
 * An alias stays, except that those of UTC are UTC.
 */
export function findTimeZone(name: string): string | undefined {
  if (name === 'UTC') return name;
  if (!zones.has(name)) {
    if (zones.size >= ZONES_MAX) zones.clear();
    zones.set(name, tryResolveZone(name));
  }
  return zones.get(name);
}

function tryResolveZone(timeZone: string): string | undefined {
  // Intl accepts offsets such as "+02:00" and names of System V, which ClickHouse does not know.
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(timeZone) || timeZone.startsWith('SystemV/'))
    return undefined;
  try {
    const resolved = new Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone;
    // Abbreviations such as PST, which only Intl knows, are answered with the name of the zone.
    return resolved === 'UTC' ? resolved : (nameInDatabase(timeZone) ?? resolved);
  } catch {
    return undefined;
  }
}

/** Intl has older names than the IANA database: Asia/Calcutta for Asia/Kolkata. */
function nameInDatabase(timeZone: string): string | undefined {
  try {
    return zonedAt(0, timeZone).timeZoneId;
  } catch {
    return undefined;
  }
}

const zonedAt = (instantMs: number, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(zone);

/** Milliseconds that the zone's clocks are ahead of UTC at this instant. */
export const offsetAt = (instantMs: number, zone: string): number =>
  zone === 'UTC' ? 0 : zonedAt(instantMs, zone).offsetNanoseconds / 1_000_000;

/** Instants from the start of the range to before its end at which clocks change, ascending. */
export function changesOf({ fromMs, toMs }: { fromMs: number; toMs: number }, zone: string): number[] {
  const changes: number[] = [];
  if (zone === 'UTC') return changes;
  let at = zonedAt(fromMs - 1, zone).getTimeZoneTransition('next');
  for (; at !== null && at.epochMilliseconds < toMs; at = at.getTimeZoneTransition('next')) {
    changes.push(at.epochMilliseconds);
  }
  return changes;
}

export function wallTimeAt(instantMs: number, zone: string): Required<WallTime> {
  const { year, month, day, hour, minute, second, millisecond } = zonedAt(instantMs, zone);
  return { year, month, day, hour, minute, second, millisecond };
}

function toUtc(wall: WallTime): number {
  const date = new Date(0);
  date.setUTCFullYear(wall.year, wall.month - 1, wall.day);
  date.setUTCHours(wall.hour ?? 0, wall.minute ?? 0, wall.second ?? 0, wall.millisecond ?? 0);
  return date.getTime();
}

const DAY_MS = 86_400_000;

/**
 * The first instant at which the zone's clocks show this time. A time that is skipped by a clock
 * change means the instant of the change, so a day without midnight begins at its real start.
 */
export function instantOf(wall: WallTime, zone: string): number {
  const utc = toUtc(wall);
  if (zone === 'UTC') return utc;
  const local = Temporal.Instant.fromEpochMilliseconds(utc).toZonedDateTimeISO('UTC').toPlainDateTime();
  const earlier = local.toZonedDateTime(zone, { disambiguation: 'earlier' });
  if (earlier.toPlainDateTime().equals(local)) return earlier.epochMilliseconds;
  return earlier.getTimeZoneTransition('next')?.epochMilliseconds ?? earlier.epochMilliseconds;
}

/** Days since 1970-01-01 of a calendar date. */
export const dayNumber = (wall: Pick<WallTime, 'year' | 'month' | 'day'>): number =>
  toUtc({ year: wall.year, month: wall.month, day: wall.day }) / DAY_MS;

export function dateOfDayNumber(day: number): { year: number; month: number; day: number } {
  const date = new Date(day * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}
