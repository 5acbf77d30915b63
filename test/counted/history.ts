// Small history for questions that are counted independently: identities that change, equal times,
// duplicates, late events, values of mixed types, and sessions over midnights and clock changes.
import type { Event, History, Profile, PropertyValue } from '../oracle/history.js';
import { event, PROJECT } from '../oracle/history.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const at = (text: string): number => Date.parse(text);

const PEOPLE: readonly (readonly [user: string | null, device: string | null])[] = [
  ['ann', 'd1'],
  [null, 'd1'],
  ['bob', 'd1'],
  [null, 'd2'],
  [null, 'd3'],
  ['ann', null],
  [null, 'd4'],
  [null, 'd5'],
  ['d5', 'd6'],
  [null, 'd6'],
  ['eve', 'd7'],
  [null, null],
];
/** Days with clock changes and the ends of months are more frequent than others. */
const DAYS = [
  ...['2026-10-03', '2026-10-04', '2026-10-24', '2026-10-25', '2026-10-25', '2026-10-26', '2026-10-31', '2026-11-01'],
  ...['2026-11-01', '2026-11-02', '2026-09-30', '2026-10-01', '2026-08-31', '2026-11-28', '2026-11-29', '2026-11-22'],
];
const TYPES = [
  'page_view',
  'page_view',
  'page_view',
  'signup',
  'purchase',
  'purchase',
  'refund',
  'export data',
] as const;
const PRICES: readonly PropertyValue[] = [5, 12.5, '12.5', '5.0', 0, -3, 'none', '', true, null, 7, 40, 1e1, 2.5];
const PLANS: readonly PropertyValue[] = ['pro', 'Pro', 'free', 5, '5', true, 'true', 1, null, '', '{"a":[1]}', 'ünï.x'];
const COUNTRIES = ['DE', 'US', 'NP', 'AU', undefined];
const PATHS = ['/', '/pricing', '/item/1'];

/** Linear congruential generator: the same events on every run. */
function createRandom(): (below: number) => number {
  let state = 12345;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function drawnEvents(): Event[] {
  const random = createRandom();
  const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T;
  return Array.from({ length: 420 }, (_, index) => {
    const day = random(3) === 0 ? at('2026-08-20') + random(101) * DAY : at(pick(DAYS));
    const time = day + random(96) * 15 * MINUTE;
    const [user_id, device_id] = pick(PEOPLE);
    const event_type = pick(TYPES);
    const path = pick(PATHS);
    const [price, plan, country] = [pick(PRICES), pick(PLANS), pick(COUNTRIES)];
    const half = Math.floor((time + 5 * 60 * MINUTE) / (DAY / 2));
    return event(
      {
        ...{ event_type, time, user_id, device_id },
        session_id: random(4) === 0 ? null : `s-${user_id ?? ''}-${device_id ?? ''}-${half}`,
        event_properties: {
          ...(random(5) > 0 && { price }),
          ...(random(5) > 0 && { plan }),
          ...(random(3) > 0 && { account: `a${random(3)}` }),
        },
        derived: {
          ...(country !== undefined && { _geo_country: country }),
          ...(random(4) > 0 && { _path: path, _url: `https://shop.example${path}`, _path_clean: path }),
        },
      },
      `i${String(index).padStart(3, '0')}`,
    );
  });
}

/** Attempts with equal times, at the very end of a window, and over a clock change. */
const STEPS = (
  [
    ['x1', 'page_view', '2026-10-25T00:30:00Z', '/'],
    ['x1', 'signup', '2026-10-25T00:30:00Z', '/'],
    ['x1', 'purchase', '2026-10-25T00:30:00Z', '/'],
    ['x2', 'page_view', '2026-10-24T23:50:00Z', '/'],
    ['x2', 'signup', '2026-10-25T00:50:00Z', '/pricing'],
    ['x2', 'purchase', '2026-10-25T00:50:00.001Z', '/pricing'],
    ['x3', 'page_view', '2026-11-01T05:45:00Z', '/'],
    ['x3', 'refund', '2026-11-01T05:50:00Z', '/'],
    ['x3', 'signup', '2026-11-01T06:15:00Z', '/'],
    ['x3', 'page_view', '2026-11-01T06:20:00Z', '/pricing'],
    ['x3', 'page_view', '2026-11-01T06:20:00Z', '/pricing'],
    ['x3', 'signup', '2026-11-01T06:30:00Z', '/'],
    ['x3', 'purchase', '2026-11-01T07:20:00Z', '/'],
    ['x4', 'purchase', '2026-10-25T22:30:00Z', '/'],
    ['x4', 'signup', '2026-10-25T22:45:00Z', '/'],
    ['x4', 'page_view', '2026-10-25T23:15:00Z', '/'],
    ['x4', 'page_view', '2026-10-25T23:15:00Z', '/item/1'],
  ] as const
).map(([user_id, event_type, time, path], index) =>
  event(
    {
      ...{ event_type, time: at(time), user_id, device_id: `of-${user_id}`, session_id: `s-${user_id}` },
      event_properties: { price: 10 + index, plan: 'pro', account: 'a0' },
      derived: { _path: path, _url: `https://shop.example${path}`, _path_clean: path, _geo_country: 'DE' },
    },
    `x${String(99 - index)}`,
  ),
);

const profile = (user_id: string, email: string | null, first: string, properties: Profile['properties']): Profile => ({
  ...{ project: PROJECT, user_id, email, email_domain: email?.split('@')[1] ?? null },
  first_seen: at(first),
  last_seen: at('2026-11-20T10:00:00Z'),
  properties: { ...(email !== null && { email }), ...properties },
});

const mapping = (device_id: string, user_id: string, updated: string, project = PROJECT) => ({
  ...{ project, device_id, user_id },
  updated_at: at(updated),
});

const drawn = drawnEvents();
const again = [...drawn.slice(0, 20), ...STEPS.slice(0, 3)];

export const HISTORY: History = {
  events: [
    ...drawn,
    ...STEPS,
    // The same key with other content: what was stored first stays.
    ...again.map((one) => ({ ...one, user_id: 'late', event_properties: { price: 1000 } })),
    ...drawn
      .slice(50, 90)
      .map((one) => ({ ...one, project: 'second', user_id: 'ann', insert_id: `o${one.insert_id}` })),
    ...drawn.slice(90, 110).map((one) => ({ ...one, project: 'third', session_id: 's-x1' })),
  ],
  mappings: [
    mapping('d1', 'ann', '2026-10-01T00:00:00Z'),
    mapping('d2', 'ann', '2026-10-02T00:00:00Z'),
    mapping('d3', 'bob', '2026-10-05T00:00:00Z'),
    mapping('d3', 'ann', '2026-10-03T00:00:00Z'),
    mapping('d1', 'bob', '2026-11-01T06:30:00Z'),
    mapping('d6', 'carl', '2026-11-02T00:00:00Z'),
    mapping('d4', 'eve', '2026-11-02T00:00:00Z', 'second'),
  ],
  profiles: [
    profile('ann', 'ann@example.com', '2026-10-25T00:30:00Z', { plan: 'pro', seats: 5 }),
    profile('bob', 'bob@example.org', '2026-10-25T01:30:00Z', { plan: 'free', seats: '12' }),
    profile('carl', null, '2026-10-24T21:59:59.999Z', { plan: 'pro', seats: true }),
    profile('eve', 'ann@example.com', '2026-10-25T23:00:00Z', { seats: -1 }),
    profile('x3', null, '2026-11-01T05:59:00Z', { plan: '', seats: 'many' }),
  ],
};
