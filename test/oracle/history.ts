// The naive world that questions are asked about: events as they were accepted, device mappings, and profiles, in the
// order in which they were stored. Names are those of the wire and of the query language, so that a reader can hold a
// history against the specification without a dictionary.

export type PropertyValue = string | number | boolean | null;
export type Properties = Readonly<Record<string, PropertyValue>>;

/** What the service derives from a request, by the name a query uses. */
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
  /** A field that is not here is missing; so is one that is empty. */
  readonly derived: Readonly<Partial<Record<DerivedField, string>>>;
}

/** Of the mappings of one device the latest `updated_at` wins, of equal ones the one stored last. */
export interface DeviceMapping {
  readonly project: string;
  readonly device_id: string;
  readonly user_id: string;
  readonly updated_at: number;
}

/** At most one per user. `properties` holds every property as sent, `email` included. */
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

/** An event from what matters about it; everything else is absent. */
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

/** A property under its own key, whatever the key is called: `constructor` and `__proto__` are keys like any other. */
export function propertyOf(properties: Properties, key: string): PropertyValue | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}
