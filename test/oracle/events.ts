// Reference implementation of events as rows: the event source, `*`, the events of one user, and
// exposures read as events.
import { aggregateColumns, aggregated, METRICS } from './aggregate.js';
import { type Interval, intervalOf, isWithin, toRfc3339 } from './calendar.js';
import { eventField, matchesAll, UNIT } from './fields.js';
import { type Event, propertyOf } from './history.js';
import type { ChoiceQuestion, Condition, Events, EventsQuestion, Reading, UserQuestion } from './question.js';
import { type Answer, descending, ended, type Mode, ordered, type Row } from './table.js';
import type { World } from './world.js';

export const LIST_COLUMNS = [
  'insert_id',
  'event_type',
  'time',
  'user_id',
  'distinct_id',
  'device_id',
  'session_id',
  'event_properties',
  'user_properties',
  '_ip',
  '_browser',
  '_browser_version',
  '_os',
  '_os_version',
  '_device_type',
  '_platform',
] as const;

export type IsOf = (event: Event) => boolean;

/** Whether an event is one of these. */
export function isOneOf(world: World, events: Events): IsOf {
  const read = eventField(world);
  if (events === null) return () => true;
  if (typeof events === 'string') return (event) => event.event_type === events;
  return (event) =>
    events.some(
      (match) => (match.event === null || match.event === event.event_type) && matchesAll(match.where, event, read),
    );
}

/** Events in a range that are one of these and satisfy every condition, in order. */
export function eventsOf(world: World, events: Events, interval: Interval, where: readonly Condition[] = []): Event[] {
  const read = eventField(world);
  const isAsked = isOneOf(world, events);
  return world.events.filter(
    (event) => isAsked(event) && isWithin(event.time, interval) && matchesAll(where, event, read),
  );
}

export const EVER: Interval = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY };

/** `rolling` reads the days before the range too. */
const readInterval = (reading: Reading, { start, end }: Interval): Interval =>
  reading.kind === 'aggregate' && reading.window?.kind === 'rolling' ? { start: EVER.start, end } : { start, end };

const COUNT: Reading = { kind: 'aggregate', aggregate: { kind: 'count' }, by: [] };

export function answerEvents(question: EventsQuestion, world: World): Answer {
  const interval = intervalOf(question.range, { count: 7, unit: 'd' }, world.clock);
  const reading = question.reading ?? COUNT;
  const asked = eventsOf(world, question.event, readInterval(reading, interval), question.where);
  const events = withUnits(question, world, asked);
  return answerWithEvents({ world, events, interval, reading, ending: question.ending, mode: reading.kind });
}

/** A unit leaves out the events without one. */
const withUnits = ({ unit }: EventsQuestion | UserQuestion, world: World, events: Event[]): Event[] =>
  unit === undefined ? events : events.filter((event) => world.subjectOf(event) !== null);

export function answerUser(question: UserQuestion, world: World): Answer {
  const interval = intervalOf(question.range, { count: 30, unit: 'd' }, world.clock);
  const reading: Reading = question.reading ?? { kind: 'list' };
  const events = eventsOf(world, null, readInterval(reading, interval), question.where).filter((event) => {
    const person = world.distinctIdOf(event);
    return person !== null && (person === question.id || world.profileOf(person)?.email === question.id);
  });
  return answerWithEvents({
    world,
    events: withUnits(question, world, events),
    interval,
    reading,
    ending: question.ending,
    mode: 'user',
  });
}

export const EXPOSURE = 'service.exposure';

export const isExposureOf =
  (choice: string) =>
  (event: Event): boolean =>
    event.event_type === EXPOSURE && propertyOf(event.event_properties, 'choice_key') === choice;

const CORE_FIELDS = 'event_type user_id distinct_id device_id session_id time insert_id'.split(' ');

const isFieldOfEvents = (field: string): boolean =>
  field === UNIT ||
  CORE_FIELDS.includes(field) ||
  /^(_|event_properties\.|user_properties\.|user\.|session\.|user_last_session\.|user_first_session\.)/.test(field);

/** Bare names are properties of the exposure, unless an event has a field of that name. */
export function answerExposures(question: ChoiceQuestion, world: World): Answer {
  const interval = intervalOf(question.range, { count: 30, unit: 'd' }, world.clock);
  const read = eventField(world);
  const readExposure: typeof read = (event, field) =>
    isFieldOfEvents(field) ? read(event, field) : propertyOf(event.event_properties, field);
  const reading = question.reading ?? COUNT;
  const events = eventsOf(world, EXPOSURE, readInterval(reading, interval))
    .filter(isExposureOf(question.choice))
    .filter((event) => matchesAll(question.where ?? [], event, readExposure));
  const given = { world, events, interval, reading, ending: question.ending, mode: 'choice' as const };
  return answerWithEvents({ ...given, read: readExposure });
}

interface EventsRead {
  readonly world: World;
  readonly events: readonly Event[];
  readonly interval: Interval;
  readonly reading: Reading;
  readonly ending: EventsQuestion['ending'] | undefined;
  readonly mode: Mode;
  readonly read?: ReturnType<typeof eventField>;
}

function answerWithEvents({
  world,
  events,
  interval,
  reading,
  ending,
  mode,
  read = eventField(world),
}: EventsRead): Answer {
  if (reading.kind === 'list') {
    // Newest first; the order of equal times is open, and the oracle puts the larger insert_id
    // first.
    const table = ordered(
      events.map((event) => listRow(event, world.distinctIdOf(event))).reverse(),
      descending('time'),
    );
    return { mode, columns: LIST_COLUMNS, ...ended(table, ending, undefined) };
  }
  const { aggregate, by, having, window, share, each } = reading;
  const { timezone } = world.clock;
  const timeOf = (event: Event) => event.time;
  const given = { items: events, aggregate, by, read, timeOf, interval, timezone, ending };
  const table = aggregated({ ...given, having, window, share, each });
  return { mode, columns: aggregateColumns(aggregate, by, share), ...ended(table, ending, METRICS[aggregate.kind]) };
}

function listRow(event: Event, distinctId: string | null): Row {
  const { insert_id, event_type, time, user_id, device_id, session_id, event_properties, user_properties } = event;
  const derived = LIST_COLUMNS.filter((column) => column.startsWith('_')).map((column) => [
    column,
    event.derived[column as keyof Event['derived']] || null,
  ]);
  return {
    insert_id,
    event_type,
    time: toRfc3339(time),
    user_id: user_id || null,
    distinct_id: distinctId,
    device_id: device_id || null,
    session_id: session_id || null,
    event_properties,
    user_properties,
    ...Object.fromEntries(derived),
  };
}
