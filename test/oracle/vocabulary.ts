// Words for random histories and questions: few, so that they coincide, and chosen because they
// have caused bugs.
import { EXPOSURE } from './events.js';
import type { PropertyValue } from './history.js';

export const EVENT_TYPES = ['signup', 'view', 'pay', 'page view', 'count'] as const;
export const ALL_EVENT_TYPES = [...EVENT_TYPES, EXPOSURE] as const;

export const DEVICES = ['d1', 'd2', 'd3'] as const;
/** One user has the id of a device. */
export const USERS = ['u1', 'u2', 'd1', 'ünï'] as const;

/** Emails of profiles; two profiles may share one. */
export const EMAILS = ['ann@example.com', 'bob@mail.example.org'] as const;

/** No clock is at midnight in any of the zones, so that `today` is never empty. */
export const CLOCKS = [
  '2024-07-15T12:34:56.789Z',
  // Clocks were set forward in Berlin this night.
  '2024-03-31T10:17:23.456Z',
  // Clocks in Berlin show this hour for the second time.
  '2024-10-27T01:30:00.000Z',
  // Clocks were set back in New York and St. John's today.
  '2024-11-03T13:05:00.001Z',
  // The last millisecond of a leap day, a Thursday.
  '2024-02-29T23:59:59.999Z',
  // A year began half an hour ago in UTC, and is yet to begin or hours old elsewhere.
  '2025-01-01T00:30:00.000Z',
  // A Monday and the first of a quarter, just begun in New York.
  '2024-07-01T05:00:00.000Z',
  // The week in which clocks were set forward in Auckland.
  '2024-10-02T18:45:10.010Z',
] as const;

export const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Pacific/Tongatapu', // UTC+13
  'Etc/GMT+12', // UTC-12, the westernmost
  'Pacific/Kiritimati', // UTC+14, the easternmost
  'Asia/Kolkata', // half an hour off
  'America/St_Johns', // half an hour off, with daylight saving
  'Pacific/Auckland', // daylight saving on the southern side
] as const;

/** Mixed types under one key; numeric texts, and texts that only look numeric. */
export const MIXED_VALUES: readonly PropertyValue[] = [
  'pro',
  'free',
  5,
  '5',
  '5.0',
  '05',
  '-3',
  '1e1',
  'inf',
  'nan',
  '0x10',
  '',
  5.5,
  0,
  1,
  -3,
  10,
  true,
  false,
  'true',
  'false',
  '1',
  null,
  'Zoë',
  '日本',
  'a|b',
  'say "hi"',
  "it's",
  'back\\slash',
  'two\nlines',
];

/**
 * Keys of event properties with mixed values; the last three are ordinary keys that look unusual.
 */
export const MIXED_KEYS = ['plan', 'amount', 'Button Name', 'cart.total', 'constructor'] as const;
export const USER_KEYS = ['plan', 'seats'] as const;

export const PAGES = [
  { url: 'https://shop.example/', path: '/', clean: '/', hostname: 'shop.example' },
  { url: 'https://shop.example/item/42', path: '/item/42', clean: '/item/{id}', hostname: 'shop.example' },
  { url: 'https://shop.example/item/43', path: '/item/43', clean: '/item/{id}', hostname: 'shop.example' },
  { url: 'https://docs.example/start', path: '/start', clean: '/start', hostname: 'docs.example' },
] as const;

export const REFERRERS = [
  { url: 'https://search.example/?q=a', domain: 'search.example' },
  { url: 'https://news.example/', domain: 'news.example' },
] as const;

export const CHOICES = ['checkout', 'price-test'] as const;
export const VARIANTS = { blue: 2, control: 1, green: 0.5 } as const satisfies Record<string, number>;
