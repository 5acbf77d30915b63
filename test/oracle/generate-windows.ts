// Generators of `rolling`, `cumulative` and `share`, for the aggregates that take them.
import fc from 'fast-check';
import type { Aggregated } from './generate-readings.js';
import type * as ask from './question.js';

const windows = fc.constantFrom<ask.Window[]>(
  { kind: 'rolling', days: 1 },
  { kind: 'rolling', days: 3 },
  { kind: 'rolling', days: 28 },
  { kind: 'cumulative' },
);

/** Mostly as drawn. */
export const withAdded = (drawn: fc.Arbitrary<Aggregated>): fc.Arbitrary<Aggregated> =>
  fc.tuple(drawn, fc.constantFrom('', '', 'window', 'share'), windows).map(([reading, added, window]): Aggregated => {
    if (added === 'window' && canBeWindowed(reading, window)) return { ...reading, window };
    return added === 'share' && canBeShared(reading) ? { ...reading, share: true } : reading;
  });

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
