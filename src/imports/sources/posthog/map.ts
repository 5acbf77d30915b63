// Maps events and persons of PostHog. README.md beside this file has the mapping.
import { isIdentified, isMadeByLibrary, isServer } from '../../../ingest/protocols/posthog/map.js';
import { type JsonObject, textOf } from '../../../platform/json-object.js';
import { agentOfProperties } from '../../agents.js';
import { RecordIds } from '../../record-ids.js';
import type { Id, ImportedEvent, Mapped, Mapper, Properties } from '../../source.js';
import { idOf, numberOf, objectOrJson, ownOf, present, type Renames, timeOf, toProperties } from '../../values.js';

const EVENT_TYPES: Readonly<Record<string, string>> = { $pageview: 'page_view' };

/** Events that are none here: they change identities and profiles, or are no one's. */
const NO_EVENTS: ReadonlySet<string> = new Set(['$identify', '$create_alias', '$merge_dangerously', '$set']);
const SKIPPED: Readonly<Record<string, string>> = {
  $groupidentify: '$groupidentify: groups have no profiles',
  $snapshot: '$snapshot: recordings are not kept',
  $snapshot_items: '$snapshot_items: recordings are not kept',
};

const EVENT_PROPERTIES: Renames = {
  $current_url: 'url',
  $title: 'title',
  $referrer: 'referrer',
  $referring_domain: 'referring_domain',
  $browser_language: 'language',
  $timezone: 'timezone',
  ...Object.fromEntries(
    [
      ...['$set', '$set_once', '$unset', '$elements', '$ip', '$raw_user_agent', '$user_agent', '$session_id', 'token'],
      ...['distinct_id', '$insert_id', '$time', '$sent_at', '$geoip_disable', '$anon_distinct_id', '$user_id'],
      ...['$is_identified', '$process_person_profile', '$device_id'],
    ].map((name) => [name, null]),
  ),
};

/** Properties of a person that PostHog derives itself. */
const isDerived = (key: string): boolean => key.startsWith('$geoip_') || key.startsWith('$initial_geoip_');

const USER_PROPERTIES: Renames = { $email: 'email', $name: 'name' };

export function createMapper(): Mapper<JsonObject> {
  const ids = new RecordIds('ph');
  return (record, file) => {
    const type = textOf(record.event);
    const distinctId = idOf(record.distinct_id);
    if (type === undefined) return toPerson(record, distinctId);
    const skipped = ownOf(SKIPPED, type);
    if (skipped !== undefined) return [{ kind: 'skip', reason: skipped }];

    const properties = objectOrJson(record.properties);
    const timeMs = timeOf(record.timestamp);
    const people = toPeople(type, properties, distinctId);
    const changes = [
      ...toLinks(type, properties, distinctId, timeMs),
      ...toProfile(record, properties, people.user, timeMs),
    ];
    if (NO_EVENTS.has(type)) {
      return changes.length > 0 ? changes : [{ kind: 'skip', reason: `${type} without a user or a second id` }];
    }
    const uuid = idOf(record.uuid);
    const userAgent = textOf(properties.$raw_user_agent) ?? textOf(properties.$user_agent);
    const event: ImportedEvent = {
      event_type: ownOf(EVENT_TYPES, type) ?? type,
      timeMs,
      insert_id: uuid === undefined ? ids.ofOccurrence(record, file) : ids.own(uuid),
      user_id: people.user,
      device_id: people.device,
      session_id: idOf(properties.$session_id),
      event_properties: toEventProperties(properties),
      ip: textOf(properties.$ip) ?? textOf(record.ip),
      user_agent: userAgent,
      agent: userAgent === undefined ? agentOfProperties(properties) : undefined,
      geo: toGeography(properties),
      origin: isServer(properties) ? 'server' : 'client',
    };
    return [{ kind: 'event', event }, ...changes];
  };
}

interface People {
  readonly user: Id | undefined;
  readonly device: Id | undefined;
}

function toPeople(type: string, properties: JsonObject, distinctId: Id | undefined): People {
  if (distinctId === undefined) return { user: undefined, device: undefined };
  const isUser = type === '$identify' || isIdentified(properties, distinctId);
  return isUser ? { user: distinctId, device: undefined } : { user: undefined, device: distinctId };
}

function toLinks(type: string, properties: JsonObject, distinctId: Id | undefined, timeMs = 0): Mapped[] {
  const isIdentify = type === '$identify';
  const other = idOf(isIdentify ? properties.$anon_distinct_id : properties.alias);
  const isAlias = type === '$create_alias' || type === '$merge_dangerously';
  if (!(isIdentify || isAlias) || distinctId === undefined || other === undefined || other === distinctId) return [];
  // Of two aliases the one that a library made is the device.
  const isReversed = isAlias && isMadeByLibrary(distinctId) && !isMadeByLibrary(other);
  const [device, user] = isReversed ? [distinctId, other] : [other, distinctId];
  return [{ kind: 'link', device, user, timeMs }];
}

/** The state of the person at the event, else what the event sets. Only users have profiles. */
function toProfile(record: JsonObject, properties: JsonObject, user: Id | undefined, timeMs = 0): Mapped[] {
  if (user === undefined) return [];
  const set = objectOrJson(properties.$set ?? record.set);
  const once = objectOrJson(properties.$set_once ?? record.set_once);
  const state = toUserProperties({ ...once, ...objectOrJson(record.person_properties), ...set });
  return Object.keys(state).length === 0 ? [] : [{ kind: 'profile', user, timeMs, properties: state }];
}

function toPerson(record: JsonObject, distinctId: Id | undefined): Mapped[] {
  if (distinctId === undefined || record.person_id === undefined) {
    return [{ kind: 'skip', reason: 'neither an event nor a person' }];
  }
  const storedMs = timeOf(record._inserted_at);
  // 1 in the UInt8 of ClickHouse. Without a time it is the last word.
  if (record.is_deleted === true || record.is_deleted === 1) {
    const deletion: Mapped = { kind: 'deletion', user: distinctId, timeMs: storedMs ?? Number.MAX_SAFE_INTEGER };
    return [deletion, { kind: 'skip', reason: 'a person who was deleted' }];
  }
  if (isMadeByLibrary(distinctId)) {
    return [{ kind: 'skip', reason: 'the person of a device: profiles here are of users' }];
  }
  const timeMs = storedMs ?? timeOf(record.created_at) ?? 0;
  return [{ kind: 'profile', user: distinctId, timeMs, properties: toUserProperties(objectOrJson(record.properties)) }];
}

const toUserProperties = (record: JsonObject): Properties => withoutDerived(toProperties(record, USER_PROPERTIES));

function withoutDerived(properties: Properties): Properties {
  for (const key in properties) if (isDerived(key)) delete properties[key];
  return properties;
}

function toEventProperties(record: JsonObject): Properties {
  const properties = withoutDerived(toProperties(record, EVENT_PROPERTIES));
  // PostHog's word for no referrer.
  if (properties.referrer === '$direct') delete properties.referrer;
  if (properties.referring_domain === '$direct') delete properties.referring_domain;
  return properties;
}

function toGeography(properties: JsonObject): ImportedEvent['geo'] {
  const country = textOf(properties.$geoip_country_code);
  if (country === undefined) return undefined;
  return present({
    country,
    region: textOf(properties.$geoip_subdivision_1_name),
    region_code: textOf(properties.$geoip_subdivision_1_code),
    city: textOf(properties.$geoip_city_name),
    continent: textOf(properties.$geoip_continent_code),
    timezone: textOf(properties.$geoip_time_zone),
    postal_code: textOf(properties.$geoip_postal_code),
    latitude: numberOf(properties.$geoip_latitude),
    longitude: numberOf(properties.$geoip_longitude),
  });
}
