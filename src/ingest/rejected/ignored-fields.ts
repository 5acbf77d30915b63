// Unknown fields of events and identify calls, which are ignored, so that a client that sends
// `timestamp` instead of `time` can be told. The batch object and its first event or call are
// looked at: a client forms all alike, and looking at every event would cost each request of 2,000
// a tenth of a millisecond.
import { isObject } from '../../platform/json-object.js';
import type { Rejected } from '../answers.js';

/** Fields of an event; the last four of secret keys only. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['event_type', 'user_id', 'device_id', 'session_id', 'time', 'event_properties', 'user_properties', 'insert_id'],
  ...['library', 'origin', 'clientOriginated', 'ip', 'user_agent', 'agent', 'geo'],
]);
/** Fields of an identify call; clients may send the last two with every call. */
const KNOWN_OF_CALL: ReadonlySet<string> = new Set([
  'user_id',
  'device_id',
  'user_properties',
  'user_property_ops',
  'time',
  'library',
]);
/** Fields of a batch object. */
const KNOWN_OF_BATCH: ReadonlySet<string> = new Set(['events', 'origin', 'clientOriginated']);
const KNOWN_OF_CALLS: ReadonlySet<string> = new Set(['calls']);

/** Begins the name of a field of a batch object; no name of a field contains NUL (../body.ts). */
const OF_BATCH = 'batch\u0000';

/** A route that ignores unknown fields. */
export type IgnoringRoute = Rejected['ignored_fields'][number]['route'];

const FIELDS_MAX = 20;
/** Longer names are left out, not cut, so that an erasure finds every name that contains an id. */
const LENGTH_MAX = 64;
const NONE: readonly string[] = [];

/** The first unknown fields of the batch object, if there is one, and of its first event. */
export const findIgnoredFields = (batch: unknown, event: unknown): readonly string[] =>
  withBatch(findUnknown(batch, KNOWN_OF_BATCH), findUnknown(event, KNOWN));

/** The same for identify calls. */
export const findIgnoredFieldsOfCall = (batch: unknown, call: unknown): readonly string[] =>
  withBatch(findUnknown(batch, KNOWN_OF_CALLS), findUnknown(call, KNOWN_OF_CALL));

const withBatch = (ofBatch: readonly string[], fields: readonly string[]): readonly string[] =>
  ofBatch.length === 0 ? fields : [...ofBatch.map((name) => `${OF_BATCH}${name}`), ...fields];

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

/** The sent name, and the field that takes what it holds. */
export function toHint(field: string, route: IgnoringRoute): { readonly field: string; readonly instead: string } {
  if (!field.startsWith(OF_BATCH)) return { field, instead: toKnownField(field, route) };
  const name = field.slice(OF_BATCH.length);
  const list = route === '/track' ? 'events' : 'calls';
  const known = route === '/track' ? KNOWN : KNOWN_OF_CALL;
  return { field: name, instead: `${list}[].${known.has(name) ? name : toKnownField(name, route)}` };
}

/** Its name here, or the properties. */
function toKnownField(field: string, route: IgnoringRoute): string {
  const known = FIELD_BY_NAME.get(field.toLowerCase().replace(/[_$]/g, ''));
  if (route === '/track') return known ?? 'event_properties';
  return known !== undefined && KNOWN_OF_CALL.has(known) ? known : 'user_properties';
}
