// Times that a source wrote by its local clock as if they were UTC, converted by an IANA time zone.
import { Temporal } from 'temporal-polyfill';

const QUARTER_MS = 15 * 60_000;
const OFFSETS_MAX = 100_000;

/**
 * Returns a function from a local time, as epoch milliseconds that read it as UTC, to the real
 * time. A time that the clock showed twice is the first, one that it skipped moves forward.
 */
export function toUtcFrom(timeZone: string | undefined): (localMs: number) => number {
  if (timeZone === undefined || timeZone === 'UTC') return (localMs) => localMs;
  // Offsets change on quarters of an hour only.
  const offsets = new Map<number, number>();
  return (localMs) => {
    const quarter = Math.floor(localMs / QUARTER_MS);
    let offsetMs = offsets.get(quarter);
    if (offsetMs === undefined) {
      const startMs = quarter * QUARTER_MS;
      const local = Temporal.Instant.fromEpochMilliseconds(startMs).toZonedDateTimeISO('UTC').toPlainDateTime();
      offsetMs = startMs - local.toZonedDateTime(timeZone).epochMilliseconds;
      if (offsets.size >= OFFSETS_MAX) offsets.clear();
      offsets.set(quarter, offsetMs);
    }
    return localMs - offsetMs;
  };
}
