// Maps calls of Segment and RudderStack SDKs. README.md beside this file has the mapping.
import { objectOf, textOf } from '../../../platform/json-object.js';
import { setOwnProperty } from '../../../platform/own-property.js';
import type { RawEvent } from '../../body.js';
import type { Sink } from '../protocol.js';
import { correctedTime, idOf, type Properties, putAll, putPresent, type Renames } from '../values.js';
import { isOfServer } from './is-of-server.js';

/** What the calls of one request share. */
export interface Request {
  /** How far the clock of the sender is ahead, milliseconds. */
  readonly skewMs: number;
}

const NO_RENAMES: Renames = new Map();
const PAGE_RENAMES: Renames = new Map([
  ['path', null],
  ['search', null],
]);

export function mapCall(call: RawEvent, type: unknown, request: Request, sink: Sink): void {
  switch (type) {
    case 'track': {
      const name = textOf(call.event);
      if (name === undefined) sink.skip('event_name_missing');
      else addEvent(call, name, NO_RENAMES, request, sink);
      return;
    }
    case 'page':
      addEvent(call, 'page_view', PAGE_RENAMES, request, sink);
      return;
    case 'screen':
      addEvent(call, 'screen_view', NO_RENAMES, request, sink);
      return;
    case 'identify': {
      const traits = { ...objectOf(objectOf(call.context).traits), ...objectOf(call.traits) };
      addProfile(call, traits, sink);
      return;
    }
    case 'group':
      addProfile(call, toGroupTraits(call), sink);
      return;
    case 'alias': {
      const [user, previous] = [idOf(call.userId), idOf(call.previousId)];
      if (user === undefined || previous === undefined) sink.skip('profile_without_user');
      else sink.identify({ user_id: user, device_id: previous });
      return;
    }
    default:
      sink.skip('call_unknown');
  }
}

/** Traits of a group under their names with `group_`, so that they are not those of the user. */
function toGroupTraits(call: RawEvent): Properties {
  const properties: Properties = {};
  putPresent(properties, 'group_id', idOf(call.groupId));
  const traits = objectOf(call.traits);
  for (const key in traits) properties[`group_${key}`] = traits[key];
  return properties;
}

/** Profiles are of users: traits of an anonymous visitor have no place here. */
function addProfile(call: RawEvent, traits: RawEvent, sink: Sink): void {
  const [user, device] = [idOf(call.userId), idOf(call.anonymousId)];
  if (user === undefined) sink.skip('profile_without_user');
  else {
    const link = device === undefined || device === user ? {} : { device_id: device };
    sink.identify({ user_id: user, ...link, user_property_ops: { $set: traits } });
  }
}

function addEvent(call: RawEvent, type: string, renames: Renames, { skewMs }: Request, sink: Sink): void {
  const context = objectOf(call.context);
  const library = objectOf(context.library);
  const agent = textOf(context.userAgent);
  const isServer = isOfServer(call.channel, context);
  const [user, device] = [idOf(call.userId), idOf(call.anonymousId)];
  const time = call.timestamp ?? call.originalTimestamp;
  const timeMs = correctedTime(time, skewMs);
  const properties: Properties = {};
  putContext(properties, context);
  if (type !== call.event) {
    putPresent(properties, 'name', call.name);
    putPresent(properties, 'category', call.category);
  }
  putAll(properties, objectOf(call.properties), renames);
  sink.event(
    {
      event_type: type,
      user_id: user,
      device_id: device,
      session_id: toSession(context, device ?? user),
      insert_id: idOf(call.messageId),
      time: timeMs === undefined ? time : undefined,
      library: library.name === undefined ? undefined : `${String(library.name)}/${String(library.version ?? '')}`,
      origin: isServer ? 'server' : 'client',
      event_properties: properties,
      // Read with a secret key only. The sender of a server's call is not its user.
      ...((isServer || typeof context.ip === 'string') && { ip: textOf(context.ip) ?? null }),
      ...((isServer || agent !== undefined) && { user_agent: agent ?? null }),
    },
    timeMs,
  );
}

/** RudderStack's ids are start times, which several devices share. */
function toSession(context: RawEvent, owner: string | number | undefined): string | undefined {
  const session = idOf(context.sessionId);
  return session === undefined ? undefined : `${owner ?? ''}:${session}`;
}

/** What the context says of the page, the campaign and the device. */
function putContext(properties: Properties, context: RawEvent): void {
  putPresent(properties, 'language', context.locale);
  putPresent(properties, 'timezone', context.timezone);
  const { page, campaign, app, os, device } = context;
  if (page !== undefined) {
    const { url, title, referrer } = objectOf(page);
    putPresent(properties, 'url', url);
    putPresent(properties, 'title', title);
    putPresent(properties, 'referrer', referrer);
  }
  if (campaign !== undefined) putCampaign(properties, objectOf(campaign));
  if (app !== undefined) putPresent(properties, 'app_version', objectOf(app).version);
  if (os !== undefined) {
    putPresent(properties, 'os_name', objectOf(os).name);
    putPresent(properties, 'os_version', objectOf(os).version);
  }
  if (device !== undefined) putPresent(properties, 'device_model', objectOf(device).model);
}

/** Segment's name of the parameter `utm_campaign` is `name`. */
function putCampaign(properties: Properties, campaign: RawEvent): void {
  for (const key in campaign) setOwnProperty(properties, `utm_${key === 'name' ? 'campaign' : key}`, campaign[key]);
}
