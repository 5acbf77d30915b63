// Maps events of Amplitude SDKs. README.md beside this file has the mapping.
import { isObject, objectOf, textOf } from '../../../platform/json-object.js';
import type { RawEvent } from '../../body.js';
import type { Sink } from '../protocol.js';
import { correctedTime, idOf, type Properties, putAll, putPresent, type Renames } from '../values.js';

const EVENT_TYPES: ReadonlyMap<string, string> = new Map([['[Amplitude] Page Viewed', 'page_view']]);
/** Sessions here follow from their events. */
const SESSION_MARKERS: ReadonlySet<string> = new Set(['session_start', 'session_end']);
const GROUP_PROFILE = '$groupidentify';

const EVENT_RENAMES: Renames = new Map<string, string | null>([
  ['[Amplitude] Page URL', null],
  ['[Amplitude] Page Location', 'url'],
  ['[Amplitude] Page Title', 'title'],
]);

/** Fields of an event that are properties here. */
const FIELDS = [
  ...['language', 'platform', 'os_name', 'os_version', 'device_brand', 'device_manufacturer', 'device_model'],
  ...['app_version', 'carrier', 'price', 'quantity', 'revenue', 'productId', 'revenueType'],
];

const OPERATORS: ReadonlyMap<string, string> = new Map([
  ['$set', '$set'],
  ['$setOnce', '$set_once'],
  ['$add', '$add'],
  ['$unset', '$unset'],
]);

interface Request {
  /** How far the clock of the sender is ahead, milliseconds. */
  readonly skewMs: number;
}

type Links = Map<string | number, string | number>;

export function mapEvents(events: readonly unknown[], request: Request, sink: Sink): void {
  const links: Links = new Map();
  for (const event of events) {
    if (isObject(event)) mapEvent(event, { links, ...request }, sink);
    else sink.skip('call_unknown');
  }
  // An event with both ids says whose device it is; one call for each device is enough.
  for (const [device, user] of links) sink.identify({ user_id: user, device_id: device }, { isExtra: true });
}

function mapEvent(record: RawEvent, { links, skewMs }: Request & { readonly links: Links }, sink: Sink): void {
  const type = textOf(record.event_type);
  if (type === undefined) {
    sink.skip('event_name_missing');
    return;
  }
  if (type === GROUP_PROFILE) {
    sink.skip('group_profile');
    return;
  }
  const [user, device] = [idOf(record.user_id), idOf(record.device_id)];
  if (user !== undefined && device !== undefined && user !== device) links.set(device, user);
  const isIdentify = type === '$identify';
  if (user !== undefined) addProfile(record, { user, isEvent: !isIdentify, insertId: idOf(record.insert_id) }, sink);
  else if (isIdentify) sink.skip('profile_without_user');
  if (isIdentify) return;
  if (SESSION_MARKERS.has(type)) {
    sink.skip('session_marker');
    return;
  }
  const library = textOf(record.library);
  const isFromServer = library === undefined || SERVER_LIBRARY.test(library);
  // The word of Amplitude for the address of the request.
  const address = record.ip === '$remote' ? undefined : textOf(record.ip);
  const timeMs = correctedTime(record.time, skewMs);
  sink.event(
    {
      event_type: EVENT_TYPES.get(type) ?? type,
      user_id: user,
      device_id: device,
      session_id: toSession(record, device ?? user),
      insert_id: idOf(record.insert_id),
      time: timeMs === undefined ? record.time : undefined,
      library,
      origin: isFromServer ? 'server' : 'client',
      event_properties: toEventProperties(record),
      // Read with a secret key only. The sender of a server's event is not its user.
      ...((isFromServer || address !== undefined) && { ip: address ?? null }),
      ...((isFromServer || record.user_agent !== undefined) && { user_agent: textOf(record.user_agent) ?? null }),
    },
    timeMs,
  );
}

const SERVER_LIBRARY = /^amplitude-(?:node|python|java|go|ruby|php|http)/;

/** Session ids are start times, which several devices share; -1 is none. */
function toSession({ session_id: session }: RawEvent, owner: string | number | undefined): string | undefined {
  return typeof session === 'number' && session >= 0 ? `${owner ?? ''}:${session}` : undefined;
}

function toEventProperties(record: RawEvent): Properties {
  const properties: Properties = {};
  for (const field of FIELDS) putPresent(properties, field, record[field]);
  putAll(properties, objectOf(record.event_properties), EVENT_RENAMES);
  return properties;
}

interface Subject {
  readonly user: string | number;
  /** The record is an event, too, which counts. */
  readonly isEvent: boolean;
  readonly insertId: string | number | undefined;
}

/** User properties of any event: those without an operator are set. */
function addProfile({ user_properties: sent }: RawEvent, { user, isEvent, insertId }: Subject, sink: Sink): void {
  if (!isObject(sent)) return;
  const set: Properties = {};
  const operations: Record<string, unknown> = {};
  for (const key in sent) {
    const operator = OPERATORS.get(key);
    if (operator === '$unset') operations.$unset = Object.keys(objectOf(sent[key]));
    else if (operator !== undefined) operations[operator] = sent[key];
    else if (key.startsWith('$')) sink.skip('operator_unknown');
    else set[key] = sent[key];
  }
  if (Object.keys(set).length === 0 && Object.keys(operations).length === 0) return;
  const isRepeatable = operations.$add === undefined || insertId === undefined;
  sink.identify(
    { user_id: user, user_properties: set, user_property_ops: operations },
    { ...(!isRepeatable && { onceId: `$add ${insertId}` }), ...(isEvent && { isExtra: true }) },
  );
}
