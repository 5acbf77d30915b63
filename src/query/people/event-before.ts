// Whether a project has an event from before an earlier range, or from its first part. `compare`
// warns when it has none: then the range is older than the project.
import type { TimeRange } from '../analyze/resolved.js';
import { TRUE } from '../plan/expressions.js';
import type { Select } from '../plan/plan.js';
import { EARLIEST_MS } from '../time/range.js';
import { exactly, type PlanContext, selectEvents } from './scan.js';

const HOUR_MS = 3_600_000;
/** A project that has begun within this share of the range has no warning. */
const SHARE_MAX = 0.05;

/**
 * One row, or none. The end is that of an hour, so that a kept answer holds for more than a moment.
 */
export function planEventBefore(context: PlanContext, { fromMs, toMs }: TimeRange): Select {
  const untilMs = Math.ceil((fromMs + (toMs - fromMs) * SHARE_MAX) / HOUR_MS) * HOUR_MS;
  const range = { fromMs: EARLIEST_MS, toMs: Math.max(EARLIEST_MS, untilMs) };
  const events = selectEvents(context, {
    selection: { eventTypes: undefined, range, condition: undefined },
    columns: { found: TRUE },
    time: exactly(range),
  });
  return { ...events, limit: 1 };
}
