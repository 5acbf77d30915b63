// Reference implementation of retention: return in the periods after the first start event.
import { ratio } from './aggregate.js';
import { bucketAfter, bucketOf, bucketsOf, intervalOf } from './calendar.js';
import { eventsOf } from './events.js';
import { eventField } from './fields.js';
import type { Event } from './history.js';
import type { CalendarPeriod, Range, RetentionQuestion } from './question.js';
import { type Answer, inAnyOrder, inThisOrder, type Row } from './table.js';
import { fieldText } from './to-query-text.js';
import { textOf } from './values.js';
import { byPerson, type World } from './world.js';

const PERIODS_MAX = 12;

interface Member {
  readonly start: Event;
  /** Periods with a return event at or after the start, by the bucket they start in. */
  readonly returned: ReadonlySet<string>;
}

export function answerRetention(question: RetentionQuestion, world: World): Answer {
  const { timezone } = world.clock;
  const period = question.period ?? 'week';
  const interval = intervalOf(inMonths(question.range), { count: 12, unit: 'w' }, world.clock);
  const starts = byPerson(world, eventsOf(world, question.event, interval, question.where));
  const returning = question.returning === undefined || question.returning === 'any' ? null : question.returning;
  const returns = byPerson(world, eventsOf(world, returning, interval, question.where));
  const members: Member[] = [];
  for (const [person, [start]] of starts) {
    if (start === undefined) continue;
    const after = (returns.get(person) ?? []).filter((event) => event.time >= start.time);
    members.push({ start, returned: new Set(after.map((event) => bucketOf(event.time, period, timezone))) });
  }
  const buckets = bucketsOf(interval, period, timezone);
  const cohortOf = (member: Member) => bucketOf(member.start.time, period, timezone);
  const columns = ['cohort', 'cohort_size', 'period', 'users', 'rate'];
  const { by } = question;
  if (by === undefined) {
    return { mode: 'retention', columns, ...inThisOrder(cohortRows({ members, buckets, period, cohortOf })) };
  }
  const column = fieldText(by);
  const groupOf = (member: Member) => textOf(eventField(world)(member.start, by)) ?? null;
  const rows = [...new Set(members.map(groupOf))].flatMap((value) => {
    const own = members.filter((member) => groupOf(member) === value);
    return cohortRows({ members: own, buckets, period, cohortOf }).map((row) => ({ [column]: value, ...row }));
  });
  // Reading: a breakdown is the first column, as in a funnel. The order of rows is open.
  return { mode: 'retention', columns: [column, ...columns], ...inAnyOrder(rows) };
}

/** `m` means months here, where the unit is days, weeks or months. */
function inMonths(range: Range | undefined): Range | undefined {
  return range?.kind === 'last' && range.span.unit === 'm'
    ? { kind: 'last', span: { count: range.span.count, unit: 'mo' } }
    : range;
}

interface Cohorts {
  readonly members: readonly Member[];
  /** The calendar periods that overlap the range. */
  readonly buckets: readonly string[];
  readonly period: CalendarPeriod;
  readonly cohortOf: (member: Member) => string;
}

/**
 * Reading: an empty cohort has no rows; any other has a row for every period that the range
 * reaches.
 */
function cohortRows({ members, buckets, period, cohortOf }: Cohorts): Row[] {
  const rows: Row[] = [];
  for (const cohort of buckets) {
    const own = members.filter((member) => cohortOf(member) === cohort);
    if (own.length === 0) continue;
    for (let n = 0; n <= PERIODS_MAX; n += 1) {
      const bucket = bucketAfter(cohort, period, n);
      if (!buckets.includes(bucket)) break;
      const users = own.filter((member) => member.returned.has(bucket)).length;
      rows.push({ cohort, cohort_size: own.length, period: n, users, rate: ratio(users, own.length) });
    }
  }
  return rows;
}
