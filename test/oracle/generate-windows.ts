// Generators of `rolling`, `cumulative`, `share` and `per`, for the aggregates that take them.
import fc from 'fast-check';
import { METRICS } from './aggregate.js';
import { record } from './generate.js';
import { type Aggregated, aggregates, type Fields } from './generate-readings.js';
import type * as ask from './question.js';

const windows = fc.constantFrom<ask.Window[]>(
  { kind: 'rolling', days: 1 },
  { kind: 'rolling', days: 3 },
  { kind: 'rolling', days: 28 },
  { kind: 'cumulative' },
);

/** Mostly as drawn. */
export const withAdded = (drawn: fc.Arbitrary<Aggregated>, fields: Fields): fc.Arbitrary<Aggregated> =>
  fc
    .tuple(drawn, fc.constantFrom('', '', '', 'window', 'share', 'each'), windows, eachOf(fields))
    .map(([reading, added, window, each]): Aggregated => {
      if (added === 'each') return ofNumbers(reading, each);
      if (added === 'window' && canBeWindowed(reading, window)) return { ...reading, window };
      return added === 'share' && canBeShared(reading) ? { ...reading, share: true } : reading;
    });

const eachOf = (fields: Fields): fc.Arbitrary<ask.Each> =>
  record({
    aggregate: aggregates(fields, true),
    per: fc.constantFrom('distinct_id', 'distinct_id', ...fields.texts),
    filter: fc.option(
      record({ operator: fc.constantFrom('=' as const, '!=' as const, '<' as const, '>=' as const), value: fc.nat(3) }),
      { nil: undefined, freq: 1 },
    ),
  }).map(({ filter, ...each }) => ({
    ...each,
    ...(filter && { having: { column: METRICS[each.aggregate.kind], ...filter } }),
  }));

/** `unique` of the numbers is refused. */
function ofNumbers({ aggregate, ...reading }: Aggregated, each: ask.Each): Aggregated {
  if (aggregate.kind === 'unique') return { ...reading, aggregate };
  if (aggregate.kind === 'count') return { ...reading, aggregate, each };
  return { ...reading, aggregate: { ...aggregate, field: METRICS[each.aggregate.kind] }, each };
}

const SHORT_OR_RECURRING: readonly ask.TimeUnit[] = ['hour', 'weekday', 'hour_of_day'];

/** One time bucket of a day or longer, of the event's own time. */
function canBeWindowed({ aggregate, by }: Aggregated, { kind }: ask.Window): boolean {
  const times = by.filter((group) => group.kind === 'time');
  const isLong = times.every(({ unit, of }) => of === undefined && !SHORT_OR_RECURRING.includes(unit));
  const measures = ['count', 'unique', 'sum', ...(kind === 'rolling' ? ['avg', 'min', 'max'] : [])];
  return times.length === 1 && isLong && measures.includes(aggregate.kind);
}

const canBeShared = ({ aggregate, by }: Aggregated): boolean =>
  by.some((group) => group.kind !== 'time') && ['count', 'unique', 'sum'].includes(aggregate.kind);

/** Its columns behind the metric. */
export const addedColumns = ({ share }: Aggregated): string[] => (share ? ['share'] : []);
