// Wall-clock arithmetic in IANA time zones, on top of Intl: where a calendar day starts, and what a local time means on
// the days on which clocks are changed.

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

// Making a formatter costs more than compiling a query, so each zone keeps one.
const formatters = new Map<string, Intl.DateTimeFormat | undefined>();
const FORMATTERS_MAX = 1000;

function findFormatter(zone: string): Intl.DateTimeFormat | undefined {
  if (!formatters.has(zone)) {
    if (formatters.size >= FORMATTERS_MAX) formatters.clear();
    formatters.set(zone, tryCreateFormatter(zone));
  }
  return formatters.get(zone);
}

function tryCreateFormatter(timeZone: string): Intl.DateTimeFormat | undefined {
  // Offsets such as "+02:00" are zones for Intl and not for the database, which knows IANA names only.
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(timeZone)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    return undefined;
  }
}

/**
 * The zone by the name that every time zone database has, whatever case or alias it was written in; undefined for what is
 * no zone.
 */
export function findTimeZone(name: string): string | undefined {
  if (name === 'UTC') return name;
  // Names of System V are known here and nowhere else.
  return name.startsWith('SystemV/') ? undefined : findFormatter(name)?.resolvedOptions().timeZone;
}

/** The wall clock of an instant, as if it were UTC: its difference to the instant is the zone's offset. */
function wallAsUtc(instantMs: number, zone: string): number {
  if (zone === 'UTC') return instantMs;
  const formatter = findFormatter(zone);
  if (!formatter) throw new RangeError(`no time zone ${zone}`);
  const parts = new Map(formatter.formatToParts(instantMs).map((part) => [part.type, part.value]));
  const year = Number(parts.get('year')) * (parts.get('era') === 'BC' ? -1 : 1);
  const wall = new Date(0);
  wall.setUTCFullYear(year, Number(parts.get('month')) - 1, Number(parts.get('day')));
  wall.setUTCHours(Number(parts.get('hour')), Number(parts.get('minute')), Number(parts.get('second')));
  return wall.getTime() + (((instantMs % 1000) + 1000) % 1000);
}

/** Milliseconds that the zone's clocks are ahead of UTC at this instant. */
export const offsetAt = (instantMs: number, zone: string): number => wallAsUtc(instantMs, zone) - instantMs;

export function wallTimeAt(instantMs: number, zone: string): Required<WallTime> {
  const wall = new Date(wallAsUtc(instantMs, zone));
  return {
    year: wall.getUTCFullYear(),
    month: wall.getUTCMonth() + 1,
    day: wall.getUTCDate(),
    hour: wall.getUTCHours(),
    minute: wall.getUTCMinutes(),
    second: wall.getUTCSeconds(),
    millisecond: wall.getUTCMilliseconds(),
  };
}

function toUtc(wall: WallTime): number {
  const date = new Date(0);
  date.setUTCFullYear(wall.year, wall.month - 1, wall.day);
  date.setUTCHours(wall.hour ?? 0, wall.minute ?? 0, wall.second ?? 0, wall.millisecond ?? 0);
  return date.getTime();
}

const DAY_MS = 86_400_000;

/**
 * The first instant at which the zone's clocks show this time. A time that the clocks skip means the instant of the
 * skip, so a day without a midnight begins where it really begins.
 */
export function instantOf(wall: WallTime, zone: string): number {
  const target = toUtc(wall);
  if (zone === 'UTC') return target;
  const before = offsetAt(target - DAY_MS, zone);
  const after = offsetAt(target + DAY_MS, zone);
  const candidates = [target - before, target - after].filter((instant) => wallAsUtc(instant, zone) === target);
  if (candidates.length > 0) return Math.min(...candidates);
  return findTransition(target - Math.max(before, after), target - Math.min(before, after), zone);
}

/** The instant between the two at which the offset changes, to the millisecond. */
function findTransition(fromMs: number, toMs: number, zone: string): number {
  const offset = offsetAt(fromMs, zone);
  let low = fromMs;
  let high = toMs;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle, zone) === offset) low = middle;
    else high = middle;
  }
  return high;
}

/** Days since 1970-01-01 of a calendar date. */
export const dayNumber = (wall: Pick<WallTime, 'year' | 'month' | 'day'>): number =>
  toUtc({ year: wall.year, month: wall.month, day: wall.day }) / DAY_MS;

export function dateOfDayNumber(day: number): { year: number; month: number; day: number } {
  const date = new Date(day * DAY_MS);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}
