// Reference implementation of lifecycle and stickiness.
import { bucketAfter, bucketOf, bucketsOf, type Interval, intervalOf } from './calendar.js';
import { EVER, eventsOf } from './events.js';
import type { Event } from './history.js';
import { COHORT, type LifecycleQuestion, type StickinessQuestion } from './question.js';
import { type Answer, inThisOrder, type Row } from './table.js';
import { compareText } from './values.js';
import { byPerson, type World } from './world.js';

export type Status = 'New' | 'Returning' | 'Resurrected' | 'Dormant';
const STATUSES: readonly Status[] = ['New', 'Returning', 'Resurrected', 'Dormant'];

/** The rows of each group: all events, or those of the people in the cohort and of all others. */
function byCohort(
  { cohort }: LifecycleQuestion | StickinessQuestion,
  { isInCohort }: World,
  rowsOf: (isIn: (event: Event) => boolean) => readonly Row[],
): Row[] {
  if (cohort === undefined) return [...rowsOf(() => true)];
  return [false, true].flatMap((value) =>
    rowsOf((event) => isInCohort(event) === value).map((row) => ({ [COHORT]: String(value), ...row })),
  );
}

const columnsOf = ({ cohort }: LifecycleQuestion | StickinessQuestion, columns: readonly string[]): string[] => [
  ...(cohort ? [COHORT] : []),
  ...columns,
];

/**
 * Reading: every period has a row for each status, including statuses without people, in the order
 * of their definition; a period is complete even if it ends in the future.
 */
export function answerLifecycle(question: LifecycleQuestion, world: World): Answer {
  const { timezone } = world.clock;
  const unit = question.period ?? 'week';
  const interval = intervalOf(question.range, { count: 30, unit: 'd' }, world.clock);
  const all = eventsOf(world, question.event, EVER, question.where);
  const rows = byCohort(question, world, (isIn) => {
    const people = byPerson(world, all.filter(isIn));
    const active = [...people.values()].map((events) => events.map((event) => bucketOf(event.time, unit, timezone)));
    const own: Row[] = [];
    for (const period of bucketsOf(interval, unit, timezone)) {
      const before = bucketAfter(period, unit, -1);
      const statuses = active.map((periods) => statusIn(period, before, periods));
      for (const status of STATUSES) {
        own.push({ period, status, users: statuses.filter((found) => found === status).length });
      }
    }
    // Reading: a group without people in the range has no rows.
    return question.cohort && own.every(({ users }) => users === 0) ? [] : own;
  });
  // Reading: by period, then by group.
  rows.sort((a, b) => compareText(String(a.period), String(b.period)));
  return { mode: 'lifecycle', columns: columnsOf(question, ['period', 'status', 'users']), ...inThisOrder(rows) };
}

/** `active` is ascending and not empty. */
export function statusIn(period: string, before: string, active: readonly string[]): Status | undefined {
  if (!active.includes(period)) return active.includes(before) ? 'Dormant' : undefined;
  if (active[0] === period) return 'New';
  return active.includes(before) ? 'Returning' : 'Resurrected';
}

/** Reading: only numbers of days on which some person was active have a row. */
export function answerStickiness(question: StickinessQuestion, world: World): Answer {
  const interval: Interval = intervalOf(question.range, { count: 30, unit: 'd' }, world.clock);
  const all = eventsOf(world, question.event, interval, question.where);
  const rows = byCohort(question, world, (isIn) => {
    const users = new Map<number, number>();
    for (const events of byPerson(world, all.filter(isIn)).values()) {
      const days = new Set(events.map((event) => bucketOf(event.time, 'day', world.clock.timezone))).size;
      users.set(days, (users.get(days) ?? 0) + 1);
    }
    return [...users].sort(([a], [b]) => a - b).map(([active_days, count]) => ({ active_days, users: count }));
  });
  return { mode: 'stickiness', columns: columnsOf(question, ['active_days', 'users']), ...inThisOrder(rows) };
}
