// Session fields (`session.`, `user_last_session.`, `user_first_session.`) and how each is derived
// from the session's events.

interface SessionFieldRow {
  /**
   * `start`, `end`, `duration` and `count` describe the session; `first_event` and `last_event` are
   * types of events; `landing` and `exit` read a column of its first and last event with a url;
   * `first` is the first non-empty value.
   */
  readonly of: 'start' | 'end' | 'duration' | 'count' | 'first_event' | 'last_event' | 'landing' | 'exit' | 'first';
  readonly column?: SessionSource;
  readonly type: 'text' | 'optional_number' | 'optional_time';
}

/** Event columns that session fields read. */
export type SessionSource =
  | 'url'
  | 'path'
  | 'path_clean'
  | 'hostname'
  | 'referrer'
  | 'referrer_domain'
  | 'utm_source'
  | 'utm_medium'
  | 'utm_campaign'
  | 'utm_term'
  | 'utm_content'
  | 'gclid'
  | 'fbclid'
  | 'language'
  | 'timezone'
  | 'ingest_origin'
  | 'geo_country'
  | 'geo_region'
  | 'geo_region_code'
  | 'geo_city'
  | 'geo_continent'
  | 'geo_timezone'
  | 'geo_metro_code'
  | 'geo_postal_code'
  | 'geo_latitude'
  | 'geo_longitude';

const landing = (column: SessionSource) => ({ of: 'landing', column, type: 'text' }) as const;
const exit = (column: SessionSource) => ({ of: 'exit', column, type: 'text' }) as const;
const first = (column: SessionSource) => ({ of: 'first', column, type: 'text' }) as const;
const firstNumber = (column: SessionSource) => ({ of: 'first', column, type: 'optional_number' }) as const;

const SESSION_FIELDS = {
  start_time: { of: 'start', type: 'optional_time' },
  end_time: { of: 'end', type: 'optional_time' },
  duration: { of: 'duration', type: 'optional_number' },
  event_count: { of: 'count', type: 'optional_number' },
  first_event: { of: 'first_event', type: 'text' },
  last_event: { of: 'last_event', type: 'text' },
  landing_url: landing('url'),
  landing_path: landing('path'),
  landing_path_clean: landing('path_clean'),
  landing_hostname: landing('hostname'),
  exit_url: exit('url'),
  exit_path: exit('path'),
  exit_path_clean: exit('path_clean'),
  referrer: first('referrer'),
  referring_domain: first('referrer_domain'),
  utm_source: first('utm_source'),
  utm_medium: first('utm_medium'),
  utm_campaign: first('utm_campaign'),
  utm_term: first('utm_term'),
  utm_content: first('utm_content'),
  gclid: first('gclid'),
  fbclid: first('fbclid'),
  language: first('language'),
  timezone: first('timezone'),
  ingest_origin: first('ingest_origin'),
  country: first('geo_country'),
  city: first('geo_city'),
  region: first('geo_region'),
  continent: first('geo_continent'),
  geo_country: first('geo_country'),
  geo_region: first('geo_region'),
  geo_region_code: first('geo_region_code'),
  geo_city: first('geo_city'),
  geo_continent: first('geo_continent'),
  geo_timezone: first('geo_timezone'),
  geo_metro_code: first('geo_metro_code'),
  geo_postal_code: first('geo_postal_code'),
  geo_latitude: firstNumber('geo_latitude'),
  geo_longitude: firstNumber('geo_longitude'),
} as const satisfies Record<string, SessionFieldRow>;

export type SessionKey = keyof typeof SESSION_FIELDS;
export const SESSION_KEYS = Object.keys(SESSION_FIELDS) as SessionKey[];

/** Sessions of a person: the one that started last, and the one that started first. */
export type PersonSession = 'user_last_session' | 'user_first_session';
/** `session`: the event's own session. */
export type SessionPrefix = 'session' | PersonSession;

/** Column alias of a session field in a select. */
export type SessionColumn = `${'' | 'last_' | 'first_'}session_${SessionKey}`;

const COLUMN_PREFIXES = { session: '', user_last_session: 'last_', user_first_session: 'first_' } as const;

export const sessionColumnOf = (prefix: SessionPrefix, key: SessionKey): SessionColumn =>
  `${COLUMN_PREFIXES[prefix]}session_${key}`;

/** Names that other clients use: they are not listed. */
const SHORT_KEYS: ReadonlyMap<string, SessionKey> = new Map([
  ['region_code', 'geo_region_code'],
  ['metro_code', 'geo_metro_code'],
  ['postal_code', 'geo_postal_code'],
  ['latitude', 'geo_latitude'],
  ['longitude', 'geo_longitude'],
]);

/** The key itself, or the one that it is short for. */
export const longSessionKey = (key: string): string => SHORT_KEYS.get(key) ?? key;

export const isSessionKey = (key: string): key is SessionKey => Object.hasOwn(SESSION_FIELDS, key);

export const sessionRowOf = (key: SessionKey): SessionFieldRow => SESSION_FIELDS[key];
