// Maps events and people of Mixpanel. README.md beside this file has the mapping.
import { isMadeByLibrary } from '../../../ingest/protocols/posthog/map.js';
import { type JsonObject, objectOf, textOf } from '../../../platform/json-object.js';
import { agentOfProperties } from '../../agents.js';
import { DerivedSessions } from '../../derived-sessions.js';
import { RecordIds } from '../../record-ids.js';
import type { Id, ImportedEvent, Mapped, Mapper, SourceOptions } from '../../source.js';
import { toUtcFrom } from '../../source-time-zone.js';
import { cutToBytes, idOf, numberOf, ownOf, present, type Renames, timeOf, toProperties } from '../../values.js';

const DEVICE_PREFIX = '$device:';
/** `time` is in seconds, or in milliseconds in an export with `time_in_ms`. */
const SECONDS_BELOW = 100_000_000_000;

const EVENT_TYPES: Readonly<Record<string, string>> = {
  $mp_web_page_view: 'page_view',
  mp_page_view: 'page_view',
};

/** Names of Mixpanel with an equal here; null: a field of the event, or of Mixpanel's own work. */
const EVENT_PROPERTIES: Renames = {
  time: null,
  distinct_id: null,
  $device_id: null,
  $user_id: null,
  $insert_id: null,
  $distinct_id_before_identity: null,
  $mp_api_endpoint: null,
  $mp_api_timestamp_ms: null,
  mp_processing_time_ms: null,
  mp_sent_by_lib_version: null,
  $import: null,
  ip: null,
  $ip: null,
  $user_agent: null,
  mp_country_code: null,
  $region: null,
  $city: null,
  $current_url: 'url',
  current_page_title: 'title',
  $referrer: 'referrer',
  $referring_domain: 'referring_domain',
};

/** Names of people's properties with an equal here. */
const USER_PROPERTIES: Renames = {
  $email: 'email',
  $name: 'name',
  $first_name: 'first_name',
  $last_name: 'last_name',
  $phone: 'phone',
  $created: 'created_at',
  $avatar: 'avatar',
  $last_seen: null,
  $distinct_id: null,
};

export function createMapper(options: Pick<SourceOptions, 'timeZone'>): Mapper<JsonObject> {
  const ids = new RecordIds('mp');
  const sessions = new DerivedSessions('mp');
  const toUtc = toUtcFrom(options.timeZone);
  return (record, file) => {
    if ('$distinct_id' in record) return [toProfile(record, toUtc)];
    const name = textOf(record.event);
    if (name === undefined) return [{ kind: 'skip', reason: toWrongRecord(record) }];
    const properties = objectOf(record.properties);
    const timeMs = toTime(properties.time, toUtc);
    const links = ownOf(LINKS, name);
    if (links !== undefined) return links(properties, timeMs ?? 0);

    const people = toPeople(properties, timeMs);
    const person = people.device ?? people.user;
    const insertId = idOf(properties.$insert_id);
    const event: ImportedEvent = {
      event_type: ownOf(EVENT_TYPES, name) ?? name,
      timeMs,
      insert_id: insertId === undefined ? ids.ofOccurrence(record, file) : ids.own(insertId),
      user_id: people.user,
      device_id: people.device,
      session_id: person === undefined || timeMs === undefined ? undefined : sessions.of(person, timeMs),
      event_properties: withoutDirect(toProperties(properties, EVENT_PROPERTIES)),
      ip: textOf(properties.ip) ?? textOf(properties.$ip),
      user_agent: textOf(properties.$user_agent),
      agent: textOf(properties.$user_agent) === undefined ? agentOfProperties(properties) : undefined,
      geo: toGeography(properties),
      origin: SERVER_LIBRARIES.has(properties.mp_lib) ? 'server' : 'client',
    };
    return [{ kind: 'event', event }, ...people.links];
  };
}

/** An export that Mixpanel refuses is a file too, with the reason in it. */
function toWrongRecord(record: JsonObject): string {
  const error = textOf(record.error);
  return `neither an event nor a person${error === undefined ? '' : `: ${cutToBytes(error, 200)}`}`;
}

/** Libraries of servers, by the values of `mp_lib`; all others run on the devices of people. */
const SERVER_LIBRARIES: ReadonlySet<unknown> = new Set(['python', 'node', 'ruby', 'php', 'java', 'jdk', 'go', 'jvm']);

function toTime(value: unknown, toUtc: (localMs: number) => number): number | undefined {
  const time = numberOf(value);
  if (time === undefined) return undefined;
  return toUtc(Math.trunc(time < SECONDS_BELOW ? time * 1000 : time));
}

interface People {
  readonly user: Id | undefined;
  readonly device: Id | undefined;
  readonly links: readonly Mapped[];
}

/**
 * `distinct_id` is what Mixpanel has merged the event's own id into: a user, or a device while it
 * knows no user. Original ID Merge may choose one of the devices for both. Its user is then the id
 * before, and events of other devices keep theirs.
 */
function toPeople(properties: JsonObject, timeMs: number | undefined): People {
  const distinctId = idOf(properties.distinct_id);
  const before = idOf(properties.$distinct_id_before_identity);
  const ownDevice = idOf(properties.$device_id);
  const ownUser = idOf(properties.$user_id);
  const isDevice = isDeviceId({ distinctId, before, ownDevice, ownUser });
  const user = ownUser ?? (isDevice ? undefined : distinctId);
  const merged = isDevice && distinctId !== undefined ? withoutPrefix(distinctId) : undefined;
  const anonymous = before !== undefined && isAnonymous(before) ? withoutPrefix(before) : undefined;
  const device = ownDevice ?? (ownUser === undefined ? (merged ?? anonymous) : undefined);
  const canonical = merged === distinctId ? merged : undefined;
  // Without any user, the canonical device stands for the person of those that were merged.
  const owner = user ?? (anonymous === undefined ? before : undefined) ?? canonical;
  const links = [...toLink(device, owner, timeMs), ...(merged === device ? [] : toLink(merged, owner, timeMs))];
  return { user, device, links };
}

interface Ids {
  readonly distinctId: Id | undefined;
  readonly before: Id | undefined;
  readonly ownDevice: Id | undefined;
  readonly ownUser: Id | undefined;
}

/** Whether `distinct_id` is a device: ids of users may look like those that libraries make. */
function isDeviceId({ distinctId, before, ownDevice, ownUser }: Ids): boolean {
  if (distinctId === undefined || distinctId === ownUser) return false;
  if (hasPrefix(distinctId) || distinctId === ownDevice) return true;
  if (!isMadeByLibrary(distinctId)) return false;
  // Simplified ID Merge has the prefix on all devices, so this is a user.
  return before === undefined ? ownDevice === undefined : !hasPrefix(before);
}

const hasPrefix = (id: Id): boolean => typeof id === 'string' && id.startsWith(DEVICE_PREFIX);
const isAnonymous = (id: Id): boolean => hasPrefix(id) || isMadeByLibrary(id);

const withoutPrefix = (id: Id): Id => (hasPrefix(id) ? String(id).slice(DEVICE_PREFIX.length) : id);

function toLink(device: Id | undefined, user: Id | undefined, timeMs: number | undefined): Mapped[] {
  if (device === undefined || user === undefined || device === user) return [];
  return [{ kind: 'link', device, user, timeMs: timeMs ?? 0 }];
}

/** Events that only connect ids, with the connection that they make. */
const LINKS: Readonly<Record<string, (properties: JsonObject, timeMs: number) => readonly Mapped[]>> = {
  $identify: (properties, timeMs) => {
    const user = idOf(properties.$identified_id) ?? idOf(properties.$user_id) ?? idOf(properties.distinct_id);
    const device = idOf(properties.$anon_id) ?? idOf(properties.$anon_distinct_id) ?? idOf(properties.$device_id);
    return orSkip('$identify without two ids', toLink(device && withoutPrefix(device), user, timeMs));
  },
  $create_alias: (properties, timeMs) => {
    const [first, alias] = [idOf(properties.distinct_id), idOf(properties.alias)];
    // Of two aliases the one that a library made is the device.
    const isReversed = first !== undefined && alias !== undefined && !isAnonymous(first) && isAnonymous(alias);
    const [device, user] = isReversed ? [alias, first] : [first, alias];
    return orSkip('$create_alias without two ids', toLink(device && withoutPrefix(device), user, timeMs));
  },
  $merge: (properties, timeMs) => {
    const merged = Array.isArray(properties.$distinct_ids)
      ? properties.$distinct_ids.flatMap((id) => idOf(id) ?? [])
      : [];
    const isDevice = merged.some(hasPrefix) ? hasPrefix : isAnonymous;
    const user = merged.find((id) => !isDevice(id));
    const device = merged.find(isDevice);
    return orSkip(
      '$merge of two users: users are never merged here',
      toLink(device && withoutPrefix(device), user, timeMs),
    );
  },
};

const orSkip = (reason: string, links: readonly Mapped[]): readonly Mapped[] =>
  links.length > 0 ? links : [{ kind: 'skip', reason }];

function toProfile(record: JsonObject, toUtc: (localMs: number) => number): Mapped {
  const user = idOf(record.$distinct_id);
  if (user === undefined) return { kind: 'skip', reason: 'a person without $distinct_id' };
  if (withoutPrefix(user) !== user)
    return { kind: 'skip', reason: 'the profile of a device: profiles here are of users' };
  const properties = objectOf(record.$properties);
  const seenMs = timeOf(properties.$last_seen);
  return {
    kind: 'profile',
    user,
    timeMs: seenMs === undefined ? 0 : toUtc(seenMs),
    properties: toProperties(properties, USER_PROPERTIES),
  };
}

function toGeography(properties: JsonObject): ImportedEvent['geo'] {
  const country = textOf(properties.mp_country_code);
  if (country === undefined) return undefined;
  return present({ country, region: properties.$region, city: properties.$city });
}

/** `$direct` is Mixpanel's word for no referrer. */
function withoutDirect(properties: Record<string, unknown>): Record<string, unknown> {
  if (properties.referrer === '$direct') delete properties.referrer;
  if (properties.referring_domain === '$direct') delete properties.referring_domain;
  return properties;
}
