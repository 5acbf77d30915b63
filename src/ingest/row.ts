// Event → row of `events_inbox`: enrichment, and every property value in its typed bucket. Rows are never objects: each
// value goes straight into its column of a Native block.
import {
  BoolColumn,
  type Column,
  DateTime64Column,
  encodeBlock,
  Float64Column,
  LowCardinalityArrayColumn,
  LowCardinalityColumn,
  MapColumn,
  StringColumn,
  toByteString,
  UuidColumn,
} from '../platform/clickhouse/native.js';
import { tryParseNumberText } from '../platform/number-text.js';
import type { RawEvent } from './body.js';
import { GEO_TEXT_FIELDS } from './enrich/geography.js';
import { parsePageAddress, referrerDomain } from './enrich/page.js';
import { parseUserAgent } from './enrich/user-agent.js';
import type { AcceptedEvent } from './events.js';
import { textOf } from './schema.js';

const text = () => new StringColumn();
const lowCardinality = () => new LowCardinalityColumn();

/** The columns of the inbox by name; `received_at` and the ids first, in no order that matters to the engine. */
function createColumns() {
  return {
    project_id: new UuidColumn(),
    event_type: lowCardinality(),
    time: new DateTime64Column(),
    insert_id: text(),
    user_id: text(),
    device_id: text(),
    session_id: text(),
    url: text(),
    path: text(),
    path_clean: text(),
    hostname: lowCardinality(),
    title: text(),
    referrer: text(),
    referrer_domain: lowCardinality(),
    browser: lowCardinality(),
    browser_version: lowCardinality(),
    os: lowCardinality(),
    os_version: lowCardinality(),
    platform: lowCardinality(),
    device_type: lowCardinality(),
    geo_country: lowCardinality(),
    geo_region: lowCardinality(),
    geo_region_code: lowCardinality(),
    geo_city: lowCardinality(),
    geo_continent: lowCardinality(),
    geo_timezone: lowCardinality(),
    geo_metro_code: lowCardinality(),
    geo_postal_code: lowCardinality(),
    geo_latitude: new Float64Column(),
    geo_longitude: new Float64Column(),
    ip: text(),
    ua: lowCardinality(),
    library: lowCardinality(),
    ingest_origin: lowCardinality(),
    utm_source: lowCardinality(),
    utm_medium: lowCardinality(),
    utm_campaign: lowCardinality(),
    utm_term: lowCardinality(),
    utm_content: lowCardinality(),
    gclid: text(),
    fbclid: text(),
    language: lowCardinality(),
    timezone: lowCardinality(),
    ep_str: new MapColumn(text()),
    ep_num: new MapColumn(new Float64Column()),
    ep_bool: new MapColumn(new BoolColumn()),
    ep_null: new LowCardinalityArrayColumn(),
    up_str: new MapColumn(text()),
    up_num: new MapColumn(new Float64Column()),
    up_bool: new MapColumn(new BoolColumn()),
    up_null: new LowCardinalityArrayColumn(),
    received_at: new DateTime64Column(),
  } satisfies Record<string, Column>;
}

type Columns = ReturnType<typeof createColumns>;

/** Event properties that have a column of their own, under the name of the property. */
const PROMOTED = [
  'url',
  'title',
  'referrer',
  'referring_domain',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'gclid',
  'fbclid',
  'language',
  'timezone',
] as const;
type Promoted = Record<(typeof PROMOTED)[number], string>;

function readPromoted(properties: RawEvent): Promoted {
  const promoted = {} as Promoted;
  for (const name of PROMOTED) {
    const value = Object.hasOwn(properties, name) ? properties[name] : undefined;
    promoted[name] = typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  }
  return promoted;
}

/** Rows on their way to one insert. Rows can only be added; `encode` may be called again for a retry. */
export class EventBlock {
  readonly #columns = createColumns();
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  /** `isAscii` promises that every text of the event is ASCII, and spares it the test. */
  add(event: AcceptedEvent, isAscii: boolean): void {
    const toBytes = isAscii ? sameText : toByteString;
    const columns = this.#columns;
    columns.project_id.add(event.projectId);
    columns.event_type.add(event.eventType);
    columns.time.add(event.time);
    columns.received_at.add(event.receivedAt);
    columns.insert_id.add(toBytes(event.insertId));
    columns.user_id.add(toBytes(event.userId));
    columns.device_id.add(toBytes(event.deviceId));
    columns.session_id.add(toBytes(event.sessionId));
    columns.library.add(event.library);
    columns.ingest_origin.add(event.origin);
    addClient(columns, event);
    addPage(columns, readPromoted(event.eventProperties), toBytes);
    addProperties(event.eventProperties, EVENT_BUCKETS(columns), toBytes);
    addProperties(event.userProperties, USER_BUCKETS(columns), toBytes);
    this.#rows += 1;
  }

  encode(): Buffer {
    return encodeBlock(Object.entries(this.#columns), this.#rows);
  }
}

type ToBytes = (value: string) => string;
const sameText: ToBytes = (value) => value;

function addClient(columns: Columns, { userAgent, geography, ip }: AcceptedEvent): void {
  const agent = parseUserAgent(userAgent);
  columns.ip.add(ip);
  columns.ua.add(userAgent);
  columns.browser.add(agent.browser);
  columns.browser_version.add(agent.browserVersion);
  columns.os.add(agent.os);
  columns.os_version.add(agent.osVersion);
  columns.platform.add(agent.platform);
  columns.device_type.add(agent.deviceType);
  for (const field of GEO_TEXT_FIELDS) columns[`geo_${field}`].add(geography[field] ?? '');
  columns.geo_latitude.add(geography.latitude ?? Number.NaN);
  columns.geo_longitude.add(geography.longitude ?? Number.NaN);
}

function addPage(columns: Columns, promoted: Promoted, toBytes: ToBytes): void {
  const page = parsePageAddress(promoted.url);
  columns.url.add(toBytes(promoted.url));
  columns.path.add(toBytes(page.path));
  columns.path_clean.add(toBytes(page.pathClean));
  columns.hostname.add(page.hostname);
  columns.title.add(toBytes(promoted.title));
  columns.referrer.add(toBytes(promoted.referrer));
  columns.referrer_domain.add(promoted.referring_domain || referrerDomain(promoted.referrer));
  columns.utm_source.add(promoted.utm_source);
  columns.utm_medium.add(promoted.utm_medium);
  columns.utm_campaign.add(promoted.utm_campaign);
  columns.utm_term.add(promoted.utm_term);
  columns.utm_content.add(promoted.utm_content);
  columns.gclid.add(toBytes(promoted.gclid));
  columns.fbclid.add(toBytes(promoted.fbclid));
  columns.language.add(promoted.language);
  columns.timezone.add(promoted.timezone);
}

interface Buckets {
  readonly strings: MapColumn<StringColumn>;
  readonly numbers: MapColumn<Float64Column>;
  readonly booleans: MapColumn<BoolColumn>;
  readonly nulls: LowCardinalityArrayColumn;
}

const EVENT_BUCKETS = (columns: Columns): Buckets => ({
  strings: columns.ep_str,
  numbers: columns.ep_num,
  booleans: columns.ep_bool,
  nulls: columns.ep_null,
});

const USER_BUCKETS = (columns: Columns): Buckets => ({
  strings: columns.up_str,
  numbers: columns.up_num,
  booleans: columns.up_bool,
  nulls: columns.up_null,
});

function addProperties(properties: RawEvent, buckets: Buckets, toBytes: ToBytes): void {
  for (const key in properties) addProperty(key, properties[key], buckets, toBytes);
  buckets.strings.endRow();
  buckets.numbers.endRow();
  buckets.booleans.endRow();
  buckets.nulls.endRow();
}

function addProperty(key: string, value: unknown, buckets: Buckets, toBytes: ToBytes): void {
  if (value === null) {
    buckets.nulls.addItem(key);
  } else if (typeof value === 'boolean') {
    buckets.booleans.addKey(key);
    buckets.booleans.values.add(value);
  } else if (typeof value === 'number' && Number.isFinite(value)) {
    buckets.numbers.addKey(key);
    buckets.numbers.values.add(value);
  } else {
    // A JSON number such as 1e999 is read as Infinity, which no sum should meet: it is kept as text.
    const held = textOf(value) ?? String(value);
    buckets.strings.addKey(key);
    buckets.strings.values.add(toBytes(held));
    const number = tryParseNumberText(held);
    if (number !== undefined) {
      buckets.numbers.addKey(key);
      buckets.numbers.values.add(number);
    }
  }
}
