// Rows of the live feed: which are the same, how many are kept, and whether some may be missing.
import type { Row } from './answer.js';

/** Rows of each kind; older ones are dropped. */
export const KEPT = 200;

/** Events of one message (`EVENTS_MAX` of src/live/feed.ts). */
const SENT_MAX = 50;

/** The key of a stored event. Its person may change when its device is mapped to a user. */
export const keyOfEvent = ({ event_type: type, time, insert_id: id }: Row): string => JSON.stringify([type, time, id]);

/** Known ones come again after a reconnection. */
export function merged<T>(fresh: readonly T[], known: readonly T[], keyOf: (item: T) => string): readonly T[] {
  const keys = new Set(known.map((item) => keyOf(item)));
  return [...fresh.filter((item) => !keys.has(keyOf(item))), ...known].slice(0, KEPT);
}

/** Whether events may be missing between both: the message is full, and nothing in it is known. */
export function mayLack(fresh: readonly Row[], known: readonly Row[]): boolean {
  const keys = new Set(known.map(keyOfEvent));
  return known.length > 0 && fresh.length >= SENT_MAX && !fresh.some((row) => keys.has(keyOfEvent(row)));
}
