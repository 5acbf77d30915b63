// Table of event fields: names, aliases, columns and types. Column names in SQL come only from this
// table.

import type { ProfileColumn } from './profile-fields.js';
import type { SessionColumn } from './session-fields.js';

export const FIELD_CATEGORIES = ['core', 'page', 'referrer', 'device', 'geo', 'other'] as const;
export type FieldCategory = (typeof FIELD_CATEGORIES)[number];

/**
 * Type of a column. Missing values are '' in text, NaN in numbers, null in optional types; a time
 * is never missing. An id is text without a numeric reading: 007 and 7 are two people.
 */
export type ColumnType = 'text' | 'id' | 'number' | 'time' | 'optional_number' | 'optional_time';

export const isTimeType = (type: ColumnType): boolean => type === 'time' || type === 'optional_time';

interface FieldRow {
  readonly column: string;
  readonly type: ColumnType;
  readonly category: FieldCategory;
  /**
   * Column with the UInt64 hash of the id, 0 when missing: cheaper to count and to join than text.
   */
  readonly hash?: 'user_hash' | 'device_hash';
}

const text = (column: string, category: FieldCategory): FieldRow => ({ column, type: 'text', category });

const EVENT_FIELDS = {
  event_type: text('event_type', 'core'),
  user_id: { column: 'user_id', type: 'id', category: 'core', hash: 'user_hash' },
  device_id: { column: 'device_id', type: 'id', category: 'core', hash: 'device_hash' },
  session_id: { column: 'session_id', type: 'id', category: 'core' },
  time: { column: 'time', type: 'time', category: 'core' },
  insert_id: { column: 'insert_id', type: 'id', category: 'core' },

  _url: text('url', 'page'),
  _path: text('path', 'page'),
  _path_clean: text('path_clean', 'page'),
  _hostname: text('hostname', 'page'),
  _title: text('title', 'page'),

  _referrer: text('referrer', 'referrer'),
  _referrer_domain: text('referrer_domain', 'referrer'),

  _browser: text('browser', 'device'),
  _browser_version: text('browser_version', 'device'),
  _os: text('os', 'device'),
  _os_version: text('os_version', 'device'),
  _platform: text('platform', 'device'),
  _device_type: text('device_type', 'device'),

  _geo_country: text('geo_country', 'geo'),
  _geo_region: text('geo_region', 'geo'),
  _geo_region_code: text('geo_region_code', 'geo'),
  _geo_city: text('geo_city', 'geo'),
  _geo_continent: text('geo_continent', 'geo'),
  _geo_timezone: text('geo_timezone', 'geo'),
  _geo_metro_code: text('geo_metro_code', 'geo'),
  _geo_postal_code: text('geo_postal_code', 'geo'),
  _geo_latitude: { column: 'geo_latitude', type: 'number', category: 'geo' },
  _geo_longitude: { column: 'geo_longitude', type: 'number', category: 'geo' },
  _geo_source: text('geo_source', 'geo'),
  _country: text('geo_country', 'geo'),
  _city: text('geo_city', 'geo'),
  _region: text('geo_region', 'geo'),
  _continent: text('geo_continent', 'geo'),
  _timezone: text('geo_timezone', 'geo'),

  _ip: text('ip', 'other'),
  _ua: text('ua', 'other'),
  _library: text('library', 'other'),
  _ingest_origin: text('ingest_origin', 'other'),
} as const satisfies Record<string, FieldRow>;

export type EventFieldName = keyof typeof EVENT_FIELDS;

/** Column of the events table for a field. */
export type EventColumn = (typeof EVENT_FIELDS)[EventFieldName]['column'];

export interface EventField {
  readonly name: string;
  /** Columns of sessions and profiles come from joins. */
  readonly column: EventColumn | SessionColumn | ProfileColumn;
  readonly type: ColumnType;
  readonly category: FieldCategory | 'session' | 'user';
  readonly hash: 'user_hash' | 'device_hash' | undefined;
}

const BY_NAME: ReadonlyMap<string, EventField> = new Map(
  Object.entries(EVENT_FIELDS).map(([name, row]) => [name, { name, hash: undefined, ...row } as EventField]),
);

/** distinct_id has no column: it is computed from the event's ids and the device mappings. */
export const DISTINCT_ID = 'distinct_id';

/** Names that other clients use: they are not listed. */
const SHORT_NAMES: ReadonlyMap<string, EventFieldName> = new Map([
  ['_page', '_path'],
  ['_region_code', '_geo_region_code'],
  ['_metro_code', '_geo_metro_code'],
  ['_postal_code', '_geo_postal_code'],
  ['_latitude', '_geo_latitude'],
  ['_longitude', '_geo_longitude'],
]);

export const findEventField = (name: string): EventField | undefined => BY_NAME.get(SHORT_NAMES.get(name) ?? name);

export const requireEventField = (name: EventFieldName): EventField => {
  const field = BY_NAME.get(name);
  if (!field) throw new Error(`no event field ${name}`);
  return field;
};

export const EVENT_FIELD_NAMES: readonly string[] = [DISTINCT_ID, ...BY_NAME.keys()];

/** The two groups of custom properties, by their prefix in a query. */
export const PROPERTY_BAGS = { event_properties: 'ep', user_properties: 'up' } as const;
export type PropertyBag = keyof typeof PROPERTY_BAGS;
/** Events have two groups of properties; the third are the properties of the profile. */
export type AnyBag = PropertyBag | 'user';

/** Time buckets, and recurring parts of a time: the days of a week, the hours of a day. */
export const GRANULARITIES = [
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
  'weekday',
  'hour_of_day',
] as const;
export type Granularity = (typeof GRANULARITIES)[number];

/** Numbers that come again, instead of times. */
export const isRecurring = (granularity: Granularity): boolean =>
  granularity === 'weekday' || granularity === 'hour_of_day';

/** Names of other products and of SQL that are far from the own ones. */
export const OTHER_NAMES: Readonly<Record<string, string>> = {
  event: 'event_type',
  event_name: 'event_type',
  timestamp: 'time',
  date: 'day',
  uid: 'user_id',
  user: DISTINCT_ID,
  person_id: DISTINCT_ID,
  email: 'user.email',
  page: '_path',
  pathname: '_path',
  current_url: '_url',
  host: '_hostname',
  referring_domain: '_referrer_domain',
  geoip_country_code: '_country',
  country_code: '_country',
  geoip_city_name: '_city',
};

const OTHER_PREFIXES: Readonly<Record<string, string>> = {
  properties: 'event_properties',
  props: 'event_properties',
  event: 'event_properties',
  person: 'user',
  profile: 'user',
  last_session: 'user_last_session',
  first_session: 'user_first_session',
};

/**
 * The field that is meant by a name of another product. PostHog's own properties begin with a
 * dollar: of those a project has only some, which are `keys`.
 */
export function otherNameOf(name: string, keys: readonly string[] = []): string | undefined {
  const dot = name.indexOf('.');
  const [names, word] = dot < 0 ? [OTHER_NAMES, name] : [OTHER_PREFIXES, name.slice(0, dot)];
  if (!Object.hasOwn(names, word)) return undefined;
  // Others write person.properties.plan.
  const field = `${names[word]}${name.slice(word.length).replace(/^\.properties\.(?=.)/, '.')}`;
  const own = /\.\$(\w+)$/.exec(field)?.[1];
  if (own === undefined || keys.includes(`$${own}`)) return field;
  return otherNameOf(own) ?? [`_${own}`, own].find(findEventField) ?? field;
}

/** Default columns of `list`, in order. */
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
] as const satisfies readonly (EventFieldName | PropertyBag | typeof DISTINCT_ID)[];
