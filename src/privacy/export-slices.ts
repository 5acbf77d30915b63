// Splits the time range of an export into slices that are sorted one at a time: sorting a million
// wide rows at once would take gigabytes in ClickHouse, and delay the first line to the end.

/** Events of an hour, a minute or a second. */
export interface EventCount {
  /** Its start, seconds since the epoch. */
  readonly start: number;
  readonly events: number;
}

/** From `fromMs` up to and excluding `untilMs`. */
export interface Slice {
  readonly fromMs: number;
  readonly untilMs: number;
  /** How many were counted. */
  readonly events: number;
}

/**
 * Converts counts in ascending order, each of `seconds`, to slices of at most the given number of
 * events, or of one count that alone has more. The first slice is small, so that its lines arrive
 * soon; each later one may be twice as large, because larger slices cost ClickHouse less per event.
 */
export function toSlices(
  counts: readonly EventCount[],
  { seconds, eventsMax }: { seconds: number; eventsMax: { first: number; later: number } },
): Slice[] {
  const slices: Slice[] = [];
  let max = eventsMax.first;
  let from: number | undefined;
  let events = 0;
  counts.forEach(({ start, events: counted }, index) => {
    from ??= start;
    events += counted;
    const next = counts[index + 1];
    if (next !== undefined && events + next.events <= max) return;
    slices.push({ fromMs: from * 1000, untilMs: (start + seconds) * 1000, events });
    from = undefined;
    events = 0;
    max = Math.min(max * 2, eventsMax.later);
  });
  return slices;
}
