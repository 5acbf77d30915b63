// Counts what a live feed has received since it was paused, and says whether events are missing.
// The feed keeps its newest rows only, so its length says nothing once it is full.

/**
 * How many rows, newest first, came before the newest one that is shown. All of them when that one
 * is no longer among them: then there may have been more.
 */
export function countNewer<T>(rows: readonly T[], shown: readonly T[]): number {
  const [newest] = shown;
  const at = newest === undefined ? -1 : rows.indexOf(newest);
  return at === -1 ? rows.length : at;
}

/** Whether the list still has the event that was the newest when more may have come. */
export const hasGap = <T>(rows: readonly T[], gapAt: T | undefined): boolean =>
  gapAt !== undefined && rows.includes(gapAt);
