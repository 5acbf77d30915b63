// Names of a catalog: event types, property keys with their types, and values of fields that have
// few. Fields are named as a query names them; a property by its prefix and its unquoted key.
import type { AnyBag } from '../query/fields.js';
import { PROFILE_KEYS } from '../query/profile-fields.js';

const NAME_KINDS = ['event', 'key', 'value', 'many'] as const;
/** `many`: a field with more values, or a group with more names, than the catalog keeps. */
export type NameKind = (typeof NAME_KINDS)[number];

export interface CatalogName {
  readonly kind: NameKind;
  /** Empty for event types. */
  readonly field: string;
  /** The event type, the type of a property's values, or a value. */
  readonly name: string;
  /** Approximate number of events that have the name. */
  readonly events: number;
}

export const PROPERTY_TYPES = ['string', 'number', 'boolean', 'null'] as const;
export type PropertyType = (typeof PROPERTY_TYPES)[number];

export const propertyField = (bag: AnyBag, key: string): string => `${bag}.${key}`;

/** The field of the marker `many` of all event types. */
export const EVENT_TYPES = 'event_type';

/** Fields of events, other than properties, whose values are kept, by their column. */
export const VALUE_COLUMNS = {
  hostname: '_hostname',
  path: '_path',
  path_clean: '_path_clean',
  referrer_domain: '_referrer_domain',
  browser: '_browser',
  browser_version: '_browser_version',
  os: '_os',
  os_version: '_os_version',
  platform: '_platform',
  device_type: '_device_type',
  geo_country: '_country',
  geo_region: '_region',
  geo_region_code: '_geo_region_code',
  geo_city: '_city',
  geo_continent: '_continent',
  geo_timezone: '_timezone',
  geo_metro_code: '_geo_metro_code',
  geo_postal_code: '_geo_postal_code',
  geo_source: '_geo_source',
  library: '_library',
  ingest_origin: '_ingest_origin',
} as const;
export type ValueColumn = keyof typeof VALUE_COLUMNS;
export const VALUE_COLUMN_NAMES = Object.keys(VALUE_COLUMNS) as readonly ValueColumn[];

/** PostgreSQL stores no text with this character. */
export const isStorable = (name: string): boolean => !name.includes('\0');

/** Profile fields such as user.email, whose values are of one person each. */
export const isPersonal = (field: string): boolean => PERSONAL.has(field);
const PERSONAL: ReadonlySet<string> = new Set(PROFILE_KEYS.map((key) => propertyField('user', key)));
