// Maps events of the BigQuery export of Google Analytics 4. README.md beside this file has the
// mapping.
import { isObject, type JsonObject, objectOf, textOf } from '../../../platform/json-object.js';
import { setOwnProperty } from '../../../platform/own-property.js';
import { toAgent } from '../../agents.js';
import { continentCodeOf, countryCodeOf } from '../../places.js';
import { RecordIds } from '../../record-ids.js';
import type { ImportedEvent, Mapped, Properties } from '../../source.js';
import { idOf, isPresent, numberOf, present, type Renames, toProperties, toValue } from '../../values.js';

/** Marks of sessions and people: here they follow from events. */
const SKIPPED: ReadonlySet<string> = new Set(['session_start', 'first_visit', 'first_open']);

/**
 * Fields that say which event a record is. The others change when a day is written again, such as
 * the attribution.
 */
const toIdentity = (record: JsonObject): JsonObject => ({
  batch_event_index: record.batch_event_index,
  batch_ordering_id: record.batch_ordering_id,
  batch_page_id: record.batch_page_id,
  event_bundle_sequence_id: record.event_bundle_sequence_id,
  event_name: record.event_name,
  event_params: record.event_params,
  event_timestamp: record.event_timestamp,
  items: record.items,
  platform: record.platform,
  stream_id: record.stream_id,
  user_id: record.user_id,
  user_pseudo_id: record.user_pseudo_id,
});

const EVENT_PROPERTIES: Renames = {
  page_location: 'url',
  page_title: 'title',
  page_referrer: 'referrer',
  campaign: 'utm_campaign',
  source: 'utm_source',
  medium: 'utm_medium',
  term: 'utm_term',
  content: 'utm_content',
  ga_session_id: null,
  batch_ordering_id: null,
  batch_page_id: null,
  engaged_session_event: null,
};

/** Zero is the value of a timestamp without a date; microseconds have 16 digits. */
const MICROSECONDS = 1000;

export function createMapper(): (record: JsonObject) => readonly Mapped[] {
  const ids = new RecordIds('ga4');
  return (record) => {
    const type = textOf(record.event_name);
    if (type === undefined) return [{ kind: 'skip', reason: 'no event_name' }];
    const timeMs = toTime(record.event_timestamp);
    const user = idOf(record.user_id);
    const device = idOf(record.user_pseudo_id);
    const userProperties = toProperties(readParameters(record.user_properties));
    const identity: Mapped[] = [];
    if (user !== undefined && device !== undefined) identity.push({ kind: 'link', device, user, timeMs: timeMs ?? 0 });
    if (user !== undefined && Object.keys(userProperties).length > 0) {
      identity.push({ kind: 'profile', user, timeMs: timeMs ?? 0, properties: userProperties });
    }
    if (SKIPPED.has(type)) return [...identity, { kind: 'skip', reason: `${type}: it follows from events` }];

    const parameters = readParameters(record.event_params);
    const session = idOf(parameters.ga_session_id);
    const event: ImportedEvent = {
      event_type: type,
      timeMs,
      insert_id: ids.ofContent(toIdentity(record)),
      user_id: user,
      device_id: device,
      session_id: session === undefined ? undefined : `${device ?? ''}.${session}`,
      event_properties: toEventProperties(record, parameters),
      user_properties: userProperties,
      agent: toClient(objectOf(record.device)),
      geo: toGeography(objectOf(record.geo)),
      origin: 'client',
    };
    return [{ kind: 'event', event }, ...identity];
  };
}

function toTime(value: unknown): number | undefined {
  const microseconds = numberOf(value);
  return microseconds === undefined ? undefined : Math.trunc(microseconds / MICROSECONDS);
}

/** `[{key, value: {string_value | int_value | float_value | double_value}}]` as an object. */
function readParameters(list: unknown): JsonObject {
  const parameters: Properties = {};
  if (!Array.isArray(list)) return parameters;
  for (const item of list) {
    const { key, value } = objectOf(item);
    const read = isObject(value) ? readValue(value) : undefined;
    if (typeof key === 'string' && read !== undefined) setOwnProperty(parameters, key, read);
  }
  return parameters;
}

function readValue(value: JsonObject): unknown {
  if (typeof value.string_value === 'string') return value.string_value;
  // 64-bit integers are text in JSON; those that a number cannot hold stay text.
  const integer = numberOf(value.int_value);
  if (integer !== undefined) return Number.isSafeInteger(integer) ? integer : value.int_value;
  return numberOf(value.double_value) ?? numberOf(value.float_value);
}

/** Google's word for no value, in every event of a shop without a transaction. */
const NOT_SET = '(not set)';

/** Adds a value; absent and empty ones are left out. */
function put(properties: Properties, name: string, value: unknown): void {
  if (isPresent(value)) properties[name] = toValue(value);
}

function toEventProperties(record: JsonObject, parameters: JsonObject): Properties {
  const device = objectOf(record.device);
  const web = objectOf(device.web_info);
  const collected = objectOf(record.collected_traffic_source);
  const ecommerce = objectOf(record.ecommerce);
  // One by one, because an object of all of them, most of which are absent, costs more to make.
  const fields: Properties = {};
  put(fields, 'language', device.language);
  put(fields, 'device_category', device.category);
  put(fields, 'device_model', device.mobile_model_name);
  put(fields, 'browser', web.browser ?? device.browser);
  put(fields, 'browser_version', web.browser_version ?? device.browser_version);
  put(fields, 'os_name', device.operating_system);
  put(fields, 'os_version', device.operating_system_version);
  put(fields, 'app_version', objectOf(record.app_info).version);
  put(fields, 'stream_id', record.stream_id);
  put(fields, 'platform', record.platform);
  put(fields, 'utm_source', collected.manual_source);
  put(fields, 'utm_medium', collected.manual_medium);
  put(fields, 'utm_campaign', collected.manual_campaign_name);
  put(fields, 'utm_term', collected.manual_term);
  put(fields, 'utm_content', collected.manual_content);
  put(fields, 'gclid', collected.gclid);
  put(fields, 'value_in_usd', numberOf(record.event_value_in_usd));
  put(fields, 'transaction_id', ecommerce.transaction_id === NOT_SET ? undefined : ecommerce.transaction_id);
  put(fields, 'purchase_revenue', numberOf(ecommerce.purchase_revenue));
  put(fields, 'items', Array.isArray(record.items) && record.items.length > 0 ? record.items : undefined);
  return toProperties(parameters, EVENT_PROPERTIES, fields);
}

function toClient(device: JsonObject): ImportedEvent['agent'] {
  const web = objectOf(device.web_info);
  return toAgent({
    browser: web.browser ?? device.browser,
    browserVersion: web.browser_version ?? device.browser_version,
    os: device.operating_system,
    osVersion: device.operating_system_version,
    device: device.category,
  });
}

function toGeography(geo: JsonObject): ImportedEvent['geo'] {
  const country = countryCodeOf(textOf(geo.country));
  if (country === undefined) return undefined;
  return present({
    country,
    region: textOf(geo.region),
    city: textOf(geo.city),
    continent: continentCodeOf(textOf(geo.continent)),
  });
}
