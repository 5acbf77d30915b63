// Reference implementation of aggregates over the rows of any source, grouped by fields and by
// time.
import {
  bucketAfter,
  bucketOf,
  bucketsOf,
  type Interval,
  isWithin,
  startOfDate,
  timeGroupOf,
  timeGroupsOf,
} from './calendar.js';
import { type FieldReader, UNIT } from './fields.js';
import type { Aggregate, CalendarUnit, Each, Ending, FieldAggregate, Group, Having, Window } from './question.js';
import { ascending, descending, inOrder, isWithOther, ordered, type Row, type RowOrder, type Table } from './table.js';
import { groupColumn } from './to-query-text.js';
import { numberOf, textOf } from './values.js';

/** The column of an aggregate, and the identifier that a row carries as `metric`. */
export const METRICS = {
  count: 'count',
  unique: 'unique_count',
  sum: 'total',
  avg: 'average',
  min: 'min_value',
  max: 'max_value',
  median: 'median_value',
  p90: 'p90',
  p95: 'p95',
  p99: 'p99',
} as const satisfies Record<Aggregate['kind'], string>;

export interface Aggregation<Item> {
  readonly items: readonly Item[];
  readonly aggregate: Aggregate;
  readonly by: readonly Group[];
  readonly read: FieldReader<Item>;
  readonly timeOf: (item: Item) => number;
  readonly interval: Interval;
  readonly timezone: string;
  readonly ending?: Ending | undefined;
  readonly having?: Having | undefined;
  readonly window?: Window | undefined;
  readonly share?: boolean | undefined;
  readonly each?: Each | undefined;
}

export function aggregateColumns(aggregate: Aggregate, by: readonly Group[], share = false): string[] {
  return [...by.map(groupColumn), METRICS[aggregate.kind], ...(share ? ['share'] : [])];
}

export function aggregated<Item>(aggregation: Aggregation<Item>): Table {
  const { aggregate, by, ending, having, window, share, each } = aggregation;
  if (each) return ofNumbers(aggregation, each);
  const groups = window ? windowed(aggregation, window) : [...grouped(aggregation).values()];
  if (isWithOther(ending)) return withOther(aggregation, groups);
  const bucketOfKeys = (keys: Grouped<Item>['keys']): string =>
    JSON.stringify(keys.filter((_, position) => by[position]?.kind === 'time'));
  const rowOf = (group: Grouped<Item>): Row => {
    const row = groupRow(group, aggregation);
    if (!share) return row;
    const inBucket = groups.filter((other) => bucketOfKeys(other.keys) === bucketOfKeys(group.keys));
    const total = measured(aggregate, [...new Set(inBucket.flatMap((one) => one.items))], aggregation.read);
    return { ...row, share: ratio(Number(row.value), Number(total)) };
  };
  const rows = groups.map(rowOf).filter(({ value }) => isRowKept(value, having));
  return ordered(rows, defaultOrder(aggregate, by));
}

/** Those who belong to no value, or whose number is filtered, are not there. */
function ofNumbers<Item>(aggregation: Aggregation<Item>, each: Each): Table {
  const { items, aggregate, by, read, having } = aggregation;
  const nameOf = (item: Item) => textOf(read(item, each.per));
  const isAlwaysThere = grouped({ ...aggregation, items: [] });
  const groups = grouped({ ...aggregation, items: items.filter((item) => nameOf(item) !== undefined) });
  const rows = [...groups].flatMap(([name, { keys, items: own }]): Row[] => {
    const byName = new Map<string | undefined, Item[]>();
    for (const item of own) byName.set(nameOf(item), [...(byName.get(nameOf(item)) ?? []), item]);
    const numbers = [...byName.values()]
      .map((of) => measured(each.aggregate, of, read))
      .filter((number) => isKept(Number(number ?? Number.NaN), each.having));
    if (numbers.length === 0 && !isAlwaysThere.has(name)) return [];
    const present = numbers.filter((number) => number !== null);
    const value = aggregate.kind === 'count' ? numbers.length : summarized(aggregate.kind as FieldAggregate, present);
    return [rowOf(keys, value, { aggregate, by })];
  });
  const kept = rows.filter(({ value }) => isRowKept(value, having));
  return ordered(kept, defaultOrder(aggregate, by));
}

/** Numbers that are no whole ones are compared with the 13 digits that an answer has. */
export function isRowKept(value: unknown, having: Having | undefined): boolean {
  const number = Number(value ?? Number.NaN);
  return isKept(Number.isInteger(number) ? number : Number(number.toPrecision(13)), having);
}

/** A missing metric, as not a number, is only unequal. */
function isKept(value: number, having: Having | undefined): boolean {
  switch (having?.operator) {
    case undefined:
      return true;
    case '=':
      return value === having.value;
    case '!=':
      return value !== having.value;
    case '<':
      return value < having.value;
    case '>=':
      return value >= having.value;
  }
}

type Keys = readonly (string | number | null)[];

const groupRow = <Item>({ keys, items }: Grouped<Item>, { aggregate, by, read }: Aggregation<Item>): Row =>
  rowOf(keys, measured(aggregate, items, read), { aggregate, by });

function rowOf(keys: Keys, value: number | null, { aggregate, by }: Pick<Aggregation<never>, 'aggregate' | 'by'>): Row {
  const groups = by.map((group, position) => [groupColumn(group), keys[position] ?? null]);
  const metric = METRICS[aggregate.kind];
  return { ...Object.fromEntries(groups), [metric]: value, value, metric: aggregate.kind } as Row;
}

/**
 * The largest groups, and one for the rest; with several groups one for each time, else for each
 * value of the first. Reading: of equal groups those that come first by their values are kept.
 */
function withOther<Item>(aggregation: Aggregation<Item>, groups: readonly Grouped<Item>[]): Table {
  const { aggregate, by, ending } = aggregation;
  const count = ending?.kind === 'top' ? ending.count : ending?.kind === 'sort' ? (ending.top ?? 0) : 0;
  const byValues = by.map((group) => ascending(groupColumn(group)));
  const bySize = inOrder(descending(METRICS[aggregate.kind]), ...byValues);
  const all = groups.map((group) => ({ group, row: groupRow(group, aggregation) }));
  all.sort((a, b) => bySize(a.row, b.row));
  const time = by.findIndex(({ kind }) => kind === 'time');
  const kept = time >= 0 ? time : by.length > 1 ? 0 : -1;
  const others = new Map<string, { keys: Keys; items: Item[] }>();
  for (const { group } of all.slice(count)) {
    const keys = group.keys.map((key, index) => (index === kept ? key : '(other)'));
    const name = JSON.stringify(keys);
    const other = others.get(name) ?? { keys, items: [] };
    other.items.push(...group.items);
    others.set(name, other);
  }
  const sorted =
    ending?.kind === 'sort'
      ? inOrder((ending.descending ? descending : ascending)(ending.column), ...byValues)
      : bySize;
  const first = ordered(
    all.slice(0, count).map(({ row }) => row),
    sorted,
  );
  const rest = ordered(
    [...others.values()].map((group) => groupRow(group, aggregation)),
    sorted,
  );
  const last = (first.ranks.at(-1) ?? -1) + 1;
  return {
    rows: [...first.rows, ...rest.rows],
    ranks: [...first.ranks, ...rest.ranks.map((rank) => last + rank)],
    spare: [],
  };
}

interface Grouped<Item> {
  readonly keys: readonly (string | number | null)[];
  readonly items: Item[];
}

/**
 * The items of each bucket's window, by the groups that are fields. A bucket without other groups
 * has a row without items too.
 */
function windowed<Item>(aggregation: Aggregation<Item>, window: Window): Grouped<Item>[] {
  const { items, by, timeOf, interval, timezone } = aggregation;
  const time = by.findIndex((group) => group.kind === 'time');
  const { unit } = by[time] as { unit: CalendarUnit };
  const fields = by.filter((_, position) => position !== time);
  return bucketsOf(interval, unit, timezone).flatMap((bucket) => {
    const end = Math.min(interval.end, startOfDate(bucketAfter(bucket, unit), timezone));
    const lastDay = bucketOf(end - 1, 'day', timezone);
    const start =
      window.kind === 'rolling' ? startOfDate(bucketAfter(lastDay, 'day', 1 - window.days), timezone) : interval.start;
    const own = items.filter((item) => isWithin(timeOf(item), { start, end }));
    return [...grouped({ ...aggregation, items: own, by: fields }).values()].map(({ keys, items: of }) => ({
      keys: [...keys.slice(0, time), bucket, ...keys.slice(time)],
      items: of,
    }));
  });
}

function grouped<Item>({ items, by, read, timeOf, interval, timezone }: Aggregation<Item>): Map<string, Grouped<Item>> {
  const groups = new Map<string, Grouped<Item>>();
  const groupFor = (keys: readonly (string | number | null)[]): Grouped<Item> => {
    const name = JSON.stringify(keys);
    const group = groups.get(name) ?? { keys, items: [] };
    groups.set(name, group);
    return group;
  };
  if (by.length === 0) groupFor([]);
  const [only] = by;
  if (by.length === 1 && only?.kind === 'time' && only.of === undefined) {
    for (const bucket of timeGroupsOf(interval, only.unit, timezone)) groupFor([bucket]);
  }
  for (const item of items) {
    const keys = by.map((group) => groupKey(item, group, { read, timeOf, timezone }));
    groupFor(keys).items.push(item);
  }
  return groups;
}

/** What an item is grouped by. Another time than the item's own may be missing, as a number may. */
export function groupKey<Item>(
  item: Item,
  group: Group,
  { read, timeOf, timezone }: Pick<Aggregation<Item>, 'read' | 'timeOf' | 'timezone'>,
): string | number | null {
  if (group.kind === 'field') return textOf(read(item, group.field)) ?? null;
  if (group.kind === 'time' && group.of === undefined) return timeGroupOf(timeOf(item), group.unit, timezone);
  const value = read(item, group.kind === 'time' ? (group.of ?? '') : group.field);
  if (group.kind === 'time') {
    const isTime = typeof value === 'object' && value !== null;
    return isTime ? timeGroupOf(value.instant, group.unit, timezone) : null;
  }
  const number = numberOf(value);
  return number === undefined ? null : lowerEdge(number, group.width);
}

/** In decimals, where 0.3 / 0.1 is 3. */
function lowerEdge(number: number, width: number): number {
  const [a, b] = [number, width].map(decimalOf) as [Decimal, Decimal];
  const exponent = Math.min(a.exponent, b.exponent);
  const [value, step] = [a, b].map((of) => of.digits * 10n ** BigInt(of.exponent - exponent)) as [bigint, bigint];
  const rest = ((value % step) + step) % step;
  return Number(`${value - rest}e${exponent}`);
}

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function decimalOf(number: number): Decimal {
  const [mantissa = '', exponent = '0'] = String(number).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/**
 * Times ascending; fields by metric descending, then by value ascending, numbers before text.
 * Reading: with both, times come first and the rest orders rows of the same time; missing values
 * and rows without a metric come last.
 */
export function defaultOrder(aggregate: Aggregate, by: readonly Group[]): RowOrder {
  const times = by.filter((group) => group.kind !== 'field').map((group) => ascending(groupColumn(group)));
  const fields = by.filter((group) => group.kind === 'field').map((group) => ascending(groupColumn(group)));
  return inOrder(...times, descending(METRICS[aggregate.kind]), ...fields);
}

/** Reading: `unique` counts text forms; an empty text is a value, null and missing are not. */
export function measured<Item>(aggregate: Aggregate, items: readonly Item[], read: FieldReader<Item>): number | null {
  if (aggregate.kind === 'count') return items.length;
  if (aggregate.kind === 'unique') {
    const texts = items.map((item) => textOf(read(item, aggregate.field ?? UNIT)));
    return new Set(texts.filter((text) => text !== undefined)).size;
  }
  const { field } = aggregate;
  const numbers = items.map((item) => numberOf(read(item, field))).filter((number) => number !== undefined);
  return summarized(aggregate.kind, numbers);
}

const QUANTILES = { median: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 } as const;

function summarized(kind: FieldAggregate, numbers: readonly number[]): number | null {
  if (kind === 'sum') return sumOf(numbers);
  if (numbers.length === 0) return null;
  if (kind === 'avg') return sumOf(numbers) / numbers.length;
  if (kind === 'min') return Math.min(...numbers);
  if (kind === 'max') return Math.max(...numbers);
  return quantile(numbers, QUANTILES[kind]);
}

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

export const averageOf = (numbers: readonly number[]): number | null => summarized('avg', numbers);

/** Type 7: linear between the two values around the rank p × (n − 1). Null for an empty list. */
export function quantile(numbers: readonly number[], p: number): number | null {
  const sorted = [...numbers].sort((a, b) => a - b);
  const rank = p * (sorted.length - 1);
  const below = sorted[Math.floor(rank)];
  const above = sorted[Math.ceil(rank)];
  if (below === undefined || above === undefined) return null;
  return below + (above - below) * (rank - Math.floor(rank));
}

/** Reading: a ratio to zero is null, like an average of no values. */
export const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);
