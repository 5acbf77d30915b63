// Maps events of Amplitude. README.md beside this file has the mapping.
import { type JsonObject, textOf } from '../../../platform/json-object.js';
import { toAgent } from '../../agents.js';
import { countryCodeOf } from '../../places.js';
import { RecordIds } from '../../record-ids.js';
import type { ImportedEvent, Mapped, Mapper, Properties } from '../../source.js';
import { idOf, numberOf, objectOrJson, ownOf, present, type Renames, timeOf, toProperties } from '../../values.js';

const EVENT_TYPES: Readonly<Record<string, string>> = { '[Amplitude] Page Viewed': 'page_view' };
/** Marks of sessions: sessions here follow from their events. */
const SESSION_MARKS: ReadonlySet<string> = new Set(['session_start', 'session_end']);
/** Events that only change properties. */
const PROPERTY_CHANGES: ReadonlySet<string> = new Set(['$identify']);

const EVENT_PROPERTIES: Renames = {
  '[Amplitude] Page URL': null,
  '[Amplitude] Page Location': 'url',
  '[Amplitude] Page Title': 'title',
};

export function createMapper(): Mapper<JsonObject> {
  const ids = new RecordIds('amp');
  return (record, file) => {
    const type = textOf(record.event_type);
    if (type === undefined) return [{ kind: 'skip', reason: 'no event_type' }];
    const timeMs = timeOf(record.event_time);
    const user = idOf(record.user_id);
    const userProperties = withoutEmpty(objectOrJson(record.user_properties));
    const identity = toIdentity(record, timeMs ?? 0, userProperties);
    if (SESSION_MARKS.has(type)) return [...identity, { kind: 'skip', reason: `${type}: sessions follow from events` }];
    if (type === '$groupidentify') return [{ kind: 'skip', reason: '$groupidentify: groups have no profiles' }];
    if (PROPERTY_CHANGES.has(type)) {
      return identity.length > 0 ? identity : [{ kind: 'skip', reason: `${type} of a device: profiles are of users` }];
    }
    const uuid = idOf(record.uuid) ?? idOf(record.$insert_id);
    const session = numberOf(record.session_id);
    const event: ImportedEvent = {
      event_type: ownOf(EVENT_TYPES, type) ?? type,
      timeMs,
      insert_id: uuid === undefined ? ids.ofOccurrence(record, file) : ids.own(uuid),
      user_id: user,
      device_id: idOf(record.device_id),
      // Minus one: outside of any session.
      session_id: session === undefined || session < 0 ? undefined : toSession(record, session),
      event_properties: toEventProperties(record),
      user_properties: userProperties,
      ip: textOf(record.ip_address),
      user_agent: textOf(record.user_agent),
      agent: textOf(record.user_agent) === undefined ? toClient(record) : undefined,
      geo: toGeography(record),
      origin: /^amplitude-(?:node|python|java|go|ruby|php)/.test(textOf(record.library) ?? '') ? 'server' : 'client',
    };
    return [{ kind: 'event', event }, ...identity];
  };
}

/** Session ids are start times, which several devices share. */
const toSession = (record: JsonObject, session: number): string =>
  `${idOf(record.device_id) ?? idOf(record.user_id) ?? ''}:${session}`;

function toIdentity(record: JsonObject, timeMs: number, properties: Properties): Mapped[] {
  const user = idOf(record.user_id);
  const device = idOf(record.device_id);
  if (user === undefined) return [];
  return [
    ...(device === undefined ? [] : [{ kind: 'link', device, user, timeMs } as const]),
    ...(Object.keys(properties).length === 0 ? [] : [{ kind: 'profile', user, timeMs, properties } as const]),
  ];
}

/** `EMPTY` stands in exports for a value that was never set. */
function withoutEmpty(properties: JsonObject): Properties {
  const kept = toProperties(properties);
  for (const key in kept) if (kept[key] === 'EMPTY') delete kept[key];
  return kept;
}

/** Fields of the record that have no field of an event here, beside the event's own properties. */
function toEventProperties(record: JsonObject): Properties {
  const fields = present({
    language: record.language,
    app_version: record.version_name,
    platform: record.platform,
    os_name: record.os_name,
    os_version: record.os_version,
    device_family: record.device_family,
    device_type: record.device_type,
    device_carrier: record.device_carrier,
  });
  return toProperties(objectOrJson(record.event_properties), EVENT_PROPERTIES, fields);
}

const SYSTEM = /^(?:windows|linux|mac|chrome os|android|ios)/i;

/** On the web the name of the system is that of the browser, and the family is the system. */
function toClient(record: JsonObject): ImportedEvent['agent'] {
  const { os_name: name, os_version: version } = record;
  if (record.platform !== 'Web') return toAgent({ os: name, osVersion: version, device: record.platform });
  const family = textOf(record.device_family) ?? '';
  return toAgent({ browser: name, browserVersion: version, os: SYSTEM.test(family) ? family : undefined });
}

function toGeography(record: JsonObject): ImportedEvent['geo'] {
  const country = countryCodeOf(textOf(record.country));
  if (country === undefined) return undefined;
  return present({
    country,
    region: textOf(record.region),
    city: textOf(record.city),
    latitude: numberOf(record.location_lat),
    longitude: numberOf(record.location_lng),
  });
}
