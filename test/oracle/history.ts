// Types of a history: events as accepted, device mappings and profiles, in the order in which they
// were stored. Names are those of the API and the query language.

export type PropertyValue = string | number | boolean | null;
export type Properties = Readonly<Record<string, PropertyValue>>;

/** Fields that the service derives from a request, by their names in queries. */
export const DERIVED_FIELDS = [
  '_url',
  '_path',
  '_path_clean',
  '_hostname',
  '_title',
  '_referrer',
  '_referrer_domain',
  '_browser',
  '_browser_version',
  '_os',
  '_os_version',
  '_platform',
  '_device_type',
  '_geo_country',
  '_geo_region',
  '_geo_region_code',
  '_geo_city',
  '_geo_continent',
  '_geo_timezone',
  '_geo_metro_code',
  '_geo_postal_code',
  '_geo_source',
  '_ip',
  '_ua',
  '_library',
  '_ingest_origin',
] as const;
export type DerivedField = (typeof DERIVED_FIELDS)[number];

export interface Event {
  readonly project: string;
  readonly event_type: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly insert_id: string;
  readonly user_id: string | null;
  readonly device_id: string | null;
  readonly session_id: string | null;
  readonly event_properties: Properties;
  readonly user_properties: Properties;
  /** A missing or empty field is absent. */
  readonly derived: Readonly<Partial<Record<DerivedField, string>>>;
}

/** Per device the mapping with the latest `updated_at` wins, of equal ones the one stored last. */
export interface DeviceMapping {
  readonly project: string;
  readonly device_id: string;
  readonly user_id: string;
  readonly updated_at: number;
}

/** At most one per user. `properties` holds every property as sent, including `email`. */
export interface Profile {
  readonly project: string;
  readonly user_id: string;
  readonly email: string | null;
  readonly email_domain: string | null;
  readonly first_seen: number;
  readonly last_seen: number;
  readonly properties: Properties;
}

export interface History {
  readonly events: readonly Event[];
  readonly mappings: readonly DeviceMapping[];
  readonly profiles: readonly Profile[];
}

export const PROJECT = 'main';

/** An event from its relevant fields; all others are absent. */
export function event(
  known: Partial<Event> & Pick<Event, 'event_type' | 'time'>,
  insertId = known.insert_id ?? `${known.event_type}-${known.time}`,
): Event {
  return {
    project: PROJECT,
    user_id: null,
    device_id: null,
    session_id: null,
    event_properties: {},
    user_properties: {},
    derived: {},
    ...known,
    insert_id: insertId,
  };
}

/** An own property, whatever its key: `constructor` and `__proto__` are ordinary keys. */
export function propertyOf(properties: Properties, key: string): PropertyValue | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}
