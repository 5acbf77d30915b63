// Groups events by calendar month (UTC), because the events table has one partition per month and
// an insert writes a part in every partition that it touches. The number of months, more than the
// number of rows, determines the cost of an insert.
import { BOUNDS } from '../../platform/flow/bounds.js';
import { groupBy } from '../../platform/group-by.js';

const MONTHS_MAX = BOUNDS.insertMonths;

/** Months since the year 0. */
export function monthOf(timeMs: number): number {
  const date = new Date(timeMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

const startOf = (month: number): number => Date.UTC(Math.floor(month / 12), month % 12);

export class MonthSet {
  readonly #months = new Set<number>();
  // Bounds of the last added month, which nearly always contains the next time too.
  #from = Number.POSITIVE_INFINITY;
  #to = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#months.size;
  }

  /** Whether events of these months may share an insert. */
  get areFew(): boolean {
    return this.size <= MONTHS_MAX;
  }

  add(timeMs: number): void {
    if (timeMs >= this.#from && timeMs < this.#to) return;
    const month = monthOf(timeMs);
    this.#months.add(month);
    this.#from = startOf(month);
    this.#to = startOf(month + 1);
  }
}

/** Quarters since the year 0. */
export const quarterOf = (timeMs: number): number => Math.floor(monthOf(timeMs) / MONTHS_MAX);

/**
 * Groups of at most three months each: one group when the events span no more, otherwise one per
 * quarter. Equal rows have equal times, so they are always in the same group.
 */
export function groupByMonths<T extends { readonly time: number }>(events: T[]): T[][] {
  const months = new MonthSet();
  for (const { time } of events) months.add(time);
  if (months.areFew) return [events];
  const quarters = groupBy(events, ({ time }) => quarterOf(time));
  return [...quarters].sort(([one], [other]) => other - one).map(([, group]) => group);
}
