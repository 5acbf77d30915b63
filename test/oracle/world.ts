// A history as a question sees it: duplicates dropped, one project, events in order, people stitched, sessions gathered.
import type { Clock } from './calendar.js';
import { type Event, type History, PROJECT, type Profile } from './history.js';
import { compareText } from './values.js';

export interface Context extends Clock {
  /** The project of the credential; `PROJECT` when nothing is said. */
  readonly project?: string;
}

export interface Session {
  readonly id: string;
  /** In order, all of them, wherever the range of the question ends. */
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
  profileOf(distinctId: string | null): Profile | undefined;
  sessionOf(event: Event): Session | undefined;
  lastSessionOf(distinctId: string | null): Session | undefined;
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
  const lastSessions = lastSessionsOf(sessions, distinctIdOf, now);
  return {
    clock: { now, timezone },
    events,
    profiles,
    sessions,
    distinctIdOf,
    profileOf: (distinctId) => (distinctId === null ? undefined : profileById.get(distinctId)),
    sessionOf: (event) => (event.session_id === null ? undefined : sessionById.get(event.session_id)),
    lastSessionOf: (distinctId) => (distinctId === null ? undefined : lastSessions.get(distinctId)),
  };
}

/** Two events of one key with different content: the one stored first stays, whole. */
function firstStored(events: readonly Event[]): Event[] {
  const kept = new Map<string, Event>();
  for (const event of events) {
    const key = JSON.stringify([event.event_type, event.time, event.insert_id]);
    if (!kept.has(key)) kept.set(key, event);
  }
  return [...kept.values()];
}

/** Reading: what the specification orders by time and insert_id is ordered by event type where both are equal. */
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
 * The session that started last, up to now, of those in which a person has an event. Reading: of two that started at once
 * the one with the larger id.
 */
function lastSessionsOf(
  sessions: readonly Session[],
  distinctIdOf: (event: Event) => string | null,
  now: number,
): Map<string, Session> {
  const last = new Map<string, Session>();
  for (const session of sessions) {
    if (session.start > now) continue;
    for (const distinctId of new Set(session.events.map(distinctIdOf))) {
      if (distinctId === null) continue;
      const known = last.get(distinctId);
      const order = known === undefined ? 1 : session.start - known.start || compareText(session.id, known.id);
      if (order > 0) last.set(distinctId, session);
    }
  }
  return last;
}

/** Events of each person, in order; those without a distinct_id belong to nobody. */
export function byPerson(world: World, events: readonly Event[]): Map<string, Event[]> {
  const people = new Map<string, Event[]>();
  for (const event of events) {
    const person = world.distinctIdOf(event);
    if (person === null) continue;
    const own = people.get(person);
    if (own === undefined) people.set(person, [event]);
    else own.push(event);
  }
  return people;
}
