// Calendar months (UTC) of event times: the table of events has a partition for each, and an insert makes a part in every
// partition that it touches. So months, more than rows, decide what an insert costs.

/** Months since the year 0. */
export function monthOf(timeMs: number): number {
  const date = new Date(timeMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

const startOf = (month: number): number => Date.UTC(Math.floor(month / 12), month % 12);

export class MonthSet {
  readonly #months = new Set<number>();
  // Bounds of the last month that was added, which the next time is nearly always in.
  #from = Number.POSITIVE_INFINITY;
  #to = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#months.size;
  }

  add(timeMs: number): void {
    if (timeMs >= this.#from && timeMs < this.#to) return;
    const month = monthOf(timeMs);
    this.#months.add(month);
    this.#from = startOf(month);
    this.#to = startOf(month + 1);
  }
}

/** More than a few in one insert would hold up everybody who waits for the next one. */
const MONTHS_MAX = 3;

/** Quarters since the year 0. */
export const quarterOf = (timeMs: number): number => Math.floor(monthOf(timeMs) / MONTHS_MAX);

/**
 * The events in groups of at most three months: one group where they are of no more, else one for each quarter. Equal rows
 * have equal times, so they are always in one group.
 */
export function groupByMonths<T extends { readonly time: number }>(events: T[]): T[][] {
  const months = new MonthSet();
  for (const { time } of events) months.add(time);
  if (months.size <= MONTHS_MAX) return [events];
  const quarters = new Map<number, T[]>();
  for (const event of events) {
    const quarter = quarterOf(event.time);
    const group = quarters.get(quarter);
    if (group === undefined) quarters.set(quarter, [event]);
    else group.push(event);
  }
  return [...quarters].sort(([one], [other]) => other - one).map(([, group]) => group);
}
