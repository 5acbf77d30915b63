// Cuts the life of a person into slices that are sorted one at a time: sorting a million wide rows at once would take the
// engine gigabytes, and the first line would come last.

export interface HourCount {
  /** Start of the hour, seconds since the epoch. */
  readonly hour: number;
  readonly events: number;
}

/** From `fromMs` up to `untilMs`, which is not included. */
export interface Slice {
  readonly fromMs: number;
  readonly untilMs: number;
}

const HOUR_SECONDS = 3600;

/**
 * Hours in ascending order → slices of at most so many events, or of one hour that alone has more. The first is small, so that
 * its lines come soon; each that follows may have twice as many, as large ones cost the engine less per event.
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
    slices.push({ fromMs: from * 1000, untilMs: (hour + HOUR_SECONDS) * 1000 });
    from = undefined;
    events = 0;
    max = Math.min(max * 2, eventsMax.later);
  });
  return slices;
}
