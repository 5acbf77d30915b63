// Generates millions of events inside the engine, directly into the table: keys are unique by
// construction, distributions are realistic, and randomness is a hash of the row number, so the
// rows are the same each time.

export interface QueryDataOptions {
  readonly projectId: string;
  readonly events: number;
  readonly days: number;
  /** Upper bound of event times. */
  readonly untilMs: number;
  /** When set, all events belong to this user. */
  readonly person?: string;
}

/** Rows per INSERT … SELECT; bounds its memory. */
const ROWS_PER_INSERT = 500_000;
const DEVICES_PER_EVENT = 0.05;
/** Exposures per device. */
const EXPOSED = 0.2;
/** Number of consecutive events in one session of one device. */
const EVENTS_PER_SESSION = 7;
const DAY_MS = 86_400_000;

export interface Statement {
  readonly query: string;
  readonly query_params: Record<string, unknown>;
}

/** Pseudo-random number from 0 to 1, independent for each salt. */
const chance = (salt: string, of = 'number'): string => `(cityHash64(${of}, '${salt}') % 1000003) / 1000003`;
const pick = (choices: readonly string[], salt: string, of?: string): string =>
  `[${choices.map((choice) => `'${choice}'`).join(',')}][1 + toUInt32(floor(${chance(salt, of)} * ${choices.length}))]`;

const EVENT_TYPES = ['page_view', 'click', 'search', 'add_to_cart', 'purchase', 'signup', 'login', 'logout'].concat(
  Array.from({ length: 32 }, (_, index) => `feature_${index + 1}`),
);
const COUNTRIES = ['US', 'DE', 'IN', 'GB', 'FR', 'BR', 'JP', 'CA', 'AU', 'ES', 'IT', 'NL', 'PL', 'SE', 'CH', 'AT'];
const CITIES = ['Berlin', 'Paris', 'London', 'Austin', 'Tokyo', 'Madrid', 'Zurich', 'Vienna', 'Oslo', 'Rome'];
const CATEGORIES = ['hats', 'shoes', 'coats', 'bags', 'belts', 'socks', 'scarves', 'gloves'];

// Each column's expression over the row's `number`, `ms` (its time), `session` and `device`, in the
// order of the table's columns.
const COLUMNS: Readonly<Record<string, string>> = {
  project_id: '{project_id:UUID}',
  // Log-uniform over the ranks is Zipf: the first type has a fifth of the events, the last a
  // two-hundredth.
  event_type: `[${EVENT_TYPES.map((type) => `'${type}'`).join(',')}][toUInt32(floor(exp(${chance('type')} * log(40.999))))]`,
  time: `fromUnixTimestamp64Milli(ms, 'UTC')`,
  insert_id: `lower(hex(MD5(concat('insert', toString(number)))))`,
  user_id: `if(${chance('known', 'session')} < 0.4, concat('user_', toString(device % {devices:UInt64} DIV 2)), '')`,
  device_id: `substring(lower(hex(MD5(concat('device', toString(device))))), 1, 22)`,
  session_id: `substring(lower(hex(MD5(concat('session', toString(session))))), 1, 22)`,
  url: `concat('https://shop.example', page)`,
  path: 'page',
  path_clean: `if(startsWith(page, '/product'), '/products/{id}', page)`,
  hostname: `'shop.example'`,
  title: `concat('Page ', page)`,
  referrer: `if(${chance('ref')} < 0.5, '', 'https://www.google.com/')`,
  referrer_domain: `if(${chance('ref')} < 0.5, '', 'www.google.com')`,
  browser: pick(
    ['Chrome', 'Chrome', 'Chrome', 'Safari', 'Safari', 'Firefox', 'Edge', 'Googlebot'],
    'browser',
    'device',
  ),
  browser_version: `toString(110 + toUInt32(floor(${chance('version', 'device')} * 20)))`,
  os: pick(['Windows', 'macOS', 'Linux', 'Android', 'iOS'], 'os', 'device'),
  os_version: `toString(10 + toUInt32(floor(${chance('osv', 'device')} * 5)))`,
  platform: pick(['web', 'web', 'web', 'android', 'ios'], 'platform', 'device'),
  device_type: pick(['desktop', 'desktop', 'desktop', 'mobile', 'mobile', 'bot'], 'kind', 'device'),
  geo_country: pick(COUNTRIES, 'country', 'device'),
  geo_region: `''`,
  geo_region_code: `''`,
  geo_city: pick(CITIES, 'city', 'device'),
  geo_continent: pick(['EU', 'EU', 'NA', 'AS'], 'continent', 'device'),
  geo_timezone: `'Europe/Berlin'`,
  geo_metro_code: `''`,
  geo_postal_code: `''`,
  geo_latitude: `${chance('lat', 'device')} * 90`,
  geo_longitude: `${chance('long', 'device')} * 180`,
  ip: `concat(toString(device % 200), '.', toString(device % 251), '.', toString(device % 13), '.0')`,
  ua: `concat('Mozilla/5.0 (X11; Linux x86_64) Chrome/', toString(110 + device % 200))`,
  library: `'service-js/1.0.0'`,
  ingest_origin: `'client'`,
  utm_source: pick(['', '', '', 'google', 'newsletter'], 'utm', 'device'),
  utm_medium: `''`,
  utm_campaign: `''`,
  utm_term: `''`,
  utm_content: `''`,
  gclid: `''`,
  fbclid: `''`,
  language: pick(['en-US', 'de-DE', 'fr-FR', 'es-ES'], 'language', 'device'),
  timezone: `'Europe/Berlin'`,
  ep_str: `map('url', concat('https://shop.example', page), 'title', concat('Page ', page), 'plan', ${pick(['free', 'free', 'pro', 'team'], 'plan', 'device')}, 'category', ${pick(CATEGORIES, 'category')})`,
  ep_num: `map('price', floor(${chance('price')} * 20000) / 100, 'quantity', toFloat64(1 + number % 5))`,
  ep_bool: `map('logged_in', ${chance('known', 'session')} < 0.4)`,
  ep_null: `[]`,
  up_str: `map()`,
  up_num: `map()`,
  up_bool: `map()`,
  up_null: `[]`,
  received_at: `fromUnixTimestamp64Milli(ms, 'UTC')`,
};

/** One statement per 500,000 events, oldest first, as events arrive. */
export function toEventInserts(options: QueryDataOptions): Statement[] {
  const starts = Array.from(
    { length: Math.ceil(options.events / ROWS_PER_INSERT) },
    (_, index) => index * ROWS_PER_INSERT,
  );
  const columns = { ...COLUMNS, ...(options.person !== undefined && { user_id: '{person:String}' }) };
  return starts.map((start) => ({
    query: `INSERT INTO events (${Object.keys(columns).join(', ')})
      SELECT ${Object.values(columns).join(', ')}
      FROM (
        SELECT number,
          {from_ms:Int64} + toInt64(number * {step_ms:Float64}) AS ms,
          number DIV {events_per_session:UInt64} AS session,
          toUInt64(floor(pow(${chance('device', 'session')}, 1.5) * {devices:UInt64})) AS device,
          ['/', '/', '/pricing', '/blog', '/docs', '/login', '/cart',
            concat('/products/', toString(toUInt32(floor(pow(${chance('product')}, 2) * 3000))))
          ][1 + toUInt32(floor(${chance('page')} * 8))] AS page
        FROM numbers({start:UInt64}, {rows:UInt64})
      )
      SETTINGS optimize_on_insert = 0, max_insert_threads = 1`,
    query_params: {
      project_id: options.projectId,
      ...(options.person !== undefined && { person: options.person }),
      start,
      rows: Math.min(ROWS_PER_INSERT, options.events - start),
      from_ms: options.untilMs - options.days * DAY_MS,
      step_ms: (options.days * DAY_MS) / options.events,
      devices: toDevices(options),
      events_per_session: EVENTS_PER_SESSION,
    },
  }));
}

/** Half of the devices are mapped to a user. */
export const toMappingInsert = (options: QueryDataOptions): Statement => ({
  query: `INSERT INTO device_map (project_id, device_id, user_id, updated_at)
    SELECT {project_id:UUID}, substring(lower(hex(MD5(concat('device', toString(number * 2))))), 1, 22),
      concat('user_', toString(number)), fromUnixTimestamp64Micro(toInt64({until_us:UInt64}), 'UTC')
    FROM numbers({mapped:UInt64})`,
  query_params: {
    project_id: options.projectId,
    mapped: Math.floor(toDevices(options) / 2),
    until_us: options.untilMs * 1000,
  },
});

/** Every user has a profile; three in four were seen in the last 30 days. */
export const toProfileInsert = (options: QueryDataOptions): Statement => ({
  query: `INSERT INTO profiles (project_id, user_id, email, email_domain, first_seen, last_seen, props_str, props_num, props_bool, version)
    SELECT {project_id:UUID}, concat('user_', toString(number)) AS user,
      concat(user, '@', domain), ${pick(['gmail.com', 'example.com', 'acme.test', 'shop.example'], 'domain')} AS domain,
      fromUnixTimestamp64Milli({until_ms:Int64} - 90 * ${DAY_MS}, 'UTC'),
      fromUnixTimestamp64Milli({until_ms:Int64} - toInt64(${chance('seen')} * 40 * ${DAY_MS}), 'UTC'),
      map('email', concat(user, '@', domain), 'plan', ${pick(['free', 'free', 'pro', 'team'], 'plan')}, 'company', concat('company ', toString(number % 5000))),
      map('seats', toFloat64(1 + number % 50)), map('beta', number % 7 = 0), 1
    FROM numbers({users:UInt64})`,
  query_params: {
    project_id: options.projectId,
    users: Math.floor(toDevices(options) / 2),
    until_ms: options.untilMs,
  },
});

/** Each of these devices was shown one of two variants, twice in short order. */
export const toExposureInsert = (options: QueryDataOptions): Statement => ({
  query: `INSERT INTO events (project_id, event_type, time, insert_id, device_id, session_id, geo_latitude, geo_longitude, ep_str, received_at)
    SELECT {project_id:UUID}, 'service.exposure', fromUnixTimestamp64Milli({from_ms:Int64} + toInt64(number * {step_ms:Float64}), 'UTC') AS at,
      lower(hex(MD5(concat('exposure', toString(number))))),
      substring(lower(hex(MD5(concat('device', toString(number DIV 2))))), 1, 22), '', nan, nan,
      map('choice_key', 'checkout', 'variant_key', if(${chance('variant', 'number DIV 2')} < 0.5, 'control', 'new')), at
    FROM numbers({exposures:UInt64})
    SETTINGS optimize_on_insert = 0, max_insert_threads = 1`,
  query_params: {
    project_id: options.projectId,
    exposures: Math.floor(toDevices(options) * EXPOSED),
    from_ms: options.untilMs - options.days * DAY_MS,
    step_ms: (options.days * DAY_MS) / Math.floor(toDevices(options) * EXPOSED),
  },
});

const toDevices = (options: QueryDataOptions): number => Math.floor(options.events * DEVICES_PER_EVENT);
