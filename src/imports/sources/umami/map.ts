// Maps rows of Umami's website_event. README.md beside this file has the mapping.
import { type JsonObject, objectOf, textOf } from '../../../platform/json-object.js';
import { toAgent } from '../../agents.js';
import { countryCodeOf } from '../../places.js';
import { RecordIds } from '../../record-ids.js';
import type { ImportedEvent, Mapper, Properties } from '../../source.js';
import { idOf, numberOf, present, timeOf, toProperties } from '../../values.js';
import { EVENT_DATA } from './event-data.js';

const PAGE_VIEW = '1';
const CUSTOM_EVENT = '2';

export function createMapper(): Mapper<JsonObject> {
  const ids = new RecordIds('um');
  return (row, file) => {
    // It has the id and the time of its event, which it would replace.
    if ('revenue' in row && !('url_path' in row)) {
      return [{ kind: 'skip', reason: 'a row of revenue: event_data has its values' }];
    }
    const type = toType(row);
    if (type === undefined) return [{ kind: 'skip', reason: 'neither a page view nor an event with a name' }];
    const timeMs = toTime(row.created_at);
    const user = idOf(row.distinct_id);
    const device = idOf(row.session_id);
    const eventId = idOf(row.event_id);
    const event: ImportedEvent = {
      event_type: type,
      timeMs,
      insert_id: eventId === undefined ? ids.ofOccurrence(row, file) : ids.own(eventId),
      user_id: user,
      device_id: device,
      session_id: idOf(row.visit_id),
      event_properties: toEventProperties(row),
      agent: toAgent({ browser: row.browser, os: row.os, device: row.device }),
      geo: toGeography(row),
      origin: 'client',
    };
    if (user === undefined || device === undefined) return [{ kind: 'event', event }];
    return [
      { kind: 'event', event },
      { kind: 'link', device, user, timeMs: timeMs ?? 0 },
    ];
  };
}

function toType(row: JsonObject): string | undefined {
  const name = textOf(row.event_name);
  const type = String(row.event_type ?? '');
  if (type === CUSTOM_EVENT || name !== undefined) return name;
  return type === PAGE_VIEW || (type === '' && textOf(row.url_path) !== undefined) ? 'page_view' : undefined;
}

/** Text in UTC, or epoch seconds. */
function toTime(value: unknown): number | undefined {
  const seconds = numberOf(value);
  return seconds === undefined ? timeOf(value) : Math.trunc(seconds * 1000);
}

function toEventProperties(row: JsonObject): Properties {
  const host = textOf(row.hostname);
  const fields = {
    url: toAddress(host, row.url_path, row.url_query),
    referrer: toAddress(textOf(row.referrer_domain), row.referrer_path, row.referrer_query),
    referring_domain: row.referrer_domain,
    title: row.page_title,
    utm_source: row.utm_source,
    utm_medium: row.utm_medium,
    utm_campaign: row.utm_campaign,
    utm_term: row.utm_term,
    utm_content: row.utm_content,
    gclid: row.gclid,
    fbclid: row.fbclid,
    tag: row.tag,
    language: row.language,
    browser: row.browser,
    os_name: row.os,
    device_category: row.device,
    screen: row.screen,
    website_id: row.website_id,
  };
  return present(fields, toProperties(objectOf(row[EVENT_DATA])));
}

/** The path alone without a host. Undefined without a path and a host. */
function toAddress(host: string | undefined, path: unknown, query: unknown): string | undefined {
  const pathText = textOf(path);
  const queryText = textOf(query);
  if (host === undefined && pathText === undefined) return undefined;
  const local = `${pathText ?? '/'}${queryText === undefined ? '' : `?${queryText.replace(/^\?/, '')}`}`;
  return host === undefined ? local : `https://${host}${local.startsWith('/') ? '' : '/'}${local}`;
}

function toGeography(row: JsonObject): ImportedEvent['geo'] {
  const country = countryCodeOf(textOf(row.country));
  if (country === undefined) return undefined;
  return present({ country, region_code: textOf(row.region) ?? textOf(row.subdivision1), city: textOf(row.city) });
}
