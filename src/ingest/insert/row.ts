// Converts an accepted event to a row of `events_landing`: enrichment, and property values into
// property maps. No row objects are built: each value is appended to its column of a Native block.
import {
  type Column,
  DateTime64Column,
  encodeBlock,
  Float64Column,
  LowCardinalityColumn,
  StringColumn,
  toByteString,
  UuidColumn,
} from '../../../packages/clickhouse-native/native.js';
import { BlockNames, type HasMany, type SeenNames } from '../../catalog/seen-names.js';
import type { RawEvent } from '../body.js';
import { resolveAgent } from '../enrich/agent.js';
import { GEO_TEXT_FIELDS } from '../enrich/geography.js';
import { MonthSet } from './months.js';
import { parsePageAddress, referrerDomain } from './page.js';
import { PropertyBuckets, type ToBytes } from './property-buckets.js';
import type { AcceptedEvent } from './replay-events.js';

const text = () => new StringColumn();
const lowCardinality = () => new LowCardinalityColumn();

/** The columns of the landing table by name. Their order does not matter to ClickHouse. */
function createColumns(event: PropertyBuckets, user: PropertyBuckets) {
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
    geo_source: lowCardinality(),
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
    ep_str: event.strings,
    ep_num: event.numbers,
    ep_bool: event.booleans,
    ep_null: event.nulls,
    up_str: user.strings,
    up_num: user.numbers,
    up_bool: user.booleans,
    up_null: user.nulls,
    received_at: new DateTime64Column(),
  } satisfies Record<string, Column>;
}

type Columns = ReturnType<typeof createColumns>;

/** Column names are concatenated once per block, not once per row. */
const geographyColumns = (columns: Columns) =>
  GEO_TEXT_FIELDS.map((field) => ({ field, column: columns[`geo_${field}`] }));

/** Event properties with a column of their own, by property name. */
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

const NONE_PROMOTED = Object.fromEntries(PROMOTED.map((name) => [name, ''])) as Promoted;
const PROMOTED_NAMES = new Map<string, (typeof PROMOTED)[number]>(PROMOTED.map((name) => [name, name]));

function readPromoted(properties: RawEvent): Promoted {
  const promoted = { ...NONE_PROMOTED };
  for (const key in properties) {
    const name = PROMOTED_NAMES.get(key);
    if (name === undefined) continue;
    const value = properties[name];
    if (typeof value === 'string') promoted[name] = value;
    else if (typeof value === 'number') promoted[name] = String(value);
  }
  return promoted;
}

/**
 * Measured: ClickHouse needs 8 to 15 ms per part, as long as for 1,000 to 2,000 rows of one part,
 * and has to merge it later.
 */
const ROWS_PER_PART = 5000;

/**
 * Rows collected for one insert. Rows can only be added; `encode` may be called again for a retry.
 */
export class EventBlock {
  readonly #eventProperties = new PropertyBuckets();
  readonly #userProperties = new PropertyBuckets();
  readonly #columns = createColumns(this.#eventProperties, this.#userProperties);
  readonly #geographyColumns = geographyColumns(this.#columns);
  readonly #months = new MonthSet();
  /** Names for the catalogs of the projects. */
  readonly names: BlockNames;
  #rows = 0;

  constructor(hasMany: HasMany = () => false) {
    this.names = new BlockNames(this.#columns, hasMany);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Cost in rows: the rows, plus a part for each month after the first. */
  get cost(): number {
    return this.#rows + Math.max(0, this.#months.size - 1) * ROWS_PER_PART;
  }

  /** `isAscii` asserts that every text of the event is ASCII, which skips the conversion. */
  add(event: AcceptedEvent, isAscii: boolean): void {
    const toBytes = isAscii ? sameText : toByteString;
    const columns = this.#columns;
    const names = this.names.of(event.projectId);
    columns.project_id.add(event.projectId);
    names.eventTypes.add(columns.event_type.add(event.eventType));
    columns.time.add(event.time);
    columns.received_at.add(event.receivedAt);
    columns.insert_id.add(toBytes(event.insertId));
    columns.user_id.add(toBytes(event.userId));
    columns.device_id.add(toBytes(event.deviceId));
    columns.session_id.add(toBytes(event.sessionId));
    columns.library.add(event.library);
    columns.ingest_origin.add(event.origin);
    addClient(columns, event, names);
    for (const { field, column } of this.#geographyColumns) column.add(event.geography[field] ?? '');
    addPage(columns, readPromoted(event.eventProperties), toBytes, names);
    this.#eventProperties.add(event.eventProperties, toBytes, names.eventProperties);
    this.#userProperties.add(event.userProperties, toBytes, names.userProperties);
    this.#months.add(event.time);
    this.#rows += 1;
  }

  encode(): Buffer {
    return encodeBlock(Object.entries(this.#columns), this.#rows);
  }
}

const sameText: ToBytes = (value) => value;

function addClient(columns: Columns, event: AcceptedEvent, seen: SeenNames): void {
  const { userAgent, geography, ip } = event;
  const agent = resolveAgent(userAgent, event.agent);
  seen.addClient(agent, geography, event);
  columns.ip.add(ip);
  columns.ua.add(userAgent);
  columns.browser.add(agent.browser);
  columns.browser_version.add(agent.browserVersion);
  columns.os.add(agent.os);
  columns.os_version.add(agent.osVersion);
  columns.platform.add(agent.platform);
  columns.device_type.add(agent.deviceType);
  columns.geo_latitude.add(geography.latitude ?? Number.NaN);
  columns.geo_longitude.add(geography.longitude ?? Number.NaN);
  columns.geo_source.add(geography.source ?? '');
}

function addPage(columns: Columns, promoted: Promoted, toBytes: ToBytes, seen: SeenNames): void {
  const page = parsePageAddress(promoted.url);
  const domain = promoted.referring_domain || referrerDomain(promoted.referrer);
  columns.url.add(toBytes(promoted.url));
  columns.path.add(toBytes(page.path));
  columns.path_clean.add(toBytes(page.pathClean));
  const hostname = columns.hostname.add(page.hostname);
  columns.title.add(toBytes(promoted.title));
  columns.referrer.add(toBytes(promoted.referrer));
  seen.addPage(page, { hostname, referrerDomain: columns.referrer_domain.add(domain) });
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
