// Request bodies that are built once and sent many times. insert_id and time are overwritten in
// place, so that sending is cheap and no events are duplicates. Ids come from the
// system's random generator: those of a weak one compress too well.
import { randomBytes } from 'node:crypto';
import { FORMS, type LoadEvent, type ProtocolName } from './sdk-bodies.js';

export interface BodyTemplate {
  /** The complete request, head and body. */
  readonly bytes: Buffer;
  readonly events: number;
  /** Sets a new insert_id and the time in every event of the body. */
  renew(nowMs: number): void;
}

const ID_CHARACTERS = 22;
const ID_ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
const ID_PLACE = `${'~'.repeat(ID_CHARACTERS - 1)}!`;
const TIME_PLACE = '2000-01-01T00:00:00.000Z';
const TIME_MS_PLACE = 1_111_111_111_111;

export interface TemplateOptions {
  readonly host: string;
  /** That of the SDK which the bodies are from; `track` by default. */
  readonly protocol?: ProtocolName | undefined;
  /** Each event has a user or a device, as PostHog's have, and not both. */
  readonly hasOneId?: boolean | undefined;
  /** Page views, with the properties that a page sends. */
  readonly arePageViews?: boolean | undefined;
  readonly key: string;
  readonly eventsPerRequest: number;
}

export function createBodyTemplate(options: TemplateOptions): BodyTemplate {
  const { protocol = 'track', hasOneId = false, arePageViews = false, key } = options;
  const events = Array.from({ length: options.eventsPerRequest }, () =>
    arePageViews ? toPageView(createEvent(hasOneId)) : createEvent(hasOneId),
  );
  const { path, toHeaders, toBody } = FORMS[protocol];
  const body = JSON.stringify(toBody(events, key, { time: TIME_PLACE, timeMs: TIME_MS_PLACE }));
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: ${options.host}`,
    'Content-Type: application/json',
    `User-Agent: ${pick(USER_AGENTS)}`,
    ...toHeaders(key),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ].join('\r\n');
  const bytes = Buffer.from(`${head}\r\n\r\n${body}`);
  const idOffsets = offsetsOf(bytes, ID_PLACE);
  const timeOffsets = offsetsOf(bytes, TIME_PLACE);
  const timeMsOffsets = offsetsOf(bytes, String(TIME_MS_PLACE));
  return {
    bytes,
    events: options.eventsPerRequest,
    renew(nowMs) {
      for (const offset of idOffsets) writeRandomId(bytes, offset);
      // Times within a batch differ, as in real batches.
      timeOffsets.forEach((offset, index) => {
        bytes.write(new Date(nowMs - index * 7).toISOString(), offset, 'latin1');
      });
      timeMsOffsets.forEach((offset, index) => {
        bytes.write(String(nowMs - index * 7), offset, 'latin1');
      });
    },
  };
}

function offsetsOf(bytes: Buffer, text: string): number[] {
  const offsets: number[] = [];
  for (let at = bytes.indexOf(text); at !== -1; at = bytes.indexOf(text, at + 1)) offsets.push(at);
  return offsets;
}

let pool = Buffer.alloc(0);
let poolOffset = 0;

function writeRandomId(target: Buffer, offset: number): void {
  if (poolOffset + ID_CHARACTERS > pool.length) {
    pool = randomBytes(64 * 1024);
    poolOffset = 0;
  }
  for (let index = 0; index < ID_CHARACTERS; index += 1) {
    target[offset + index] = ID_ALPHABET[(pool[poolOffset + index] ?? 0) & 63] ?? 0;
  }
  poolOffset += ID_CHARACTERS;
}

const USERS = 20_000;
const DEVICES = 50_000;
const EVENT_TYPES = [
  'page_view',
  'click',
  'search',
  'add_to_cart',
  'signup',
  'login',
  'purchase',
  'share',
  'invite',
  'upload',
];
const CATEGORIES = ['hats', 'shoes', 'coats', 'bags', 'belts', 'socks'];
const PLANS = ['free', 'pro', 'team'];

/**
 * About 470 bytes with 8 properties: what a web shop's page sends. 60 % of the events are
 * anonymous.
 */
function createEvent(hasOneId: boolean): LoadEvent {
  const device = Math.floor(Math.random() * DEVICES);
  const isUser = Math.random() < 0.4;
  const deviceId = `dev_${String(device).padStart(18, '0')}`;
  const userId = `user_${device % USERS}`;
  // Some SDKs send start times, which are stored with the id in front.
  const session = `${isUser ? userId : deviceId}:${1_700_000_000_000 + Math.floor(Math.random() * 1e10)}`;
  return {
    event_type: EVENT_TYPES[Math.floor(Math.random() ** 2 * EVENT_TYPES.length)],
    ...(isUser && { user_id: userId }),
    ...(!(isUser && hasOneId) && { device_id: deviceId }),
    session_id: hasOneId ? session : randomBytes(16).toString('base64url'),
    time: TIME_PLACE,
    insert_id: ID_PLACE,
    library: 'service-js/1.0.0',
    event_properties: {
      url: `https://shop.example/products/${Math.floor(Math.random() * 5000)}?ref=list&utm_source=mail`,
      referrer: 'https://www.google.com/',
      title: `Product ${Math.floor(Math.random() * 5000)} in our shop for hats`,
      plan: pick(PLANS),
      category: pick(CATEGORIES),
      price: Math.floor(Math.random() * 20_000) / 100,
      quantity: 1 + Math.floor(Math.random() * 5),
      logged_in: Math.random() < 0.4,
    },
  };
}

const PAGE_PROPERTIES = ['url', 'referrer', 'title'];

const toPageView = (event: LoadEvent): LoadEvent => ({
  ...event,
  event_type: 'page_view',
  event_properties: Object.fromEntries(
    Object.entries(event.event_properties).filter(([name]) => PAGE_PROPERTIES.includes(name)),
  ),
});

function pick<T>(choices: readonly T[]): T {
  return choices[Math.floor(Math.random() * choices.length)] as T;
}

const CHROME_VERSIONS = Array.from({ length: 30 }, (_, index) => 100 + index);
const SYSTEMS = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'X11; Linux x86_64',
  'Linux; Android 14; Pixel 8',
];

/**
 * As many user agents as a mid-size site has per minute: the service caches parsed ones, and this
 * must be realistic.
 */
const USER_AGENTS = [
  ...SYSTEMS.flatMap((system) =>
    CHROME_VERSIONS.map(
      (version) =>
        `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`,
    ),
  ),
  ...SYSTEMS.map((system) => `Mozilla/5.0 (${system}; rv:128.0) Gecko/20100101 Firefox/128.0`),
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
];
