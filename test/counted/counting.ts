// Helpers of an independent count over the events of a small history: people, time buckets by
// Temporal, groups and their order. Written from the documentation of the query language alone.
import { Temporal } from 'temporal-polyfill';
import { type Event, type History, PROJECT, type PropertyValue } from '../oracle/history.js';

export type Cell = string | number | boolean | null;
export type Row = readonly (Cell | readonly Cell[])[];
export type Unit = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year' | 'weekday' | 'hour_of_day';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const iso = (ms: number): string => new Date(ms).toISOString();

/** The instant of a date or a wall-clock time in a zone, of two the first. */
export function instant(text: string, zone: string): number {
  if (/Z$/.test(text)) return Date.parse(text);
  return Temporal.PlainDateTime.from(text.replace(' ', 'T')).toZonedDateTime(zone).epochMilliseconds;
}

const zoned = (ms: number, zone: string) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);

/** The first day of the period that a time is in. */
function periodOf(ms: number, unit: Unit, zone: string): Temporal.PlainDate {
  const date = zoned(ms, zone).toPlainDate();
  switch (unit) {
    case 'week':
      return date.subtract({ days: date.dayOfWeek - 1 });
    case 'month':
      return date.with({ day: 1 });
    case 'quarter':
      return date.with({ day: 1, month: date.month - ((date.month - 1) % 3) });
    case 'year':
      return date.with({ day: 1, month: 1 });
    default:
      return date;
  }
}

const buckets = new Map<string, string | number>();

export function bucketOf(ms: number, unit: Unit, zone: string): string | number {
  const key = `${ms} ${unit} ${zone}`;
  const known = buckets.get(key) ?? findBucket(ms, unit, zone);
  buckets.set(key, known);
  return known;
}

function findBucket(ms: number, unit: Unit, zone: string): string | number {
  const clock = zoned(ms, zone);
  if (unit === 'weekday') return clock.dayOfWeek;
  if (unit === 'hour_of_day') return clock.hour;
  if (unit === 'minute') return iso(ms - (ms % MINUTE));
  if (unit !== 'hour') return periodOf(ms, unit, zone).toString();
  // From the full hour of the clock, or from the moment at which the clock was changed within it.
  const start = ms - (clock.minute * MINUTE + clock.second * 1000 + clock.millisecond);
  const changed = clock.add({ milliseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds ?? 0;
  return iso(Math.max(start, changed));
}

/** Each bucket of a range, in order. */
export function bucketsOf(from: number, to: number, unit: Unit, zone: string): (string | number)[] {
  if (unit === 'weekday') return [1, 2, 3, 4, 5, 6, 7];
  if (unit === 'hour_of_day') return Array.from({ length: 24 }, (_, hour) => hour);
  const step = unit === 'minute' ? MINUTE : unit === 'hour' ? 15 * MINUTE : 12 * HOUR;
  const all = new Set<string | number>();
  for (let at = from; at < to; at += step) all.add(bucketOf(at, unit, zone));
  all.add(bucketOf(to - 1, unit, zone));
  return [...all];
}

/** The start of a day that is so many days after the day of a time. */
export const dayStart = (ms: number, days: number, zone: string): number =>
  zoned(ms, zone).toPlainDate().add({ days }).toZonedDateTime(zone).epochMilliseconds;

/** The instant at which a period begins, so many periods after that of a time. */
export function periodStart(ms: number, unit: 'day' | 'week' | 'month' | 'quarter', zone: string, steps = 0): number {
  const length = {
    day: { days: steps },
    week: { weeks: steps },
    month: { months: steps },
    quarter: { months: 3 * steps },
  };
  return periodOf(ms, unit, zone).add(length[unit]).toZonedDateTime(zone).epochMilliseconds;
}

export interface Counted {
  /** In order of time and insert_id, each key once. */
  readonly events: readonly Event[];
  person(event: Event): string | null;
  profile(person: string | null): History['profiles'][number] | undefined;
  session(id: string | null): readonly Event[];
}

export function prepare({ events, mappings, profiles }: History): Counted {
  const kept = new Map<string, Event>();
  for (const one of events) {
    const key = JSON.stringify([one.event_type, one.time, one.insert_id]);
    if (one.project === PROJECT && !kept.has(key)) kept.set(key, one);
  }
  const sorted = [...kept.values()].sort((a, b) => a.time - b.time || compareTexts(a.insert_id, b.insert_id));
  const users = new Map<string, string>();
  for (const one of [...mappings].sort((a, b) => a.updated_at - b.updated_at)) {
    if (one.project === PROJECT) users.set(one.device_id, one.user_id);
  }
  return {
    events: sorted,
    person: ({ user_id, device_id }) => user_id ?? users.get(device_id ?? '') ?? device_id,
    profile: (person) => profiles.find(({ user_id }) => user_id === person),
    session: (id) => sorted.filter(({ session_id }) => id !== null && session_id === id),
  };
}

export function numberOf(value: PropertyValue | undefined): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^[+-]?\d+(\.\d+)?(e\d+)?$/.test(value) ? Number(value) : undefined;
}

export const textOf = (value: PropertyValue | undefined): string | null =>
  value === undefined || value === null ? null : String(value);

export function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** A missing value comes last, a number before texts. */
export function compareCells(a: Row[number], b: Row[number]): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (Array.isArray(a) && Array.isArray(b)) {
    const differing = a.findIndex((cell, index) => index >= b.length || cell !== b[index]);
    if (differing === -1) return a.length - b.length;
    return differing >= b.length ? 1 : compareCells(a[differing], b[differing]);
  }
  const [left, right] = [numberOf(a as string), numberOf(b as string)];
  if (left !== undefined && right !== undefined) return left - right || compareTexts(String(a), String(b));
  if (left !== undefined || right !== undefined) return left === undefined ? 1 : -1;
  return compareTexts(String(a), String(b));
}

/** By the metric, descending and null last, and then by the groups. */
export function byMetric(rows: readonly Row[], metric = (rows[0]?.length ?? 1) - 1): Row[] {
  return [...rows].sort((a, b) => {
    const [left, right] = [a[metric] as number | null, b[metric] as number | null];
    if (left !== right) return left === null ? 1 : right === null ? -1 : right - left;
    for (const [index, cell] of a.entries()) {
      const order = index === metric ? 0 : compareCells(cell, b[index] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  });
}

/** By all columns, ascending. */
export function ascending(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => {
    for (const [index, cell] of a.entries()) {
      const order = compareCells(cell, b[index] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  });
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => readonly Cell[]): [Cell[], T[]][] {
  const groups = new Map<string, [Cell[], T[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const known = groups.get(JSON.stringify(key));
    if (known === undefined) groups.set(JSON.stringify(key), [[...key], [item]]);
    else known[1].push(item);
  }
  return [...groups.values()];
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export const average = (values: readonly number[]): number | null =>
  values.length === 0 ? null : sum(values) / values.length;

/** Type 7: linear interpolation between the closest ranks. */
export function quantile(values: readonly number[], level: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const rank = (sorted.length - 1) * level;
  const low = sorted[Math.floor(rank)] as number;
  return low + (rank - Math.floor(rank)) * ((sorted[Math.ceil(rank)] as number) - low);
}

export const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

/** As a fraction of the value before. */
export const change = (now: number | null, before: number | null): number | null =>
  now === null || before === null || before === 0 ? null : (now - before) / before;

export const distinct = (values: readonly (Cell | undefined)[]): number =>
  new Set(values.filter((value) => value !== null && value !== undefined)).size;
