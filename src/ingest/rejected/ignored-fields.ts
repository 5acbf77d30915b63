// Unknown fields of events and identify calls, which are ignored, so that a client that sends
// `timestamp` instead of `time` can be told. The first of each request is looked at: a client forms
// all alike, and looking at every event would cost each request of 2,000 a tenth of a millisecond.
import { isObject } from '../body.js';

/** Fields of an event; the last four of secret keys only. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['event_type', 'user_id', 'device_id', 'session_id', 'time', 'event_properties', 'user_properties', 'insert_id'],
  ...['library', 'origin', 'clientOriginated', 'ip', 'user_agent', 'agent', 'geo'],
]);
/** Fields of an identify call; clients may send the last two with every call. */
const KNOWN_OF_CALL: ReadonlySet<string> = new Set([
  ...['user_id', 'device_id', 'user_properties', 'user_property_ops', 'time', 'library'],
]);

/** Routes that ignore unknown fields. */
export const IGNORING_ROUTES = ['/track', '/identify'] as const;
export type IgnoringRoute = (typeof IGNORING_ROUTES)[number];

const FIELDS_MAX = 20;
/** Longer names are left out, not cut, so that an erasure finds every name that contains an id. */
const LENGTH_MAX = 64;
const NONE: readonly string[] = [];

/** The names of the first unknown fields of an event. */
export const findIgnoredFields = (event: unknown): readonly string[] => findUnknown(event, KNOWN);

/** The same for an identify call. */
export const findIgnoredFieldsOfCall = (call: unknown): readonly string[] => findUnknown(call, KNOWN_OF_CALL);

function findUnknown(sent: unknown, known: ReadonlySet<string>): readonly string[] {
  if (!isObject(sent)) return NONE;
  let found: string[] | undefined;
  for (const key in sent) {
    if (known.has(key) || key.length > LENGTH_MAX) continue;
    found ??= [];
    if (found.push(key) === FIELDS_MAX) break;
  }
  return found ?? NONE;
}

/** Names that other products have for a field, in lower case without `_` and `$`. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  event_type: ['event', 'eventname', 'eventtype'],
  time: ['timestamp', 'ts', 'datetime', 'eventtime', 'originaltimestamp'],
  user_id: ['userid', 'distinctid', 'uid'],
  device_id: ['deviceid', 'anonymousid', 'anonid'],
  session_id: ['sessionid'],
  insert_id: ['insertid', 'messageid', 'uuid', 'eventid'],
  event_properties: ['eventproperties', 'properties', 'props'],
  user_properties: ['userproperties', 'traits'],
};
const FIELD_BY_NAME: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([field, names]) => names.map((name) => [name, field] as const)),
);

/** The field that takes what an unknown one holds: its name here, or the properties. */
export function toKnownField(field: string, route: IgnoringRoute): string {
  const known = FIELD_BY_NAME.get(field.toLowerCase().replace(/[_$]/g, ''));
  if (route === '/track') return known ?? 'event_properties';
  return known !== undefined && KNOWN_OF_CALL.has(known) ? known : 'user_properties';
}
