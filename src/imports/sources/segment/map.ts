// Maps calls of Segment and RudderStack. README.md beside this file has the mapping.
import { isOfServer } from '../../../ingest/protocols/segment/is-of-server.js';
import { type JsonObject, objectOf, textOf } from '../../../platform/json-object.js';
import { toAgent } from '../../agents.js';
import { RecordIds } from '../../record-ids.js';
import type { Id, ImportedEvent, Mapped, Mapper, Properties } from '../../source.js';
import { idOf, present, type Renames, timeOf, toProperties } from '../../values.js';

const PAGE_PROPERTIES: Renames = { path: null, search: null };

interface Call {
  readonly record: JsonObject;
  readonly timeMs: number | undefined;
  readonly user: Id | undefined;
  readonly device: Id | undefined;
  readonly context: JsonObject;
}

export function createMapper(): Mapper<JsonObject> {
  const ids = new RecordIds('seg');
  return (record, file) => {
    const call: Call = {
      record,
      // Corrected by the product for the clock of the sender; the others are of the record too.
      timeMs: timeOf(record.timestamp) ?? timeOf(record.originalTimestamp) ?? timeOf(record.receivedAt),
      user: idOf(record.userId),
      device: idOf(record.anonymousId),
      context: objectOf(record.context),
    };
    const insertId = () => {
      const messageId = idOf(record.messageId);
      return messageId === undefined ? ids.ofOccurrence(record, file) : ids.own(messageId);
    };
    return [...toMapped(call, insertId), ...toLink(call)];
  };
}

function toMapped(call: Call, insertId: () => string): Mapped[] {
  const { record, context, user } = call;
  switch (record.type) {
    case 'track': {
      const type = textOf(record.event);
      if (type === undefined) return [{ kind: 'skip', reason: 'a track without an event' }];
      return [toEvent(call, insertId(), type, toContextProperties(context))];
    }
    case 'page':
      return [toEvent(call, insertId(), 'page_view', withName(call), PAGE_PROPERTIES)];
    case 'screen':
      return [toEvent(call, insertId(), 'screen_view', withName(call))];
    case 'identify':
      return toProfile(call, { ...objectOf(context.traits), ...objectOf(record.traits) });
    case 'group':
      return toProfile(call, { group_id: idOf(record.groupId), ...toGroupTraits(objectOf(record.traits)) });
    case 'alias': {
      const previous = idOf(record.previousId);
      if (previous === undefined || user === undefined) return [{ kind: 'skip', reason: 'an alias without two ids' }];
      return [{ kind: 'link', device: previous, user, timeMs: call.timeMs ?? 0 }];
    }
    default:
      return [{ kind: 'skip', reason: 'no call of a known type' }];
  }
}

/** Name and category of a page or screen are fields of the call. */
const withName = ({ record, context }: Call): Properties =>
  present({ name: record.name, category: record.category }, toContextProperties(context));

/** Traits of a group under their names with `group_`, so that they are not those of the user. */
const toGroupTraits = (traits: JsonObject): Properties =>
  Object.fromEntries(Object.entries(traits).map(([key, value]) => [`group_${key}`, value]));

function toProfile({ record, user, timeMs }: Call, properties: JsonObject): Mapped[] {
  if (user === undefined)
    return [{ kind: 'skip', reason: `${String(record.type)} without a user: profiles are of users` }];
  return [{ kind: 'profile', user, timeMs: timeMs ?? 0, properties: toProperties(properties) }];
}

/** Every call with both ids says whose device it is. */
function toLink({ user, device, timeMs }: Call): Mapped[] {
  return user === undefined || device === undefined || user === device
    ? []
    : [{ kind: 'link', device, user, timeMs: timeMs ?? 0 }];
}

/** The properties of the call win over the `others`. */
function toEvent(call: Call, insertId: string, type: string, others: Properties, renames?: Renames): Mapped {
  const { record, context } = call;
  const isServer = isOfServer(record.channel, context);
  const event: ImportedEvent = {
    event_type: type,
    timeMs: call.timeMs,
    insert_id: insertId,
    user_id: call.user,
    device_id: call.device,
    session_id: toSession(call),
    event_properties: toProperties(objectOf(record.properties), renames, others),
    // RudderStack's address of the request. The sender of a server's call is not its user.
    ip: textOf(context.ip) ?? (isServer ? undefined : textOf(record.request_ip)),
    user_agent: textOf(context.userAgent),
    agent: textOf(context.userAgent) === undefined ? toClient(context) : undefined,
    geo: undefined,
    origin: isServer ? 'server' : 'client',
  };
  return { kind: 'event', event };
}

/** Client of an app, whose library knows no user agent. */
function toClient(context: JsonObject): ImportedEvent['agent'] {
  const { name: os, version: osVersion } = objectOf(context.os);
  return toAgent({ os, osVersion, device: objectOf(context.device).type });
}

/** RudderStack's ids are start times, which several devices share. */
function toSession({ context, device, user }: Call): string | undefined {
  const session = idOf(context.sessionId);
  return session === undefined ? undefined : `${device ?? user ?? ''}:${session}`;
}

/** What the context says about the page, the campaign and the device, beside the properties. */
function toContextProperties(context: JsonObject): Properties {
  const page = objectOf(context.page);
  const campaign = objectOf(context.campaign);
  return present({
    url: page.url,
    title: page.title,
    referrer: page.referrer,
    utm_source: campaign.source,
    utm_medium: campaign.medium,
    utm_campaign: campaign.name,
    utm_term: campaign.term,
    utm_content: campaign.content,
    language: context.locale,
    timezone: context.timezone,
    app_version: objectOf(context.app).version,
    os_name: objectOf(context.os).name,
    os_version: objectOf(context.os).version,
    device_model: objectOf(context.device).model,
  });
}
