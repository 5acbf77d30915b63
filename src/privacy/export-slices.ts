// Splits the time range of a person's events into slices that are sorted one at a time: sorting a
// million wide rows at once would take gigabytes in ClickHouse, and delay the first line to the
// end.

export interface HourCount {
  /** Start of the hour, seconds since the epoch. */
  readonly hour: number;
  readonly events: number;
}

/** From `fromMs` up to and excluding `untilMs`. */
export interface Slice {
  readonly fromMs: number;
  readonly untilMs: number;
  /** How many were counted. */
  readonly events: number;
}

const HOUR_SECONDS = 3600;

/**
 * Converts hours in ascending order to slices of at most the given number of events, or of one hour
 * that alone has more. The first slice is small, so that its lines arrive soon; each later one may
 * be twice as large, because larger slices cost ClickHouse less per event.
 */
export function toSlices(hours: readonly HourCount[], eventsMax: { first: number; later: number }): Slice[] {
  const slices: Slice[] = [];
  let max = eventsMax.first;
  let from: number | undefined;
  let events = 0;
  hours.forEach(({ hour, events: inHour }, index) => {
    from ??= hour;
    events += inHour;
    const next = hours[index + 1];
    if (next !== undefined && events + next.events <= max) return;
    slices.push({ fromMs: from * 1000, untilMs: (hour + HOUR_SECONDS) * 1000, events });
    from = undefined;
    events = 0;
    max = Math.min(max * 2, eventsMax.later);
  });
  return slices;
}
