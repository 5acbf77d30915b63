// Days in UTC, by which events are counted.

export const DAY_MS = 24 * 60 * 60_000;

/** YYYY-MM-DD. */
export const toDay = (moment: Date): string => moment.toISOString().slice(0, 10);
