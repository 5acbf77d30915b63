// Generators of random, shrinkable histories. All parts are drawn from small sets, so that events
// coincide, devices change users, keys collide and sessions cross the ends of ranges within a
// handful of events.
import fc from 'fast-check';
import { bucketAfter, bucketOf, DAY, HOUR, MINUTE, SECOND, startOfDate } from './calendar.js';
import { EXPOSURE } from './events.js';
import type { DerivedField, DeviceMapping, Event, History, Profile, Properties, PropertyValue } from './history.js';
import { PROJECT } from './history.js';
import * as words from './vocabulary.js';
import type { Context } from './world.js';

/** Plain objects, which are readable in a counterexample. */
export function record<T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record<T>(model, { noNullPrototype: true });
}

export const OTHER_PROJECT = 'other';

/** An absent stage is an absent key. */
type Written<T> = { [K in keyof T]: Exclude<T[K], undefined> };

export function written<T extends object>(question: T): Written<T> {
  return Object.fromEntries(Object.entries(question).filter(([, value]) => value !== undefined)) as Written<T>;
}

/** The time of the question and the time zone of the project. */
export const contexts: fc.Arbitrary<Context> = record({
  now: fc.constantFrom(...words.CLOCKS).map((clock) => Date.parse(clock)),
  timezone: fc.oneof({ weight: 2, arbitrary: fc.constant('UTC') }, fc.constantFrom(...words.ZONES)),
});

export interface HistoryOptions {
  readonly eventsMax?: number;
  /** How many of ten events are exposures of a choice. */
  readonly exposures?: number;
}

/** Events lie within this distance of a common moment, so that a session stays under 24 hours. */
const SPREAD = 11 * HOUR;

/** Moments at the boundaries of ranges, buckets and defaults. */
function moments({ now, timezone }: Context): fc.Arbitrary<number> {
  const before = [0, 1, 2, 5, 7, 8, 14, 21, 30, 31, 45, 84, 85, 150].map((days) => now - days * DAY);
  const dates = (['day', 'week', 'month', 'quarter'] as const).flatMap((unit) => {
    const bucket = bucketOf(now, unit, timezone);
    return [0, -1].map((steps) => startOfDate(bucketAfter(bucket, unit, steps), timezone));
  });
  const recent = [HOUR, DAY, 2 * DAY, 5 * DAY, 8 * DAY].map((back) => now - back);
  return fc.oneof({ weight: 2, arbitrary: fc.constantFrom(...recent) }, fc.constantFrom(...before, ...dates));
}

const NEAR = [0, 1, -1, SECOND, MINUTE, -MINUTE, 30 * MINUTE, HOUR, HOUR - 1, HOUR + 1, -HOUR, 2 * HOUR, -9 * HOUR];

const offsets: fc.Arbitrary<number> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NEAR) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 6 }).map((steps) => steps * 10 * MINUTE) },
  fc.integer({ min: -SPREAD / SECOND, max: SPREAD / SECOND }).map((seconds) => seconds * SECOND),
);

const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { freq: 2 });

const mixedValues = fc.constantFrom(...words.MIXED_VALUES);

/** Any of the keys, each with a value of its own. */
function properties(keys: Readonly<Record<string, fc.Arbitrary<PropertyValue>>>): fc.Arbitrary<Properties> {
  return fc.record(keys, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<Properties>;
}

const valuesUnder = (keys: readonly string[], values: fc.Arbitrary<PropertyValue>) =>
  Object.fromEntries(keys.map((key) => [key, values]));

const eventProperties = properties({
  ...valuesUnder(words.MIXED_KEYS, mixedValues),
  utm_source: fc.constantFrom('ads', 'mail', ''),
  utm_campaign: fc.constantFrom('spring', 'fall'),
  gclid: fc.constantFrom('g1', 'g2'),
  language: fc.constantFrom('de', 'en'),
  timezone: fc.constantFrom('Europe/Berlin', 'UTC'),
});

const userProperties = properties(valuesUnder(words.USER_KEYS, mixedValues));

const circumstances: fc.Arbitrary<Event['derived']> = fc.record(
  {
    _title: fc.constantFrom('Home', 'Item'),
    _browser: fc.constantFrom('Firefox', 'Chrome'),
    _browser_version: fc.constantFrom('128', '9'),
    _os: fc.constantFrom('Linux', 'iOS'),
    _platform: fc.constantFrom('web', 'ios'),
    _device_type: fc.constantFrom('desktop', 'mobile', 'bot'),
    _geo_country: fc.constantFrom('DE', 'US', 'JP'),
    _geo_city: fc.constantFrom('Köln', 'Boston'),
    _geo_source: fc.constantFrom('database', 'header'),
    _ip: fc.constantFrom('203.0.113.0', '198.51.100.0'),
    _library: fc.constant('service-js/1.0.0'),
    _ingest_origin: fc.constantFrom('client', 'server'),
  },
  { requiredKeys: [], noNullPrototype: true },
);

/** Values shared by the events of one history; the fewer there are, the more events coincide. */
interface Setting {
  readonly moments: readonly number[];
  readonly users: readonly string[];
  readonly devices: readonly string[];
  /** Whether exposures carry the weights of their variants. */
  readonly isWeighted: boolean;
}

/** Clustered moments for simultaneous events, or spread moments for returning people. */
function settings(context: Context): fc.Arbitrary<Setting> {
  const setting = (limits: { moments: number; users: number; devices: number }) =>
    record({
      moments: fc.uniqueArray(moments(context), { minLength: 1, maxLength: limits.moments }),
      users: fc.uniqueArray(fc.constantFrom('u1', 'u1', ...words.USERS), { minLength: 1, maxLength: limits.users }),
      devices: fc.uniqueArray(fc.constantFrom('d1', ...words.DEVICES), { minLength: 1, maxLength: limits.devices }),
      isWeighted: fc.boolean(),
    });
  return fc.oneof(setting({ moments: 2, users: 1, devices: 2 }), setting({ moments: 5, users: 3, devices: 3 }));
}

interface DrawnEvent {
  readonly type: (typeof words.EVENT_TYPES)[number];
  readonly moment: number;
  readonly offset: number;
  readonly insertId: string;
  readonly user: number | null;
  readonly device: number | null;
  readonly hasSession: boolean;
  readonly isOther: boolean;
  readonly page: (typeof words.PAGES)[number] | null;
  readonly referrer: (typeof words.REFERRERS)[number] | null;
  readonly circumstances: Event['derived'];
  readonly properties: Properties;
  readonly userProperties: Properties;
  readonly exposure: { choice: string; variant: keyof typeof words.VARIANTS } | null;
}

function drawnEvents(exposures: number): fc.Arbitrary<DrawnEvent> {
  const exposure = record({
    choice: fc.oneof({ weight: 4, arbitrary: fc.constant(words.CHOICES[0]) }, fc.constant(words.CHOICES[1])),
    variant: fc.constantFrom(...(Object.keys(words.VARIANTS) as (keyof typeof words.VARIANTS)[])),
  });
  return record({
    type: fc.constantFrom('signup', 'view', 'signup', 'view', 'pay', ...words.EVENT_TYPES),
    moment: fc.nat({ max: 59 }),
    offset: offsets,
    insertId: fc.constantFrom('i1', 'i2', 'i3', 'i4', 'i5'),
    user: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, fc.nat({ max: 59 })),
    device: fc.option(fc.nat({ max: 59 }), { freq: 6 }),
    hasSession: fc.boolean(),
    isOther: fc.nat({ max: 9 }).map((draw) => draw === 9),
    page: maybe(fc.constantFrom(...words.PAGES)),
    referrer: maybe(fc.constantFrom(...words.REFERRERS)),
    circumstances,
    properties: eventProperties,
    userProperties,
    exposure: fc.oneof(
      { weight: 10 - exposures, arbitrary: fc.constant(null) },
      { weight: exposures, arbitrary: exposure },
    ),
  });
}

function toEvent(drawn: DrawnEvent, { moments, users, devices, isWeighted }: Setting): Event {
  const { exposure, page, referrer, properties, circumstances } = drawn;
  const position = drawn.moment % moments.length;
  const user_id = drawn.user === null ? null : (users[drawn.user % users.length] ?? null);
  const device_id = drawn.device === null ? null : (devices[drawn.device % devices.length] ?? null);
  const event_type = exposure === null ? drawn.type : EXPOSURE;
  const exposed: Record<string, PropertyValue> =
    exposure === null ? {} : { choice_key: exposure.choice, variant_key: exposure.variant };
  if (exposure !== null && isWeighted) exposed.variant_weight = words.VARIANTS[exposure.variant];
  const owner = device_id ?? user_id ?? 'nobody';
  return {
    project: drawn.isOther ? OTHER_PROJECT : PROJECT,
    event_type,
    time: (moments[position] ?? 0) + drawn.offset,
    // The type is part of the id, because the order of two events with equal time and insert_id is
    // undefined.
    insert_id: `${drawn.insertId}-${event_type}`,
    user_id,
    device_id,
    session_id: drawn.hasSession ? `${owner}-${position}` : null,
    event_properties: {
      ...properties,
      ...exposed,
      ...(page === null ? {} : { url: page.url }),
      ...(referrer === null ? {} : { referrer: referrer.url }),
    },
    user_properties: drawn.userProperties,
    derived: { ...circumstances, ...derivedOf(page, referrer) },
  };
}

function derivedOf(page: DrawnEvent['page'], referrer: DrawnEvent['referrer']): Partial<Record<DerivedField, string>> {
  return {
    ...(page === null ? {} : { _url: page.url, _path: page.path, _path_clean: page.clean, _hostname: page.hostname }),
    ...(referrer === null ? {} : { _referrer: referrer.url, _referrer_domain: referrer.domain }),
  };
}

/**
 * A second event with the key of a stored one, equal or not; it is stored later and must change
 * nothing.
 */
const duplicates = fc.array(
  record({ position: fc.nat(), plan: fc.option(fc.constantFrom('copy', 5)), user: fc.constantFrom(...words.USERS) }),
  { maxLength: 3 },
);

export function histories(context: Context, options: HistoryOptions = {}): fc.Arbitrary<History> {
  const { eventsMax = 40, exposures = 1 } = options;
  return record({
    setting: settings(context),
    // Long histories shrink to short ones.
    events: fc.oneof(
      { withCrossShrink: true },
      fc.array(drawnEvents(exposures), { maxLength: eventsMax, size: 'max' }),
      fc.array(drawnEvents(exposures), { minLength: eventsMax / 2, maxLength: eventsMax, size: 'max' }),
    ),
    duplicates,
    mappings: mappingsAround(context),
    profiles: profilesAround(context),
  }).map(({ setting, events, duplicates, mappings, profiles }) => {
    const stored = events.map((drawn) => toEvent(drawn, setting));
    for (const { position, plan, user } of duplicates) {
      const original = stored[position % stored.length];
      if (original === undefined) continue;
      stored.push(plan === null ? original : { ...original, user_id: user, event_properties: { plan } });
    }
    return { events: stored, mappings, profiles };
  });
}

/** Devices are mapped, remapped and shared, also at equal `updated_at`. */
function mappingsAround({ now }: Context): fc.Arbitrary<DeviceMapping[]> {
  const mapping = record({
    project: fc.constantFrom(PROJECT, PROJECT, PROJECT, OTHER_PROJECT),
    device_id: fc.constantFrom(...words.DEVICES),
    user_id: fc.constantFrom(...words.USERS),
    updated_at: fc.constantFrom(0, 1, HOUR, 9 * DAY).map((back) => now - back),
  });
  return fc.array(mapping, { maxLength: 5 });
}

function profilesAround({ now }: Context): fc.Arbitrary<Profile[]> {
  // Identify removes a key that is set to null, so no profile has one.
  const values = fc.constantFrom(...words.MIXED_VALUES.filter((value) => value !== null));
  const profile = record({
    user_id: fc.constantFrom(...words.USERS),
    email: maybe(fc.constantFrom(...words.EMAILS)),
    last_seen: fc.constantFrom(1, HOUR, DAY, 30 * DAY, 30 * DAY + 1, 40 * DAY).map((back) => now - back),
    known_for: fc.constantFrom(0, 1, DAY, 20 * DAY),
    properties: properties(valuesUnder(words.USER_KEYS, values)),
  }).map(({ user_id, email, last_seen, known_for, properties }) => ({
    project: PROJECT,
    user_id,
    email,
    email_domain: email === null ? null : email.slice(email.indexOf('@') + 1),
    first_seen: last_seen - known_for,
    last_seen,
    properties: email === null ? properties : { ...properties, email },
  }));
  return fc.uniqueArray(profile, { selector: (drawn) => drawn.user_id, maxLength: words.USERS.length });
}
