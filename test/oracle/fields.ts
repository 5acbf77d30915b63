// Reference implementation of fields: the value of a field of the language for an event, a session
// or a profile.
import type { DerivedField, Event, Profile } from './history.js';
import { propertyOf } from './history.js';
import { COHORT, type Condition, type Field } from './question.js';
import { compares, equals, hasValue, textOf, type Value } from './values.js';
import type { Session, World } from './world.js';

/** Reads a field from an item of a source. */
export type FieldReader<Item> = (item: Item, field: Field) => Value;

const GEOGRAPHY_ALIASES: Readonly<Record<string, string>> = {
  _page: '_path',
  _region_code: '_geo_region_code',
  _metro_code: '_geo_metro_code',
  _postal_code: '_geo_postal_code',
  _country: '_geo_country',
  _city: '_geo_city',
  _region: '_geo_region',
  _continent: '_geo_continent',
  _timezone: '_geo_timezone',
};

/** What is counted: a unit or a person. No field of the language has this name. */
export const UNIT = ' unit';

/** The part of a field after a prefix. */
function behind(field: Field, prefix: string): string | undefined {
  return field.startsWith(prefix) ? field.slice(prefix.length) : undefined;
}

export const eventField =
  (world: World): FieldReader<Event> =>
  (event, field) => {
    if (field === UNIT) return world.subjectOf(event) ?? undefined;
    if (field === COHORT) return String(world.isInCohort(event));
    const eventKey = behind(field, 'event_properties.');
    if (eventKey !== undefined) return propertyOf(event.event_properties, eventKey);
    const userKey = behind(field, 'user_properties.');
    if (userKey !== undefined) return propertyOf(event.user_properties, userKey);
    const profileKey = behind(field, 'user.');
    if (profileKey !== undefined) return profileField(world.profileOf(world.distinctIdOf(event)), profileKey);
    const lastKey = behind(field, 'user_last_session.');
    if (lastKey !== undefined) return sessionField(world.lastSessionOf(world.distinctIdOf(event)), lastKey);
    const firstKey = behind(field, 'user_first_session.');
    if (firstKey !== undefined) return sessionField(world.firstSessionOf(world.distinctIdOf(event)), firstKey);
    const sessionKey = behind(field, 'session.');
    if (sessionKey !== undefined) return sessionField(world.sessionOf(event), sessionKey);
    return coreField(world, event, field);
  };

function coreField(world: World, event: Event, field: Field): Value {
  switch (field) {
    case 'event_type':
    case 'insert_id':
      return event[field];
    case 'user_id':
    case 'device_id':
    case 'session_id':
      return event[field] || undefined;
    case 'distinct_id':
      return world.distinctIdOf(event) ?? undefined;
    case 'time':
      return { instant: event.time };
    default:
      // The service stores no empty derived values; they count as missing.
      return event.derived[(GEOGRAPHY_ALIASES[field] ?? field) as DerivedField] || undefined;
  }
}

/** `user.KEY` on events, and the bare `KEY` of `users`. */
export function profileField(profile: Profile | undefined, key: string): Value {
  if (profile === undefined) return undefined;
  switch (key) {
    case 'user_id':
      return profile.user_id;
    case 'email':
    case 'email_domain':
      return profile[key] || undefined;
    case 'first_seen':
    case 'last_seen':
      return { instant: profile[key] };
    default:
      return propertyOf(profile.properties, key);
  }
}

const LANDING_FIELDS: Readonly<Record<string, DerivedField>> = {
  url: '_url',
  path: '_path',
  path_clean: '_path_clean',
  hostname: '_hostname',
};

/**
 * Attribution, language, time zone and geography: each from the first event of the session that has
 * it.
 */
const FIRST_DERIVED: Readonly<Record<string, DerivedField>> = {
  referrer: '_referrer',
  referring_domain: '_referrer_domain',
  ingest_origin: '_ingest_origin',
  region_code: '_geo_region_code',
  postal_code: '_geo_postal_code',
  country: '_geo_country',
  city: '_geo_city',
  region: '_geo_region',
  continent: '_geo_continent',
  geo_country: '_geo_country',
  geo_region: '_geo_region',
  geo_region_code: '_geo_region_code',
  geo_city: '_geo_city',
  geo_continent: '_geo_continent',
  geo_timezone: '_geo_timezone',
  geo_metro_code: '_geo_metro_code',
  geo_postal_code: '_geo_postal_code',
};

const FIRST_PROPERTIES = new Set(
  'utm_source utm_medium utm_campaign utm_term utm_content gclid fbclid language timezone'.split(' '),
);

/** The keys of `session.`, `user_last_session.` and `user_first_session.`. */
export function sessionField(session: Session | undefined, key: string): Value {
  if (session === undefined) return undefined;
  if (key === 'start_time') return { instant: session.start };
  if (key === 'end_time') return { instant: session.end };
  // Reading: seconds with their fraction, as the times have milliseconds.
  if (key === 'duration') return (session.end - session.start) / 1000;
  if (key === 'event_count') return session.events.length;
  if (key === 'first_event') return session.events[0].event_type;
  if (key === 'last_event') return session.events.at(-1)?.event_type;
  const withUrl = session.events.filter((event) => hasValue(event.derived._url));
  const landing = LANDING_FIELDS[behind(key, 'landing_') ?? ''];
  if (landing !== undefined) return withUrl[0]?.derived[landing] || undefined;
  const exit = LANDING_FIELDS[behind(key, 'exit_') ?? ''];
  if (exit !== undefined) return withUrl.at(-1)?.derived[exit] || undefined;
  const candidates = session.events.map((event) => {
    const derived = FIRST_DERIVED[key];
    if (derived !== undefined) return event.derived[derived];
    return FIRST_PROPERTIES.has(key) ? textOf(propertyOf(event.event_properties, key)) : undefined;
  });
  return candidates.find(hasValue);
}

export function matches<Item>(condition: Condition, item: Item, read: FieldReader<Item>): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.terms.every((term) => matches(term, item, read));
    case 'or':
      return condition.terms.some((term) => matches(term, item, read));
    case 'exists':
      return hasValue(read(item, condition.field)) !== condition.negated;
    case 'in': {
      const value = read(item, condition.field);
      return condition.values.some((literal) => equals(value, literal)) !== condition.negated;
    }
    case 'compare':
      return compares(read(item, condition.field), condition.operator, condition.value);
    case 'bound':
      return condition.holds(item);
    case 'call':
      throw new Error('the values of the call are not known here');
  }
}

/** Several `where` stages are joined with `and`. */
export function matchesAll<Item>(where: readonly Condition[], item: Item, read: FieldReader<Item>): boolean {
  return where.every((condition) => matches(condition, item, read));
}
