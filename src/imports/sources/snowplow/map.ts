// Maps enriched events of Snowplow. README.md beside this file has the mapping.

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isObject, type JsonObject, objectOf, textOf } from '../../../platform/json-object.js';
import { toAgent } from '../../agents.js';
import { RecordIds } from '../../record-ids.js';
import type { ImportedEvent, Mapper, Properties } from '../../source.js';
import { idOf, isPresent, numberOf, objectOrJson, present, timeOf, toValue, tryParseJson } from '../../values.js';

/** Distinct events among which a repetition is recognized: about 60 MB of their hashes. */
const RECENT_EVENTS_MAX = 500_000;
/** 96 bits: a collision would lose an event. */
const HASH_BYTES = 12;

/**
 * Numeric columns of transactions, their items and page pings, which are properties of their names.
 */
const NUMBERS = [
  ...['tr_total', 'tr_tax', 'tr_shipping', 'ti_price', 'ti_quantity'],
  ...['pp_xoffset_min', 'pp_xoffset_max', 'pp_yoffset_min', 'pp_yoffset_max'],
] as const;
const TEXTS = [
  ...['tr_orderid', 'tr_affiliation', 'tr_city', 'tr_state', 'tr_country', 'tr_currency'],
  ...['ti_orderid', 'ti_sku', 'ti_name', 'ti_category', 'ti_currency', 'app_id', 'platform', 'name_tracker'],
] as const;

export function createMapper(): Mapper<JsonObject> {
  const ids = new RecordIds('sp');
  const recent = new LRUCache<string, true>({ max: RECENT_EVENTS_MAX });
  return (row, file) => {
    const type = toType(row);
    if (type === undefined) return [{ kind: 'skip', reason: 'no event' }];
    const insertId = toInsertId(row, ids, file);
    // Both have one id, but not one derived time, because the collector received them twice.
    const key = hash('sha256', insertId, 'binary').slice(0, HASH_BYTES);
    if (recent.has(key)) return [{ kind: 'skip', reason: 'a natural duplicate: the event was collected twice' }];
    recent.set(key, true);

    const timeMs = timeOf(row.derived_tstamp) ?? timeOf(row.collector_tstamp);
    const user = idOf(row.user_id);
    const device = idOf(row.domain_userid) ?? idOf(row.network_userid);
    const event: ImportedEvent = {
      event_type: type,
      timeMs,
      insert_id: insertId,
      user_id: user,
      device_id: device,
      session_id: idOf(row.domain_sessionid),
      event_properties: toEventProperties(row),
      ip: textOf(row.user_ipaddress),
      user_agent: textOf(row.useragent),
      agent: textOf(row.useragent) === undefined ? toClient(row) : undefined,
      geo: toGeography(row),
      origin: row.platform === 'srv' ? 'server' : 'client',
    };
    if (user === undefined || device === undefined) return [{ kind: 'event', event }];
    return [
      { kind: 'event', event },
      { kind: 'link', device, user, timeMs: timeMs ?? 0 },
    ];
  };
}

const toClient = (row: JsonObject): ImportedEvent['agent'] =>
  toAgent({
    browser: row.br_family,
    browserVersion: row.br_version,
    os: row.os_family,
    device: row.dvce_type,
  });

function toType(row: JsonObject): string | undefined {
  if (row.event === 'struct') return textOf(row.se_action) ?? 'struct';
  if (row.event === 'unstruct') return textOf(row.event_name) ?? 'unstruct';
  return textOf(row.event) ?? textOf(row.event_name);
}

/** Of synthetic duplicates, which share an id, the fingerprints differ: each is an event. */
function toInsertId(row: JsonObject, ids: RecordIds, file: object): string {
  const eventId = textOf(row.event_id);
  if (eventId === undefined) return ids.ofOccurrence(row, file);
  const fingerprint = textOf(row.event_fingerprint);
  return ids.own(fingerprint === undefined ? eventId : `${eventId}.${fingerprint}`);
}

function toEventProperties(row: JsonObject): Properties {
  const properties = present({
    url: row.page_url,
    title: row.page_title,
    referrer: row.page_referrer,
    utm_source: row.mkt_source,
    utm_medium: row.mkt_medium,
    utm_campaign: row.mkt_campaign,
    utm_term: row.mkt_term,
    utm_content: row.mkt_content,
    language: row.br_lang,
    timezone: row.os_timezone,
    category: row.se_category,
    label: row.se_label,
    property: row.se_property,
    value: numberOf(row.se_value),
  });
  for (const name of TEXTS) if (isPresent(row[name])) properties[name] = toValue(row[name]);
  for (const name of NUMBERS) {
    const number = numberOf(row[name]);
    if (number !== undefined) properties[name] = number;
  }
  const { entities, data } = readOwnColumns(row);
  present(toContexts([...entitiesOf(row.contexts), ...entities]), properties);
  present(objectOf(objectOf(objectOrJson(row.unstruct_event).data).data), properties);
  return present(data, properties);
}

/** Name and data. */
type Entity = readonly [name: string, data: unknown];

/** `iglu:com.acme/product/jsonschema/1-0-0` is `product`. */
function entitiesOf(contexts: unknown): readonly Entity[] {
  const { data } = objectOrJson(contexts);
  return (Array.isArray(data) ? data.filter(isObject) : []).flatMap((entity): Entity[] => {
    const name = /^iglu:[^/]+\/([^/]+)\//.exec(String(entity.schema))?.[1];
    return name === undefined ? [] : [[name, entity.data]];
  });
}

/**
 * Columns of warehouses for one schema each: `contexts_com_acme_product_1` has entities, and
 * `unstruct_event_com_acme_order_1_0_0` the data of an event.
 */
const OWN_COLUMN = /^(unstruct_event|contexts)_(\w+?)_\d+(?:_\d+_\d+)?$/;
/** A column does not say where its vendor ends: most have two parts, as in `com_acme`. */
const VENDOR = /^(?:com_(?:google|snowplowanalytics)_[^_]+|[^_]+_[^_]+)_/;

function readOwnColumns(row: JsonObject): { readonly entities: readonly Entity[]; readonly data: Properties } {
  const entities: Entity[] = [];
  const data: Properties = {};
  for (const column in row) {
    const [, kind, schema = ''] = OWN_COLUMN.exec(column) ?? [];
    if (kind === undefined) continue;
    const value = tryParseJson(row[column]);
    if (kind === 'unstruct_event') {
      present(objectOf(value), data);
    } else {
      const name = schema.replace(VENDOR, '');
      entities.push(...(Array.isArray(value) ? value : [value]).filter(isObject).map((each): Entity => [name, each]));
    }
  }
  return { entities, data };
}

/** Several entities of one name are a list. */
function toContexts(entities: readonly Entity[]): Properties {
  const properties: Properties = {};
  for (const [name, data] of entities) {
    const key = `context_${name}`;
    const known = properties[key];
    properties[key] = known === undefined ? data : [...(Array.isArray(known) ? known : [known]), data];
  }
  return properties;
}

function toGeography(row: JsonObject): ImportedEvent['geo'] {
  const country = textOf(row.geo_country);
  if (country === undefined) return undefined;
  return present({
    country,
    region: textOf(row.geo_region_name),
    region_code: textOf(row.geo_region),
    city: textOf(row.geo_city),
    postal_code: textOf(row.geo_zipcode),
    timezone: textOf(row.geo_timezone),
    latitude: numberOf(row.geo_latitude),
    longitude: numberOf(row.geo_longitude),
  });
}
