// The questions of the "Clique Bait" exercise (D. Ma, "8 Week SQL Challenge", case 6) over
// generated visits of its form: each is one query, and equals a count in plain loops.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../bench/random.js';
import { type Event, event } from '../oracle/history.js';
import { type Ask, type OracleService, startOracleService, toServiceAnswer } from '../support/oracle-service.js';
import { SEED } from '../support/seed.js';

const VISITS = 1500;
const NOW = Date.UTC(2026, 10, 22);
const DAY_MS = 86_400_000;
const CATEGORY_OF: Readonly<Record<string, string>> = {
  Salmon: 'Fish',
  Tuna: 'Fish',
  'Russian Caviar': 'Luxury',
  Abalone: 'Shellfish',
  Lobster: 'Shellfish',
};
const PRODUCTS = Object.keys(CATEGORY_OF);

interface Visit {
  readonly viewed: readonly string[];
  readonly carted: readonly string[];
  readonly hasImpression: boolean;
  readonly checksOut: boolean;
  readonly buys: boolean;
}

const random = createRandom(SEED);
const isTrue = (probability: number): boolean => random() < probability;

const visits = Array.from({ length: VISITS }, (): Visit => {
  const hasImpression = isTrue(0.3);
  const viewed = PRODUCTS.filter(() => isTrue(0.5));
  const carted = viewed.filter(() => isTrue(hasImpression ? 0.7 : 0.4));
  const checksOut = carted.length > 0 && isTrue(0.8);
  return { viewed, carted, hasImpression, checksOut, buys: checksOut && isTrue(0.7) };
});

/** The events of a visit, one second after the other. */
function eventsOf({ viewed, carted, hasImpression, checksOut, buys }: Visit, index: number): Event[] {
  const start = NOW - 20 * DAY_MS + Math.floor(random() * 19 * DAY_MS);
  const view = (page_name: string, more = {}) => ['page_view', { page_name, ...more }] as const;
  const sent: (readonly [string, Record<string, string>])[] = [view('Home Page'), view('All Products')];
  if (hasImpression) sent.push(['ad_impression', { campaign: 'BOGOF' }]);
  for (const product of viewed) {
    const properties = { page_name: product, product_category: CATEGORY_OF[product] ?? '' };
    sent.push(view(product, properties));
    if (carted.includes(product)) sent.push(['add_to_cart', properties]);
  }
  if (checksOut) sent.push(view('Checkout'));
  if (buys) sent.push(['purchase', { page_name: 'Confirmation' }]);
  return sent.map(([event_type, event_properties], position) =>
    event({
      event_type,
      event_properties,
      time: start + 1000 * position,
      insert_id: `${index}-${position}`,
      // A cookie has several visits.
      device_id: `cookie-${index % 400}`,
      session_id: `visit-${index}`,
    }),
  );
}

let service: OracleService;
let ask: Ask;

beforeAll(async () => {
  service = await startOracleService();
  const history = { events: visits.flatMap(eventsOf), mappings: [], profiles: [] };
  [ask] = (await service.store([{ history, context: { now: NOW, timezone: 'UTC' } }])) as [Ask];
});

afterAll(() => service?.close());

const rowsOf = async (text: string) => toServiceAnswer(await ask(`${text} | last 30d`)).rows;

/** People by step; here the unit is a visit. */
const stepsOf = async (funnel: string): Promise<unknown[]> =>
  (await rowsOf(`${funnel} | unit session_id | window 1d`)).map(({ users }) => users);

const countOf = (is: (visit: Visit) => boolean): number => visits.filter(is).length;

test.each(PRODUCTS)('a funnel counts visits that viewed, carted and bought %s', async (product) => {
  const of = `[page_name = "${product}"]`;
  expect(await stepsOf(`funnel page_view${of} -> add_to_cart${of} -> purchase`)).toEqual([
    countOf(({ viewed }) => viewed.includes(product)),
    countOf(({ carted }) => carted.includes(product)),
    countOf(({ carted, buys }) => buys && carted.includes(product)),
  ]);
});

test('a formula counts views and carts by product', async () => {
  const rows = await rowsOf(
    'formula count(page_view) as views, count(add_to_cart) as carts by event_properties.page_name | where event_properties.product_category exists',
  );
  const expected = PRODUCTS.map((product) => ({
    'event_properties.page_name': product,
    views: countOf(({ viewed }) => viewed.includes(product)),
    carts: countOf(({ carted }) => carted.includes(product)),
  }));
  expect(rows).toEqual(expect.arrayContaining(expected));
  expect(rows).toHaveLength(PRODUCTS.length);
});

test('a funnel counts checkouts without a purchase', async () => {
  expect(await stepsOf('funnel page_view[page_name = "Checkout"] -> purchase')).toEqual([
    countOf(({ checksOut }) => checksOut),
    countOf(({ buys }) => buys),
  ]);
});

test('a condition per session counts purchases by category', async () => {
  const rows = await rowsOf(
    'add_to_cart | where count(purchase per session_id) > 0 | count by event_properties.product_category | sort event_properties.product_category',
  );
  const bought = visits.filter(({ buys }) => buys).flatMap(({ carted }) => carted);
  const categories = [...new Set(Object.values(CATEGORY_OF))].sort();
  const expected = categories.map((category) => ({
    'event_properties.product_category': category,
    count: bought.filter((product) => CATEGORY_OF[product] === category).length,
  }));
  expect(rows).toMatchObject(expected);
});

test.each([
  ['with', '> 0', true],
  ['without', '= 0', false],
] as const)(
  'a condition per session splits the conversion of visits %s a campaign impression',
  async (_, compared, hasImpression) => {
    const query = `funnel page_view -> purchase | where count(ad_impression per session_id) ${compared}`;
    expect(await stepsOf(query)).toEqual([
      countOf((visit) => visit.hasImpression === hasImpression),
      countOf((visit) => visit.hasImpression === hasImpression && visit.buys),
    ]);
  },
);
