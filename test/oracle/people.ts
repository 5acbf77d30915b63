// Reference implementation of `people`: who is behind a number, with the time of the event that
// decides.
import { type Status, statusIn } from './activity.js';
import {
  bucketAfter,
  bucketOf,
  bucketsOf,
  type Interval,
  intervalOf,
  lengthOf,
  startOfDate,
  toRfc3339,
} from './calendar.js';
import { withCallsBound } from './calls.js';
import { EVER, eventsOf } from './events.js';
import { attemptsOf, bestOf } from './funnel.js';
import type { Event } from './history.js';
import type { EventsQuestion, FunnelQuestion, LifecycleQuestion, RetentionQuestion, UserQuestion } from './question.js';
import { bucketsBetween, inMonths, membersOf } from './retention.js';
import { type Answer, ascending, descending, inOrder, ordered } from './table.js';
import { profileRow } from './users.js';
import { byPerson, type World } from './world.js';

export type CountedQuestion = EventsQuestion | UserQuestion | FunnelQuestion | RetentionQuestion | LifecycleQuestion;

export type Who =
  | { readonly kind: 'all' }
  | { readonly kind: 'at'; readonly number: number; readonly cohort?: string }
  | { readonly kind: 'lost_after'; readonly number: number }
  | { readonly kind: 'status'; readonly status: Status };

export function whoText(who: Who): string {
  switch (who.kind) {
    case 'all':
      return 'people';
    case 'at':
      return `people at ${who.number}${who.cohort === undefined ? '' : ` of ${who.cohort}`}`;
    case 'lost_after':
      return `people lost after ${who.number}`;
    case 'status':
      return `people ${who.status.toLowerCase()}`;
  }
}

interface Listed {
  readonly id: string;
  readonly at: number;
}

const COLUMNS = ['distinct_id', 'user_id', 'email', 'email_domain', 'first_seen', 'last_seen', 'properties', 'at'];
const NO_PROFILE = Object.fromEntries(COLUMNS.map((column) => [column, null]));

/** The newest first; of equal times the smaller id. */
export function answerPeople(question: CountedQuestion, who: Who, world: World): Answer {
  const bound = withCallsBound(question, world) as CountedQuestion;
  const rows = peopleOf(bound, who, world).map(({ id, at }) => {
    const profile = world.profileOf(id);
    return { ...NO_PROFILE, ...(profile && profileRow(profile)), distinct_id: id, at: toRfc3339(at) };
  });
  // Sorted as text, a time is in order too.
  return { mode: 'people', columns: COLUMNS, ...ordered(rows, inOrder(descending('at'), ascending('distinct_id'))) };
}

function peopleOf(question: CountedQuestion, who: Who, world: World): Listed[] {
  switch (question.source) {
    case 'funnel':
      return peopleOfFunnel(question, who, world);
    case 'retention':
      return peopleOfRetention(question, who, world);
    case 'lifecycle':
      return peopleOfLifecycle(question, who, world);
    default: {
      const days = question.source === 'user' ? 30 : 7;
      const interval = intervalOf(question.range, { count: days, unit: 'd' }, world.clock);
      const events = eventsOf(world, question.source === 'user' ? null : question.event, interval, question.where);
      const own = [...byPerson(world, events)].map(([id, of]) => ({ id, at: of.at(-1)?.time ?? 0 }));
      const isAsked = (id: string) =>
        question.source !== 'user' || id === question.id || world.profileOf(id)?.email === question.id;
      return own.filter(({ id }) => isAsked(id));
    }
  }
}

function peopleOfFunnel(question: FunnelQuestion, who: Who, world: World): Listed[] {
  if (who.kind !== 'at' && who.kind !== 'lost_after') return [];
  const interval = intervalOf(question.range, { count: 7, unit: 'd' }, world.clock);
  return attemptsOf(question, interval, world).flatMap((attempts) => {
    const { start, times } = bestOf(attempts);
    const at = times[who.number - 1];
    if (at === undefined || (who.kind === 'lost_after' && times.length > who.number)) return [];
    return [{ id: world.distinctIdOf(start) ?? '', at }];
  });
}

function peopleOfRetention(question: RetentionQuestion, who: Who, world: World): Listed[] {
  if (who.kind !== 'at') return [];
  const { timezone } = world.clock;
  const interval = intervalOf(inMonths(question.range), { count: 12, unit: 'w' }, world.clock);
  const unit = question.period ?? 'week';
  const length = question.window && lengthOf(question.window);
  const periodOf = (event: Event, start: Event): number => {
    if (length !== undefined) return Math.floor((event.time - start.time) / length);
    return bucketsBetween(bucketOf(start.time, unit, timezone), bucketOf(event.time, unit, timezone), unit);
  };
  return membersOf({ question, world, interval }).flatMap(({ start, returns }) => {
    if (who.cohort !== undefined && bucketOf(start.time, unit, timezone) !== who.cohort) return [];
    const isIn = (period: number) => (question.unbounded ? period >= who.number : period === who.number);
    const first = returns.find((event) => isIn(periodOf(event, start)));
    return first === undefined ? [] : [{ id: world.distinctIdOf(start) ?? '', at: first.time }];
  });
}

/** The last period that ends before the end of the range, and before now. */
export function lastWholePeriod(question: LifecycleQuestion, world: World): string | undefined {
  const { timezone, now } = world.clock;
  const unit = question.period ?? 'week';
  const interval: Interval = intervalOf(question.range, { count: 30, unit: 'd' }, world.clock);
  const end = Math.min(interval.end, now);
  const isOver = (period: string) => startOfDate(bucketAfter(period, unit), timezone) <= end;
  return bucketsOf(interval, unit, timezone).findLast(isOver);
}

function peopleOfLifecycle(question: LifecycleQuestion, who: Who, world: World): Listed[] {
  const period = lastWholePeriod(question, world);
  if (who.kind !== 'status' || period === undefined) return [];
  const unit = question.period ?? 'week';
  const before = bucketAfter(period, unit, -1);
  const bucketAt = ({ time }: Event) => bucketOf(time, unit, world.clock.timezone);
  return [...byPerson(world, eventsOf(world, question.event, EVER, question.where))].flatMap(([id, events]) => {
    if (statusIn(period, before, events.map(bucketAt)) !== who.status) return [];
    const decided =
      who.status === 'Dormant'
        ? events.findLast((event) => bucketAt(event) === before)
        : events.find((event) => bucketAt(event) === period);
    return decided === undefined ? [] : [{ id, at: decided.time }];
  });
}
