// Hour of the first event of a project before the end of an earlier range. `compare` warns when its
// earlier range begins before the project. Groups with a count are what the hourly projection has:
// a minimum would read every event.
import type { TimeRange } from '../analyze/resolved.js';
import { orderBy } from '../plan/answer.js';
import { column } from '../plan/expressions.js';
import { fn } from '../plan/functions.js';
import type { Select } from '../plan/plan.js';
import { EARLIEST_MS } from '../time/range.js';
import { type PlanContext, selectEvents } from './scan.js';

const HOUR_MS = 3_600_000;

/** One row, or none. The hour in which the range ends is not read. */
export function planFirstEvent(context: PlanContext, earlier: TimeRange): Select {
  const range = { fromMs: EARLIEST_MS, toMs: Math.max(EARLIEST_MS, Math.floor(earlier.toMs / HOUR_MS) * HOUR_MS) };
  const hours = selectEvents(context, {
    selection: { eventTypes: undefined, range, condition: undefined },
    columns: { first_hour: fn.toStartOfHour(column('time')), events: fn.count() },
    time: { kind: 'hours', ranges: [range] },
    groupBy: ['first_hour'],
  });
  return { ...hours, orderBy: [orderBy('first_hour')], limit: 1 };
}
