// Plan of a formula by time with calls that have ranges of their own: one scan aggregates the
// slices of time (time/windows.ts) to states, and each bucket merges the states of its windows.

import { groupAlias } from '../../analyze/grouped-columns.js';
import { isOwnTime } from '../../analyze/groups.js';
import type { ResolvedQuery } from '../../analyze/resolved.js';
import { type PlanContext, selectEvents } from '../../people/scan.js';
import { eventMs } from '../../plan/behaviour.js';
import { alias, constant, type Expression, element, infix, integers, textValue } from '../../plan/expressions.js';
import { fn, mergeIf, stateOf } from '../../plan/functions.js';
import { type Columns, extend, type Select, select, step } from '../../plan/plan.js';
import type { CalendarSpan } from '../../time/range.js';
import type { Windows } from '../../time/windows.js';
import { readGroupOf } from '../events/plan.js';
import { type Aggregation, aggregateCall, toNumber } from './aggregation.js';
import type { FormulaQuery } from './analyze.js';

/** A distinct call of the formula. */
export interface PlannedTerm extends Aggregation {
  readonly alias: string;
  readonly last: CalendarSpan | undefined;
}

/** What the selects of a formula have in common. */
export interface FormulaParts {
  readonly query: FormulaQuery & ResolvedQuery;
  readonly context: PlanContext;
  readonly terms: readonly PlannedTerm[];
  /** The events of all terms. */
  readonly filter: readonly Expression[];
}

const SLICE = 'slice';
const BUCKET = 'bucket';
const EVENTS = 'events_of_slice';

export function mergeSlices(parts: FormulaParts, windows: Windows): Select {
  const { query, terms } = parts;
  const ownStarts = windows.buckets.map(({ fromMs }) => fromMs);
  const startOf = (starts: readonly number[]): Expression => element(integers(starts), alias(BUCKET));
  const isSince = (starts: readonly number[]): Expression => infix('>=', alias(SLICE), startOf(starts));
  const startsOf = (last: CalendarSpan | undefined): readonly number[] =>
    windows.spans.find(({ span }) => last && isSame(span, last))?.starts ?? ownStarts;
  const time = fn.fromUnixTimestamp64Milli(startOf(ownStarts), textValue('UTC'));
  const groups: Columns = Object.fromEntries(
    query.groups.map((group, index) => {
      const name = groupAlias(index);
      return [name, isOwnTime(group) ? readGroupOf(group, time, query).expression : alias(name)];
    }),
  );
  const values: Columns = Object.fromEntries(
    terms.map((term) => {
      const merged = mergeIf(aggregateCall(term), alias(stateAlias(term)), isSince(startsOf(term.last)));
      return [term.alias, toNumber(term, merged)];
    }),
  );
  const eventsInBucket = fn.sumIf(alias(EVENTS), isSince(ownStarts));
  return select({
    columns: { ...groups, ...values },
    from: step('slices_of_buckets', spreadSlices(parts, windows)),
    groupBy: Object.keys(groups),
    ...(query.groups.length > 1 && { having: infix('>', eventsInBucket, constant(0)) }),
  });
}

const stateAlias = (term: PlannedTerm): string => `${term.alias}_state`;

const isSame = (one: CalendarSpan, other: CalendarSpan): boolean =>
  one.unit === other.unit && one.amount === other.amount;

/** One row for each bucket that has the slice in a window. */
function spreadSlices(parts: FormulaParts, { slices, firstBuckets, pastBuckets, range }: Windows): Select {
  const position = fn.indexOf(integers(slices), alias(SLICE));
  const buckets = fn.range(element(integers(firstBuckets), position), element(integers(pastBuckets), position));
  return extend(step('slices', selectSlices(parts, slices, range)), { [BUCKET]: fn.arrayJoin(buckets) });
}

function selectSlices(
  { query, context, terms, filter }: FormulaParts,
  slices: Windows['slices'],
  range: Windows['range'],
): Select {
  const fields: Columns = Object.fromEntries(
    query.groups.flatMap((group, index) =>
      isOwnTime(group) ? [] : [[groupAlias(index), readGroupOf(group, eventMs, query).expression]],
    ),
  );
  const states: Columns = Object.fromEntries(terms.map((term) => [stateAlias(term), stateOf(aggregateCall(term))]));
  const slice: Columns = { [SLICE]: fn.roundDown(eventMs, integers(slices)) };
  return selectEvents(context, {
    selection: { ...query.selection, range },
    columns: { ...slice, ...fields, ...states, [EVENTS]: fn.count() },
    filter,
    groupBy: [SLICE, ...Object.keys(fields)],
  });
}
