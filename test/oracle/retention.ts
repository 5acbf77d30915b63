// Reference implementation of retention: return in the periods after the first start event.
import { ratio } from './aggregate.js';
import { bucketAfter, bucketOf, bucketsOf, type Interval, intervalOf, lengthOf, startOfDate } from './calendar.js';
import { EVER, eventsOf } from './events.js';
import { eventField } from './fields.js';
import type { Event } from './history.js';
import type { Range, RetentionQuestion } from './question.js';
import { type Answer, inAnyOrder, inThisOrder, type Row } from './table.js';
import { fieldText } from './to-query-text.js';
import { numberOf, textOf } from './values.js';
import { byPerson, type World } from './world.js';

const PERIODS_MAX = 12;

interface Member {
  readonly start: Event;
  /** At or after the start and in the range. */
  readonly returns: readonly Event[];
}

interface Asked {
  readonly question: RetentionQuestion;
  readonly world: World;
  readonly interval: Interval;
}

export function answerRetention(question: RetentionQuestion, world: World): Answer {
  const interval = intervalOf(inMonths(question.range), { count: 12, unit: 'w' }, world.clock);
  const asked: Asked = { question, world, interval };
  const members = membersOf(asked);
  const columns = ['cohort', 'cohort_size', 'period', 'users', 'rate'];
  if (question.sum !== undefined) columns.push('total', 'cumulative');
  const { by } = question;
  if (by === undefined) {
    const rows = cohortRows(members, asked);
    const incomplete = rows
      .filter(({ open }) => open)
      .map(({ row: { cohort = null, period = null } }) => ({ cohort, period }));
    const beside = { metadata: { incomplete } };
    return { mode: 'retention', columns, beside, ...inThisOrder(rows.map(({ row }) => row)) };
  }
  const column = fieldText(by);
  const groupOf = (member: Member) => textOf(eventField(world)(member.start, by)) ?? null;
  const rows = [...new Set(members.map(groupOf))].flatMap((value) => {
    const own = members.filter((member) => groupOf(member) === value);
    return cohortRows(own, asked).map(({ row }) => ({ [column]: value, ...row }));
  });
  // Reading: a breakdown is the first column, as in a funnel. The order of rows is open.
  return { mode: 'retention', columns: [column, ...columns], ...inAnyOrder(rows) };
}

/** People whose first start event, in the range or ever, is in the range. */
export function membersOf({ question, world, interval }: Asked): Member[] {
  const { event, where, first } = question;
  const starts = byPerson(world, eventsOf(world, event, first ? EVER : interval, where));
  const returning = question.returning === undefined || question.returning === 'any' ? null : question.returning;
  const returns = byPerson(world, eventsOf(world, returning, interval, where));
  const members: Member[] = [];
  for (const [person, [start]] of starts) {
    if (start === undefined || start.time < interval.start || start.time >= interval.end) continue;
    members.push({ start, returns: (returns.get(person) ?? []).filter((event) => event.time >= start.time) });
  }
  return members;
}

/** `m` means months here, where the unit is days, weeks or longer. */
export function inMonths(range: Range | undefined): Range | undefined {
  return range?.kind === 'last' && range.span.unit === 'm'
    ? { kind: 'last', span: { count: range.span.count, unit: 'mo' } }
    : range;
}

interface CohortRow {
  readonly row: Row;
  /** Whether its period is not over, for at least one member. */
  readonly open: boolean;
}

/**
 * Reading: an empty cohort has no rows; any other has a row for every period that the range
 * reaches, for its first member when periods have a length.
 */
function cohortRows(members: readonly Member[], { question, world, interval }: Asked): CohortRow[] {
  const { timezone, now } = world.clock;
  const unit = question.period ?? 'week';
  const end = Math.min(interval.end, now);
  const buckets = bucketsOf(interval, unit, timezone);
  const length = question.window && lengthOf(question.window);
  const read = eventField(world);
  const rows: CohortRow[] = [];
  for (const cohort of buckets) {
    const own = members.filter((member) => bucketOf(member.start.time, unit, timezone) === cohort);
    if (own.length === 0) continue;
    const bucketAt = (n: number) => bucketAfter(cohort, unit, n);
    /** The period that an event of a member is in. */
    const periodOf = (event: Event, { start }: Member): number => {
      if (length !== undefined) return Math.floor((event.time - start.time) / length);
      return bucketsBetween(cohort, bucketOf(event.time, unit, timezone), unit);
    };
    const starts = own.map((member) => member.start.time);
    let cumulative = 0;
    for (let n = 0; n <= PERIODS_MAX; n += 1) {
      const begins = length === undefined ? startOfDate(bucketAt(n), timezone) : Math.min(...starts) + n * length;
      const ends =
        length === undefined ? startOfDate(bucketAt(n + 1), timezone) : Math.max(...starts) + (n + 1) * length;
      if (length === undefined ? !buckets.includes(bucketAt(n)) : begins >= interval.end) break;
      const isIn = (period: number) => (question.unbounded ? period >= n : period === n);
      const users = own.filter((member) => member.returns.some((event) => isIn(periodOf(event, member)))).length;
      const row: Record<string, string | number | null> = {
        cohort,
        cohort_size: own.length,
        period: n,
        users,
        rate: ratio(users, own.length),
      };
      const { sum } = question;
      if (sum !== undefined) {
        const total = own
          .flatMap((member) => member.returns.filter((event) => periodOf(event, member) === n))
          .reduce((so, event) => so + (numberOf(read(event, sum)) ?? 0), 0);
        cumulative += total;
        Object.assign(row, { total, cumulative });
      }
      rows.push({ row, open: ends > end });
    }
  }
  return rows;
}

export function bucketsBetween(from: string, to: string, unit: NonNullable<RetentionQuestion['period']>): number {
  let count = 0;
  for (let bucket = from; bucket < to; bucket = bucketAfter(bucket, unit)) count += 1;
  return count;
}
