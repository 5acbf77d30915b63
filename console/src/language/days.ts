// Ranges of whole days. In a query the end of a range is excluded; in a form its last day is
// included.

const DAY_MS = 86_400_000;
const FROM_TO = /^from "?([\d-]+)"? to "?([\d-]+)"?$/;

export interface Days {
  readonly from: string;
  /** The last day, which the range contains. */
  readonly last: string;
}

const daysAfter = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);

/** The days of `from 2026-11-01 to 2026-12-01`; undefined for any other range. */
export function toDays(range: string): Days | undefined {
  const [, from = '', to = ''] = FROM_TO.exec(range) ?? [];
  if (Number.isNaN(Date.parse(from)) || Number.isNaN(Date.parse(to))) return undefined;
  return { from, last: daysAfter(to, -1) };
}

/** Two dates in any order, both included. */
export function fromDays(one: string, other: string): string {
  const [from, last] = one < other ? [one, other] : [other, one];
  return `from ${from} to ${daysAfter(last, 1)}`;
}
