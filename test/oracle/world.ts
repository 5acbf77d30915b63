// Prepares a history for a question: de-duplicates events, selects the project, sorts, stitches
// people and builds sessions.
import type { Clock } from './calendar.js';
import { type Event, type History, PROJECT, type Profile } from './history.js';
import { compareText } from './values.js';

export interface Context extends Clock {
  /** The project of the credential; `PROJECT` by default. */
  readonly project?: string;
}

export interface Session {
  readonly id: string;
  /** All events of the session in order, regardless of the range of the question. */
  readonly events: readonly [Event, ...Event[]];
  readonly start: number;
  readonly end: number;
}

export interface World {
  readonly clock: Clock;
  /** In order of time, insert_id and event type. */
  readonly events: readonly Event[];
  readonly profiles: readonly Profile[];
  readonly sessions: readonly Session[];
  distinctIdOf(event: Event): string | null;
  /** What is counted: the person of the event, or the unit of the question. */
  subjectOf(event: Event): string | null;
  /** Whether the person of the event, or of the profile, is in the cohort of the question. */
  isInCohort(item: Event | Profile): boolean;
  profileOf(distinctId: string | null): Profile | undefined;
  sessionOf(event: Event): Session | undefined;
  lastSessionOf(distinctId: string | null): Session | undefined;
  firstSessionOf(distinctId: string | null): Session | undefined;
}

export function worldOf(history: History, { now, timezone, project = PROJECT }: Context): World {
  const events = firstStored(history.events.filter((event) => event.project === project)).sort(compareEvents);
  const users = mappedUsers(history, project);
  const profiles = history.profiles.filter((profile) => profile.project === project);
  const profileById = new Map(profiles.map((profile) => [profile.user_id, profile]));
  const sessions = sessionsOf(events);
  const sessionById = new Map(sessions.map((session) => [session.id, session]));
  const distinctIdOf = (event: Event): string | null =>
    event.user_id ?? (event.device_id === null ? null : (users.get(event.device_id) ?? event.device_id));
  const lastSessions = sessionsByPerson(sessions, distinctIdOf, now);
  const firstSessions = sessionsByPerson(sessions, distinctIdOf, now, -1);
  return {
    clock: { now, timezone },
    events,
    profiles,
    sessions,
    distinctIdOf,
    subjectOf: distinctIdOf,
    isInCohort: () => false,
    profileOf: (distinctId) => (distinctId === null ? undefined : profileById.get(distinctId)),
    sessionOf: (event) => (event.session_id === null ? undefined : sessionById.get(event.session_id)),
    lastSessionOf: (distinctId) => (distinctId === null ? undefined : lastSessions.get(distinctId)),
    firstSessionOf: (distinctId) => (distinctId === null ? undefined : firstSessions.get(distinctId)),
  };
}

/** Of two events with one key and different content, the one stored first is kept unchanged. */
function firstStored(events: readonly Event[]): Event[] {
  const kept = new Map<string, Event>();
  for (const event of events) {
    const key = JSON.stringify([event.event_type, event.time, event.insert_id]);
    if (!kept.has(key)) kept.set(key, event);
  }
  return [...kept.values()];
}

/** Reading: where time and insert_id are equal, events are ordered by event type. */
export function compareEvents(a: Event, b: Event): number {
  return a.time - b.time || compareText(a.insert_id, b.insert_id) || compareText(a.event_type, b.event_type);
}

function mappedUsers({ mappings }: History, project: string): Map<string, string> {
  const latest = new Map<string, { user_id: string; updated_at: number }>();
  for (const mapping of mappings) {
    if (mapping.project !== project) continue;
    const known = latest.get(mapping.device_id);
    if (known === undefined || mapping.updated_at >= known.updated_at) latest.set(mapping.device_id, mapping);
  }
  return new Map([...latest].map(([device, mapping]) => [device, mapping.user_id]));
}

function sessionsOf(events: readonly Event[]): Session[] {
  const sessions = new Map<string, [Event, ...Event[]]>();
  for (const event of events) {
    if (event.session_id === null) continue;
    const known = sessions.get(event.session_id);
    if (known === undefined) sessions.set(event.session_id, [event]);
    else known.push(event);
  }
  return [...sessions].map(([id, own]) => ({ id, events: own, start: own[0].time, end: (own.at(-1) ?? own[0]).time }));
}

/**
 * The last session that started before now, among those with an event of the person; with the
 * direction -1 the first one. Reading: of two with equal starts, the one with the larger id is
 * later.
 */
function sessionsByPerson(
  sessions: readonly Session[],
  distinctIdOf: (event: Event) => string | null,
  now: number,
  direction: 1 | -1 = 1,
): Map<string, Session> {
  const last = new Map<string, Session>();
  for (const session of sessions) {
    if (session.start > now) continue;
    for (const distinctId of new Set(session.events.map(distinctIdOf))) {
      if (distinctId === null) continue;
      const known = last.get(distinctId);
      const order = known === undefined ? 1 : session.start - known.start || compareText(session.id, known.id);
      if (known === undefined || order * direction > 0) last.set(distinctId, session);
    }
  }
  return last;
}

/** Events of each person or unit, in order; events without one are left out. */
export function byPerson(world: World, events: readonly Event[]): Map<string, Event[]> {
  const people = new Map<string, Event[]>();
  for (const event of events) {
    const person = world.subjectOf(event);
    if (person === null) continue;
    const own = people.get(person);
    if (own === undefined) people.set(person, [event]);
    else own.push(event);
  }
  return people;
}
