// Reference implementation of sessions as rows.
import { aggregateColumns, aggregated, averageOf, METRICS, ratio } from './aggregate.js';
import { bucketOf, bucketsOf, intervalOf, isWithin } from './calendar.js';
import { eventField, matchesAll, sessionField } from './fields.js';
import type { SessionsQuestion } from './question.js';
import { type Answer, ended, inThisOrder } from './table.js';
import type { Session, World } from './world.js';

export function answerSessions(question: SessionsQuestion, world: World): Answer {
  const { timezone } = world.clock;
  const interval = intervalOf(question.range, { count: 7, unit: 'd' }, world.clock);
  const read = eventField(world);
  // Reading: one event must satisfy the whole condition, session fields included.
  const sessions = world.sessions.filter(
    (session) =>
      isWithin(session.start, interval) &&
      session.events.some((event) => matchesAll(question.where ?? [], event, read)),
  );
  const { reading, ending } = question;
  if (reading === undefined) {
    const days = bucketsOf(interval, 'day', timezone);
    const rows = days.map((day) => {
      const own = sessions.filter((session) => bucketOf(session.start, 'day', timezone) === day);
      return { day, ...dayOf(own) };
    });
    const columns = ['day', 'sessions', 'avg_duration', 'avg_events', 'bounce_rate'];
    return { mode: 'sessions', columns, ...ended(inThisOrder(rows), ending, 'sessions') };
  }
  const { aggregate, by, having } = reading;
  const table = aggregated({
    items: sessions,
    ending,
    having,
    aggregate,
    by,
    read: (session, field) => sessionField(session, field.slice('session.'.length)),
    timeOf: (session) => session.start,
    interval,
    timezone,
  });
  const columns = aggregateColumns(aggregate, by);
  return { mode: 'sessions', columns, ...ended(table, ending, METRICS[aggregate.kind]) };
}

function dayOf(sessions: readonly Session[]) {
  return {
    sessions: sessions.length,
    avg_duration: averageOf(sessions.map((session) => (session.end - session.start) / 1000)),
    avg_events: averageOf(sessions.map((session) => session.events.length)),
    bounce_rate: ratio(sessions.filter((session) => session.events.length === 1).length, sessions.length),
  };
}
