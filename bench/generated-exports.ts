// Exports of any length of every source: events of one month, four of each device, of which every
// tenth is linked to a user. Each record has a time and an id of its own, as those of a year have.
import { COLUMNS } from '../src/imports/sources/snowplow/columns.js';

export interface GeneratedExport {
  /** Name of the source. */
  readonly source: string;
  /** Its extension says the format. */
  readonly file: string;
  readonly head?: string;
  /** After the last record. */
  readonly tail?: string;
  /** Events of a record. */
  readonly eventsPerRecord?: number;
  readonly toRecord: (event: GeneratedEvent) => string;
}

interface GeneratedEvent {
  readonly number: number;
  readonly time: Date;
  readonly device: string;
  /** Of every tenth device. */
  readonly user: string | undefined;
  readonly url: string;
  readonly price: number;
}

const START_MS = Date.UTC(2026, 0, 1);
const EVENTS_PER_DEVICE = 4;
const RECORDS_PER_CHUNK = 500;

/** The text of an export, in chunks of some 500 records. */
export function* generateExport({ head, toRecord, tail }: GeneratedExport, records: number): Generator<string> {
  if (head !== undefined) yield `${head}\n`;
  for (let first = 0; first < records; first += RECORDS_PER_CHUNK) {
    const count = Math.min(RECORDS_PER_CHUNK, records - first);
    const chunk = Array.from({ length: count }, (_, index) => `${toRecord(toEvent(first + index))}\n`);
    yield chunk.join('');
  }
  if (tail !== undefined) yield tail;
}

function toEvent(number: number): GeneratedEvent {
  const device = Math.floor(number / EVENTS_PER_DEVICE);
  return {
    number,
    time: new Date(START_MS + number * 2000),
    device: `00000000-0000-7000-8000-${String(device).padStart(12, '0')}`,
    user: device % 10 === 0 ? `user-${device}` : undefined,
    url: `https://shop.example/products/${number % 1000}?utm_source=news`,
    price: (number % 9973) / 100,
  };
}

const AGENT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/119.0.0.0 Safari/537.36';
const REFERRER = 'https://search.example/';
const ADDRESS = '203.0.113.9';

/** `2026-01-01 00:00:00.000` */
const spaced = (time: Date): string => time.toISOString().replace('T', ' ').replace('Z', '');
const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);

const mixpanel = ({ number, time, device, user, url, price }: GeneratedEvent): string =>
  JSON.stringify({
    event: 'product viewed',
    properties: {
      ...{ time: seconds(time), distinct_id: user ?? `$device:${device}`, $device_id: device, $user_id: user },
      ...{ $insert_id: `insert-${number}`, $browser: 'Chrome', $browser_version: 119, $os: 'Mac OS X' },
      ...{ $city: 'Berlin', $region: 'Berlin', mp_country_code: 'DE', mp_lib: 'web' },
      ...{ $current_url: url, $referrer: REFERRER, $referring_domain: 'search.example', price },
    },
  });

const amplitude = ({ number, time, device, user, url, price }: GeneratedEvent): string =>
  JSON.stringify({
    ...{ event_type: 'product viewed', event_time: `${spaced(time)}000`, uuid: `uuid-${number}` },
    ...{ user_id: user ?? null, device_id: device, session_id: START_MS, country: 'Germany', region: 'Berlin' },
    ...{ city: 'Berlin', ip_address: ADDRESS, library: 'amplitude-ts/2.1.0', platform: 'Web', os_name: 'Chrome' },
    ...{ os_version: '119', device_family: 'Windows', language: 'German' },
    event_properties: { '[Amplitude] Page Location': url, referrer: REFERRER, price },
    user_properties: user === undefined ? {} : { plan: 'pro', initial_utm_source: 'EMPTY' },
  });

const posthog = ({ number, time, device, user, url, price }: GeneratedEvent): string =>
  JSON.stringify({
    ...{ uuid: `uuid-${number}`, event: 'product viewed', timestamp: time.toISOString(), distinct_id: user ?? device },
    properties: {
      ...{ $current_url: url, $referrer: REFERRER, $referring_domain: 'search.example', $lib: 'web', price },
      ...{ $session_id: device, $device_id: device, $raw_user_agent: AGENT, $ip: ADDRESS, $geoip_country_code: 'DE' },
      ...{ $geoip_city_name: 'Berlin', $browser: 'Chrome', $is_identified: user !== undefined, token: 'phc_x' },
    },
    person_properties: user === undefined ? {} : { plan: 'pro' },
  });

const segment = ({ number, time, device, user, url, price }: GeneratedEvent): string =>
  JSON.stringify({
    ...{ type: 'track', event: 'product viewed', messageId: `message-${number}`, anonymousId: device },
    ...{ userId: user ?? null, timestamp: time.toISOString(), receivedAt: time.toISOString(), channel: 'client' },
    properties: { price, sku: `sku-${number % 1000}` },
    context: {
      ...{ ip: ADDRESS, userAgent: AGENT, locale: 'de-DE', timezone: 'Europe/Berlin' },
      ...{ page: { url, referrer: REFERRER, title: 'Shop' }, library: { name: 'analytics.js', version: '4.4.7' } },
    },
  });

const ga4Text = (key: string, text: string) => ({ key, value: { string_value: text } });
const ga4 = ({ number, time, device, user, url, price }: GeneratedEvent): string =>
  JSON.stringify({
    ...{
      event_name: 'page_view',
      event_timestamp: String(time.getTime() * 1000),
      event_bundle_sequence_id: String(number),
    },
    event_params: [
      ...[ga4Text('page_location', url), ga4Text('page_title', 'Shop'), ga4Text('page_referrer', REFERRER)],
      ...[
        { key: 'ga_session_id', value: { int_value: '1699999990' } },
        { key: 'price', value: { double_value: price } },
      ],
    ],
    ...{ user_id: user, user_pseudo_id: device, user_properties: [], stream_id: '1', platform: 'WEB' },
    device: {
      ...{ category: 'desktop', language: 'de-de', operating_system: 'Windows' },
      web_info: { browser: 'Chrome', browser_version: '119' },
    },
    geo: { continent: 'Europe', country: 'Germany', region: 'Berlin', city: 'Berlin' },
  });

const UMAMI_COLUMNS = [
  ...['event_id', 'website_id', 'session_id', 'visit_id', 'created_at', 'url_path', 'url_query', 'referrer_domain'],
  ...['page_title', 'event_type', 'event_name', 'hostname', 'browser', 'os', 'device', 'country', 'distinct_id'],
];
const umamiId = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const umami = ({ number, time, device, user }: GeneratedEvent): string =>
  [
    ...[umamiId(number), 'w1', device, device, `${spaced(time)}+00`, `/products/${number % 1000}`, 'utm_source=news'],
    ...['search.example', '"Prices, and plans"', 1, '', 'shop.example', 'chrome', 'Windows 10', 'desktop', 'DE', user],
  ].join(',');

/** Not of itself: the properties of the events of `umami`. */
const UMAMI_EVENT_DATA: GeneratedExport = {
  ...{ source: 'umami', file: 'event_data.csv' },
  head: 'website_event_id,data_key,string_value,number_value,date_value,data_type',
  toRecord: ({ number, price }) => `${umamiId(number)},price,${price},${price},,2`,
};

const snowplow = ({ number, time, device, user, url, price }: GeneratedEvent): string => {
  const row: Readonly<Record<string, unknown>> = {
    ...{ app_id: 'shop', platform: 'web', collector_tstamp: spaced(time), derived_tstamp: spaced(time) },
    ...{ event: 'struct', event_name: 'event', event_id: umamiId(number), event_fingerprint: `f-${number}` },
    ...{ user_id: user, user_ipaddress: ADDRESS, domain_userid: device, domain_sessionid: device, geo_country: 'DE' },
    ...{
      page_url: url,
      page_title: 'Shop',
      page_referrer: REFERRER,
      se_action: 'view',
      se_value: price,
      useragent: AGENT,
    },
    contexts: '{"data":[{"schema":"iglu:com.acme/product/jsonschema/1-0-0","data":{"sku":"x"}}]}',
  };
  return COLUMNS.map((name) => row[name] ?? '').join('\t');
};

const matomo = (event: GeneratedEvent): string => {
  const { number, time, device, user, url, price } = event;
  const visit = {
    ...{ idSite: '1', idVisit: String(number), visitIp: ADDRESS, visitorId: device, userId: user ?? null },
    ...{ referrerUrl: REFERRER, countryCode: 'de', city: 'Berlin', languageCode: 'de', browserName: 'Chrome' },
    ...{ browserVersion: '119', operatingSystemName: 'Windows', deviceType: 'Desktop', resolution: '1920x1080' },
    actionDetails: [
      { type: 'action', url, pageTitle: 'Shop', idpageview: `p${number}`, timestamp: seconds(time) },
      {
        type: 'event',
        url,
        eventCategory: 'shop',
        eventAction: 'buy',
        eventValue: price,
        timestamp: seconds(time) + 1,
      },
    ],
  };
  return `${number === 0 ? '[' : ','}${JSON.stringify(visit)}`;
};

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const accessLog = ({ number, time }: GeneratedEvent): string => {
  const [date = '', clock = ''] = time.toISOString().slice(0, 19).split('T');
  const [year, month, day] = date.split('-');
  const at = `${day}/${MONTHS[Number(month) - 1]}/${year}:${clock} +0000`;
  const address = `198.51.${Math.floor(number / 1000) % 256}.${Math.floor(number / 4) % 256}`;
  return `${address} - - [${at}] "GET /products/${number} HTTP/1.1" 200 5123 "${REFERRER}" "${AGENT}"`;
};

const eventAnalytics = ({ number, time, device, user, url, price }: GeneratedEvent): string =>
  JSON.stringify({
    ...{ event_type: 'page_view', time: time.toISOString(), insert_id: `insert-${number}`, user_id: user ?? null },
    ...{ device_id: device, session_id: device, event_properties: { url, referrer: REFERRER, price } },
    ...{ user_properties: user === undefined ? {} : { plan: 'pro' }, library: 'service-js/1', origin: 'client' },
    ...{ ip: ADDRESS, user_agent: AGENT, agent: { browser: 'Chrome', browser_version: '119.0.0.0', os: 'Windows' } },
    geo: { country: 'DE', city: 'Berlin', source: 'database' },
  });

/** One for each source. */
export const GENERATED_EXPORTS: readonly GeneratedExport[] = [
  { source: 'mixpanel', file: 'export.ndjson', toRecord: mixpanel },
  { source: 'amplitude', file: 'export.ndjson', toRecord: amplitude },
  { source: 'posthog', file: 'export.ndjson', toRecord: posthog },
  { source: 'segment', file: 'export.ndjson', toRecord: segment },
  { source: 'ga4', file: 'export.ndjson', toRecord: ga4 },
  { source: 'umami', file: 'website_event.csv', head: UMAMI_COLUMNS.join(','), toRecord: umami },
  { source: 'snowplow', file: 'enriched.tsv', toRecord: snowplow },
  { source: 'matomo', file: 'visits.json', tail: ']', eventsPerRecord: 2, toRecord: matomo },
  { source: 'access-log', file: 'access.log', toRecord: accessLog },
  { source: 'event-analytics', file: 'events.ndjson', toRecord: eventAnalytics },
];

export interface GeneratedImport {
  readonly name: string;
  /** The first has the events. */
  readonly files: readonly [GeneratedExport, ...GeneratedExport[]];
}

/** An import of each source, and one of Umami's events with `event_data`: a join is another way. */
export const GENERATED_IMPORTS: readonly GeneratedImport[] = GENERATED_EXPORTS.flatMap((events) => [
  { name: events.source, files: [events] as const },
  ...(events.source === UMAMI_EVENT_DATA.source
    ? [{ name: 'umami with event_data', files: [events, UMAMI_EVENT_DATA] as const }]
    : []),
]);
