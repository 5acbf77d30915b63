// Maps events of PostHog SDKs. README.md beside this file has the mapping. Imports of PostHog's
// exports share its rules of identities.
import { objectOf, textOf } from '../../../platform/json-object.js';
import type { RawEvent } from '../../body.js';
import type { Sink } from '../protocol.js';
import { correctedTime, idOf, type Properties, putAll, type Renames } from '../values.js';

/** What the events of one request share. */
export interface Request {
  readonly now: number;
  /** How far the clock of the sender is ahead, milliseconds. */
  readonly skewMs: number;
}

type Id = string | number;

const EVENT_TYPES: ReadonlyMap<string, string> = new Map([['$pageview', 'page_view']]);
/** They change identities and profiles, and are no events here. */
const NO_EVENTS: ReadonlySet<string> = new Set(['$identify', '$create_alias', '$merge_dangerously', '$set']);
const RECORDINGS: ReadonlySet<string> = new Set(['$snapshot', '$snapshot_items']);

const EVENT_RENAMES: Renames = new Map<string, string | null>([
  ['$current_url', 'url'],
  ['$title', 'title'],
  ['$referrer', 'referrer'],
  ['$referring_domain', 'referring_domain'],
  ['$browser_language', 'language'],
  ['$timezone', 'timezone'],
  ...[
    ...['$set', '$set_once', '$unset', '$elements', '$ip', '$raw_user_agent', '$user_agent', '$session_id', 'token'],
    ...['distinct_id', '$insert_id', '$time', '$sent_at', '$geoip_disable', '$anon_distinct_id', '$user_id'],
    ...['$is_identified', '$process_person_profile', '$device_id', '$lib', '$lib_version', '$ignore_sent_at'],
  ].map((name): [string, null] => [name, null]),
]);
const USER_RENAMES: Renames = new Map([
  ['$email', 'email'],
  ['$name', 'name'],
]);

export function mapEvent(record: RawEvent, { now, skewMs }: Request, sink: Sink): void {
  const type = textOf(record.event);
  if (type === undefined) {
    sink.skip('event_name_missing');
    return;
  }
  if (type === '$groupidentify') {
    sink.skip('group_profile');
    return;
  }
  if (RECORDINGS.has(type)) {
    sink.skip('recording');
    return;
  }
  const properties = objectOf(record.properties);
  const distinctId = idOf(record.distinct_id) ?? idOf(record.$distinct_id) ?? idOf(properties.distinct_id);
  const isUser = distinctId !== undefined && (type === '$identify' || isIdentified(properties, distinctId));
  const changed = addChanges(record, { type, properties, distinctId, isUser }, sink);
  if (NO_EVENTS.has(type)) {
    if (!changed) sink.skip('profile_without_user');
    return;
  }
  const timeMs = computedTime(record, properties.$ignore_sent_at === true, { now, skewMs });
  const isFromServer = isServer(properties);
  const event_properties: Properties = {};
  putAll(event_properties, properties, EVENT_RENAMES);
  if (MAY_BE_LONG.test(type)) shorten(event_properties, sink);
  // PostHog's word for no referrer.
  if (event_properties.referrer === '$direct') delete event_properties.referrer;
  if (event_properties.referring_domain === '$direct') delete event_properties.referring_domain;
  const agent = textOf(properties.$raw_user_agent) ?? textOf(properties.$user_agent);
  const address = textOf(properties.$ip);
  sink.event(
    {
      event_type: EVENT_TYPES.get(type) ?? type,
      user_id: isUser ? distinctId : undefined,
      device_id: isUser ? undefined : distinctId,
      session_id: idOf(properties.$session_id),
      insert_id: idOf(record.uuid) ?? idOf(properties.$insert_id),
      time: timeMs === undefined ? record.timestamp : undefined,
      library:
        properties.$lib === undefined ? undefined : `${String(properties.$lib)}/${String(properties.$lib_version)}`,
      origin: isFromServer ? 'server' : 'client',
      event_properties,
      // Read with a secret key only. The sender of a server's event is not its user.
      ...((isFromServer || address !== undefined) && { ip: address ?? null }),
      ...((isFromServer || agent !== undefined) && { user_agent: agent ?? null }),
    },
    timeMs,
  );
}

/** Events whose properties the libraries make, of any length: prompts, answers and stacks. */
const MAY_BE_LONG = /^\$(?:ai_|exception)/;

/**
 * Leaves out values above the limit, so that the event stays. Of exceptions first their stacks.
 */
function shorten(properties: Properties, sink: Sink): void {
  for (const key in properties) {
    if (sink.isWithinLimit(properties[key])) continue;
    sink.skip('value_too_long');
    const short = key === '$exception_list' ? withoutStacks(properties[key]) : undefined;
    if (short !== undefined && sink.isWithinLimit(short)) properties[key] = short;
    else delete properties[key];
  }
}

const withoutStacks = (exceptions: unknown): readonly Properties[] | undefined =>
  Array.isArray(exceptions)
    ? exceptions.map((each) => ({ type: objectOf(each).type, value: objectOf(each).value }))
    : undefined;

/** `offset` is the age of the event when it was sent, milliseconds. */
function computedTime(record: RawEvent, isRight: boolean, { now, skewMs }: Request): number | undefined {
  const { timestamp, offset } = record;
  if (timestamp !== undefined) return correctedTime(timestamp, isRight ? 0 : skewMs);
  return typeof offset === 'number' && offset >= 0 ? now - offset : undefined;
}

const SERVER_LIBRARIES: ReadonlySet<unknown> = new Set(
  ['node', 'python', 'go', 'ruby', 'php', 'java', 'dotnet', 'elixir', 'rs', 'edge'].map((name) => `posthog-${name}`),
);
export const isServer = (properties: RawEvent): boolean => SERVER_LIBRARIES.has(properties.$lib);

/** Anonymous ids that libraries make: UUIDs, and the older form of five hexadecimal numbers. */
const MADE_BY_LIBRARY =
  /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{8,16}-[0-9a-f]{8,16}-[0-9a-f]{4,12}-[0-9a-f]{4,12}-[0-9a-f]{8,16})$/i;

/** A user's id may be a UUID too: the person of its events is the same then, only not a user. */
export const isMadeByLibrary = (id: Id): boolean => MADE_BY_LIBRARY.test(String(id));

/**
 * Whether `distinct_id` is a user. The anonymous one is the device; `$device_id` is not: it
 * survives reset(), after which another person uses the browser.
 */
export function isIdentified(properties: RawEvent, distinctId: Id): boolean {
  if (typeof properties.$is_identified === 'boolean') return properties.$is_identified;
  if (properties.$user_id === distinctId) return true;
  if (properties.$device_id === distinctId) return false;
  if (isServer(properties)) return true;
  return properties.$process_person_profile !== false && !isMadeByLibrary(distinctId);
}

interface Subject {
  readonly type: string;
  readonly properties: RawEvent;
  readonly distinctId: Id | undefined;
  readonly isUser: boolean;
}

/** Adds links and changes of the profile; false when there are none. Only users have profiles. */
function addChanges(record: RawEvent, subject: Subject, sink: Sink): boolean {
  const { properties, distinctId, isUser } = subject;
  if (distinctId === undefined) return false;
  const link = toLink(subject);
  const set = properties.$set ?? record.$set;
  const once = properties.$set_once ?? record.$set_once;
  const unset = properties.$unset ?? record.$unset;
  const hasChange = isUser && (set !== undefined || once !== undefined || unset !== undefined);
  if (link === undefined && !hasChange) return false;
  sink.identify({
    ...(link ?? { user_id: distinctId }),
    ...(hasChange && {
      user_property_ops: {
        $set: toUserProperties(set),
        $set_once: toUserProperties(once),
        ...(Array.isArray(unset) && { $unset: unset }),
      },
    }),
  });
  return true;
}

function toLink({ type, properties, distinctId }: Subject): { user_id: Id; device_id: Id } | undefined {
  const isAlias = type === '$create_alias' || type === '$merge_dangerously';
  if (distinctId === undefined || !(isAlias || type === '$identify')) return undefined;
  const other = idOf(isAlias ? properties.alias : properties.$anon_distinct_id);
  if (other === undefined || other === distinctId) return undefined;
  // Of two aliases the one that a library made is the device.
  const isReversed = isAlias && isMadeByLibrary(distinctId) && !isMadeByLibrary(other);
  return isReversed ? { user_id: other, device_id: distinctId } : { user_id: distinctId, device_id: other };
}

function toUserProperties(value: unknown): Properties {
  const properties: Properties = {};
  putAll(properties, objectOf(value), USER_RENAMES);
  return properties;
}
