// Event history behind the golden queries. `now` is 2026-11-20T09:30:00Z; each event tests a rule.
import type { ClickHouseClient } from '../../src/platform/clickhouse/client.js';
import { tryParseNumberText } from '../../src/platform/number-text.js';

export const NOW_MS = Date.parse('2026-11-20T09:30:00.000Z');
export const PROJECT = '01900000-0000-7000-8000-000000000001';
export const OTHER_PROJECT = '01900000-0000-7000-8000-000000000002';

type Value = string | number | boolean | null;

interface Event {
  readonly id: string;
  readonly type: string;
  readonly time: string;
  readonly user?: string;
  readonly device?: string;
  readonly session?: string;
  readonly ep?: Readonly<Record<string, Value>>;
  readonly up?: Readonly<Record<string, Value>>;
  readonly columns?: Readonly<Record<string, string | number>>;
}

const DE = {
  geo_country: 'DE',
  geo_city: 'Berlin',
  geo_latitude: 52.5,
  geo_longitude: 13.4,
  browser: 'Firefox',
  browser_version: '120',
  platform: 'web',
};
const US = {
  geo_country: 'US',
  geo_city: 'New York',
  geo_latitude: 40.7,
  geo_longitude: -74,
  browser: 'Chrome',
  browser_version: '99.5',
  platform: 'web',
};

interface Visit {
  readonly id: string;
  readonly type: string;
  readonly time: string;
  readonly page: string;
  readonly utm: string;
}

function toVisit({ page, utm, ...event }: Visit, who: { session: string; user?: string }): Event {
  const url = page === '' ? '' : `https://example.com${page}`;
  return { ...event, ...who, columns: { path: page, url, utm_source: utm } };
}

function toExposure(id: string, time: string, { user, variant }: { user?: string; variant: string }): Event {
  const ep = { choice_key: 'checkout', variant_key: variant, variant_weight: 1 };
  return { id, type: 'service.exposure', time, ep, ...(user && { user }) };
}

const EVENTS: readonly Event[] = [
  // ann signs up after two anonymous visits on a device that is hers.
  {
    id: 'a1',
    type: 'page_view',
    time: '2026-11-14T08:00:00.000Z',
    device: 'd-ann',
    session: 's1',
    columns: { ...DE, path: '/', url: 'https://example.com/' },
  },
  {
    id: 'a2',
    type: 'page_view',
    time: '2026-11-14T08:01:00.500Z',
    device: 'd-ann',
    session: 's1',
    columns: { ...DE, path: '/pricing', url: 'https://example.com/pricing' },
  },
  {
    id: 'a3',
    type: 'signup',
    time: '2026-11-14T08:02:00.000Z',
    user: 'ann',
    device: 'd-ann',
    session: 's1',
    ep: { plan: 'pro' },
    up: { tier: 'a' },
    columns: DE,
  },
  {
    id: 'a4',
    type: 'purchase',
    time: '2026-11-16T10:00:00.000Z',
    user: 'ann',
    ep: { plan: 'pro', price: 10, coupon: null },
    columns: DE,
  },
  {
    id: 'a5',
    type: 'purchase',
    time: '2026-11-17T10:00:00.000Z',
    user: 'ann',
    ep: { plan: 5, price: '12.5' },
    columns: DE,
  },
  // bob; and a device that ann used first and bob later, so that it is bob's.
  {
    id: 'b1',
    type: 'signup',
    time: '2026-11-15T12:00:00.000Z',
    user: 'bob',
    ep: { plan: '5', 'Button Name': 'Go | now' },
    columns: US,
  },
  { id: 'b2', type: 'page_view', time: '2026-11-15T12:30:00.000Z', device: 'd-shared', columns: { ...US, path: '/' } },
  {
    id: 'b3',
    type: 'purchase',
    time: '2026-11-17T23:30:00.000Z',
    user: 'bob',
    ep: { plan: true, price: 0 },
    columns: US,
  },
  {
    id: 'b4',
    type: 'purchase',
    time: '2026-11-18T00:30:00.000Z',
    user: 'bob',
    ep: { plan: 'true', price: 'n/a' },
    columns: US,
  },
  {
    id: 'b5',
    type: 'purchase',
    time: '2026-11-18T01:30:00.000Z',
    user: 'bob',
    ep: { plan: 1, price: 'inf' },
    columns: US,
  },
  // An anonymous visitor, and an event without any id.
  {
    id: 'c1',
    type: 'page_view',
    time: '2026-11-19T09:00:00.000Z',
    device: 'd-anon',
    ep: { plan: '' },
    columns: { path: '/docs' },
  },
  {
    id: 'c2',
    type: 'page_view',
    time: '2026-11-19T09:00:00.000Z',
    device: 'd-anon',
    ep: { plan: null },
    columns: { path: '/docs' },
  },
  { id: 'n1', type: 'page_view', time: '2026-11-19T10:00:00.000Z', columns: { path: '/status' } },
  // Keys and values that look like something else.
  {
    id: 'k1',
    type: 'odd',
    time: '2026-11-19T11:00:00.000Z',
    user: 'eve',
    ep: { __proto__x: 'x', constructor: 'c', flag: false, zero: 0, 'a.b': "it's" },
  },
  {
    id: 'k2',
    type: 'odd',
    time: '2026-11-19T11:00:01.000Z',
    user: 'eve',
    ep: { flag: 'false', zero: '0', formula: '=1+1' },
  },
  { id: 'k3', type: 'odd', time: '2026-11-19T11:00:02.000Z', user: 'eve', ep: { flag: 0, zero: '' } },
  // Around the change of clocks in Berlin on 2026-10-25 (01:00 UTC), and at the end of a month.
  { id: 't1', type: 'tick', time: '2026-10-24T21:59:59.999Z', user: 'tim' },
  { id: 't2', type: 'tick', time: '2026-10-24T22:00:00.000Z', user: 'tim' },
  { id: 't3', type: 'tick', time: '2026-10-25T00:30:00.000Z', user: 'tim' },
  { id: 't4', type: 'tick', time: '2026-10-25T01:30:00.000Z', user: 'tim' },
  { id: 't5', type: 'tick', time: '2026-10-25T22:59:59.999Z', user: 'tim' },
  { id: 't6', type: 'tick', time: '2026-10-25T23:00:00.000Z', user: 'tim' },
  { id: 't7', type: 'tick', time: '2026-10-31T23:30:00.000Z', user: 'tim' },
  { id: 't8', type: 'tick', time: '2026-11-01T00:30:00.000Z', user: 'tim' },
  // Two springs ago: sessions of several events, one that crosses midnight, and one that goes on
  // after the range.
  ...[
    { id: 'v1', type: 'page_view', time: '2024-02-01T10:00:00.000Z', page: '/', utm: 'ads' },
    { id: 'v2', type: 'page_view', time: '2024-02-01T10:01:00.000Z', page: '/pricing', utm: '' },
    { id: 'v3', type: 'signup', time: '2024-02-01T10:01:30.000Z', page: '', utm: 'mail' },
  ].map((event) => toVisit(event, { session: 'w1', user: 'vera' })),
  toVisit({ id: 'v4', type: 'page_view', time: '2024-02-01T12:00:00.000Z', page: '/docs', utm: '' }, { session: 'w2' }),
  toVisit({ id: 'v5', type: 'page_view', time: '2024-02-02T23:59:00.000Z', page: '/docs', utm: '' }, { session: 'w3' }),
  toVisit({ id: 'v6', type: 'page_view', time: '2024-02-03T00:01:00.000Z', page: '/', utm: '' }, { session: 'w3' }),
  toVisit(
    { id: 'v7', type: 'page_view', time: '2024-02-04T23:00:00.000Z', page: '/', utm: '' },
    { session: 'w4', user: 'vera' },
  ),
  toVisit(
    { id: 'v8', type: 'signup', time: '2024-02-05T01:00:00.000Z', page: '', utm: '' },
    { session: 'w4', user: 'vera' },
  ),
  // An experiment: two units saw one variant each, one saw both, one exposure has no unit.
  toExposure('x-1', '2024-03-01T10:00:00.000Z', { user: 'ute', variant: 'control' }),
  toExposure('x-2', '2024-03-01T11:00:00.000Z', { user: 'uwe', variant: 'blue' }),
  toExposure('x-3', '2024-03-02T10:00:00.000Z', { user: 'ula', variant: 'control' }),
  toExposure('x-4', '2024-03-03T10:00:00.000Z', { user: 'ula', variant: 'blue' }),
  toExposure('x-5', '2024-03-03T11:00:00.000Z', { variant: 'blue' }),
  { id: 'x-6', type: 'pay', time: '2024-03-08T11:00:00.000Z', user: 'uwe' },
  { id: 'x-7', type: 'pay', time: '2024-03-01T09:59:59.999Z', user: 'ute' },
  // What returns at the very time of its start.
  { id: 'r1', type: 'order', time: '2024-04-01T10:00:00.000Z', user: 'zoe' },
  { id: 'r2', type: 'receipt', time: '2024-04-01T10:00:00.000Z', user: 'zoe' },
];

const OTHERS: readonly Event[] = [
  {
    id: 'x1',
    type: 'signup',
    time: '2026-11-15T12:00:00.000Z',
    user: 'mallory',
    device: 'd-ann',
    ep: { plan: 'secret' },
    columns: DE,
  },
];

interface Mapping {
  readonly device: string;
  readonly user: string;
  readonly updatedAt: string;
}

const MAPPINGS: readonly Mapping[] = [
  { device: 'd-ann', user: 'ann', updatedAt: '2026-11-14 08:02:00.000001' },
  { device: 'd-shared', user: 'bob', updatedAt: '2026-11-15 12:00:00.000000' },
  { device: 'd-shared', user: 'ann', updatedAt: '2026-11-13 12:00:00.000000' },
];

const bucketOf = (properties: Readonly<Record<string, Value>> | undefined, type: string): Record<string, Value> =>
  Object.fromEntries(Object.entries(properties ?? {}).filter(([, value]) => typeof value === type));

/** As the worker stores them: numbers, and the numbers that texts are. */
const numbersOf = (properties: Readonly<Record<string, Value>> | undefined): Record<string, number> =>
  Object.fromEntries(
    Object.entries(properties ?? {}).flatMap(([key, value]) => {
      const number = typeof value === 'string' ? tryParseNumberText(value) : value;
      return typeof number === 'number' ? [[key, number]] : [];
    }),
  );

const nullsOf = (properties: Readonly<Record<string, Value>> | undefined): string[] =>
  Object.entries(properties ?? {}).flatMap(([key, value]) => (value === null ? [key] : []));

function toRow(projectId: string, event: Event): Record<string, unknown> {
  return {
    project_id: projectId,
    event_type: event.type,
    time: event.time.replace('T', ' ').replace('Z', ''),
    insert_id: event.id,
    user_id: event.user ?? '',
    device_id: event.device ?? '',
    session_id: event.session ?? '',
    geo_latitude: 'nan',
    geo_longitude: 'nan',
    ep_str: bucketOf(event.ep, 'string'),
    ep_num: numbersOf(event.ep),
    ep_bool: bucketOf(event.ep, 'boolean'),
    ep_null: nullsOf(event.ep),
    up_str: bucketOf(event.up, 'string'),
    up_num: numbersOf(event.up),
    up_bool: bucketOf(event.up, 'boolean'),
    up_null: nullsOf(event.up),
    ...event.columns,
  };
}

export const EVENT_ROWS: readonly Record<string, unknown>[] = [
  ...EVENTS.map((event) => toRow(PROJECT, event)),
  ...OTHERS.map((event) => toRow(OTHER_PROJECT, event)),
];

export const MAPPING_ROWS: readonly Record<string, unknown>[] = [
  ...MAPPINGS.map((mapping) => ({
    project_id: PROJECT,
    device_id: mapping.device,
    user_id: mapping.user,
    updated_at: mapping.updatedAt,
  })),
  { project_id: OTHER_PROJECT, device_id: 'd-anon', user_id: 'mallory', updated_at: '2026-11-19 00:00:00.000000' },
];

interface Profile {
  readonly user: string;
  readonly email?: string;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly properties: Readonly<Record<string, string | number | boolean>>;
  readonly version?: number;
  readonly isDeleted?: boolean;
}

const PROFILES: readonly Profile[] = [
  {
    user: 'ann',
    email: 'ann@example.com',
    firstSeen: '2026-11-14 08:02:00',
    lastSeen: '2026-11-17 10:00:00',
    properties: { plan: 'pro', seats: 5, email: 'ann@example.com' },
    version: 2,
  },
  // An older version of the same profile.
  { user: 'ann', firstSeen: '2026-11-14 08:02:00', lastSeen: '2026-11-14 08:02:00', properties: { plan: 'free' } },
  {
    user: 'bob',
    email: 'bob@example.org',
    firstSeen: '2026-11-15 12:00:00',
    lastSeen: '2026-11-18 01:30:00',
    properties: { plan: 'free', seats: '12', beta: true, email: 'bob@example.org' },
  },
  {
    user: 'eve',
    firstSeen: '2026-01-01 00:00:00',
    lastSeen: '2026-11-19 11:00:00',
    properties: { 'Company Name': 'Eve & Co' },
  },
  // Erased.
  { user: 'dan', firstSeen: '2026-11-01 00:00:00', lastSeen: '2026-11-02 00:00:00', properties: { plan: 'pro' } },
  {
    user: 'dan',
    firstSeen: '2026-11-01 00:00:00',
    lastSeen: '2026-11-02 00:00:00',
    properties: {},
    version: 2,
    isDeleted: true,
  },
];

function toProfileRow(projectId: string, profile: Profile): Record<string, unknown> {
  const email = profile.email ?? '';
  return {
    project_id: projectId,
    user_id: profile.user,
    email,
    email_domain: email.slice(email.indexOf('@') + 1),
    first_seen: profile.firstSeen,
    last_seen: profile.lastSeen,
    props_str: bucketOf(profile.properties, 'string'),
    props_num: numbersOf(profile.properties),
    props_bool: bucketOf(profile.properties, 'boolean'),
    version: profile.version ?? 1,
    deleted: profile.isDeleted ? 1 : 0,
  };
}

export const PROFILE_ROWS: readonly Record<string, unknown>[] = [
  ...PROFILES.map((profile) => toProfileRow(PROJECT, profile)),
  toProfileRow(OTHER_PROJECT, {
    user: 'bob',
    email: 'ann@example.com',
    firstSeen: '2026-11-15 12:00:00',
    lastSeen: '2026-11-18 01:30:00',
    properties: { plan: 'secret' },
    version: 9,
  }),
];

/** Stores all of it in the database of the client. */
export async function storeHistory(clickhouse: ClickHouseClient): Promise<void> {
  for (const [table, rows] of Object.entries({
    events: EVENT_ROWS,
    device_map: MAPPING_ROWS,
    profiles: PROFILE_ROWS,
  })) {
    await clickhouse.insert({ table, values: [...rows], format: 'JSONEachRow' });
  }
}
