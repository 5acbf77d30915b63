// Rows of the live feed: which are the same, and how many are kept.
import type { Row } from './answer.js';

/** Rows of each kind; older ones are dropped. */
export const KEPT = 200;

/** The key of a stored event. Its person may change when its device is mapped to a user. */
export const keyOfEvent = ({ event_type: type, time, insert_id: id }: Row): string => JSON.stringify([type, time, id]);

/** Known ones come again after a reconnection. */
export function merged<T>(fresh: readonly T[], known: readonly T[], keyOf: (item: T) => string): readonly T[] {
  const keys = new Set(known.map((item) => keyOf(item)));
  return [...fresh.filter((item) => !keys.has(keyOf(item))), ...known].slice(0, KEPT);
}
