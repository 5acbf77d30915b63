// Data of `npm run demo`: determinism, plausible events, and the patterns that its example
// questions show.
import { describe, expect, test } from 'vitest';
import { DAY_MS, demandOf, startOfDay } from '../../../src/demo/calendar.js';
import { generateShop, type ShopOptions } from '../../../src/demo/generate.js';
import { CHECKOUT_BUG, CHECKOUT_ERROR, EXPERIMENT, SALE } from '../../../src/demo/stories.js';
import type { ShopEvent } from '../../../src/demo/visits.js';

const END_MS = Date.UTC(2026, 10, 22, 15, 30);
const OPTIONS: ShopOptions = { seed: 'test', people: 4000, endMs: END_MS, library: 'service-demo/1' };

const shop = generateShop(OPTIONS);
const events = [...shop.visits()].flat();

const timesOf = (list: readonly ShopEvent[]): readonly number[] => list.map(({ time }) => time);
const dayOf = ({ time }: ShopEvent): number => Math.floor((time - startOfDay(END_MS, 0)) / DAY_MS);
const ofType = (type: string): readonly ShopEvent[] => events.filter(({ event_type: name }) => name === type);
const countBy = (
  list: readonly ShopEvent[],
  keyOf: (event: ShopEvent) => string | number,
): Map<string | number, number> => {
  const counts = new Map<string | number, number>();
  for (const event of list) counts.set(keyOf(event), (counts.get(keyOf(event)) ?? 0) + 1);
  return counts;
};

describe('generateShop() makes events that', () => {
  test('are equal for equal seed and end, and differ for another seed', () => {
    const small = { ...OPTIONS, people: 50 };
    const once = [...generateShop(small).visits()];
    expect([...generateShop(small).visits()]).toEqual(once);
    expect(generateShop(small).identifications).toEqual(generateShop(small).identifications);
    expect([...generateShop({ ...small, seed: 'other' }).visits()]).not.toEqual(once);
  });

  test('lie within 90 days, and are in order within a visit', () => {
    expect(Math.min(...timesOf(events))).toBeGreaterThanOrEqual(END_MS - 90 * DAY_MS);
    expect(events.every(({ time }) => time <= END_MS)).toBe(true);
    for (const visit of shop.visits()) {
      if (timesOf(visit).some((time, index, times) => time < (times[index - 1] ?? 0))) expect(visit).toBe('in order');
    }
    expect(new Set(events.map(dayOf)).size).toBeGreaterThanOrEqual(90);
  });

  test('have unique ids, and only reserved IP addresses and domains', () => {
    expect(new Set(events.map(({ insert_id: id }) => id)).size).toBe(events.length);
    expect(events.every(({ ip }) => /^(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d+$/.test(ip))).toBe(true);
    expect(
      shop.identifications.every(({ user_properties: { email } }) => /@[\w-]+\.example$/.test(String(email))),
    ).toBe(true);
  });

  test('are about 200,000 for the default number of people', () => {
    expect((events.length / OPTIONS.people) * 15_000).toBeGreaterThan(180_000);
    expect((events.length / OPTIONS.people) * 15_000).toBeLessThan(220_000);
  });
});

describe('generateShop() makes patterns', () => {
  test('a fifth to a third of the visits end with their first page', () => {
    const visits = [...shop.visits()];
    const share = visits.filter(({ length }) => length === 1).length / visits.length;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.33);
  });

  test('devices are anonymous first, then belong to one identified user each', () => {
    const users = new Map<string, Set<string>>();
    for (const { device_id: device, user_id: user } of events) {
      if (user !== undefined) users.set(device, (users.get(device) ?? new Set()).add(user));
    }
    expect([...users.values()].every(({ size }) => size === 1)).toBe(true);
    const identified = new Map(shop.identifications.map(({ device_id: device, user_id: user }) => [device, user]));
    for (const [device, [user]] of users) expect(identified.get(device)).toBe(user);
    const anonymous = events.filter(({ device_id: device, user_id: user }) => user === undefined && users.has(device));
    expect(anonymous.length).toBeGreaterThan(500);
    const ofTwo = shop.identifications.length - new Set(shop.identifications.map(({ user_id: user }) => user)).size;
    expect(ofTwo).toBeGreaterThan(20);
  });

  test('payment fails in one browser version from a certain day on, and rarely in others', () => {
    const errors = ofType('checkout_error').filter(({ event_properties: { message } }) => message === CHECKOUT_ERROR);
    expect(errors.length).toBeGreaterThan(15);
    expect(errors.every((event) => dayOf(event) >= CHECKOUT_BUG.firstDay)).toBe(true);
    const agents = new Set(errors.map(({ user_agent: agent }) => agent));
    expect([...agents]).toEqual([expect.stringContaining(`iPhone`)]);
    expect([...agents]).toEqual([expect.stringContaining(`Version/${CHECKOUT_BUG.version} `)]);
  });

  test('the experiment shows each person one of two variants, about evenly, from a certain day on', () => {
    const exposures = ofType('service.exposure');
    expect(exposures.every((event) => dayOf(event) >= EXPERIMENT.firstDay)).toBe(true);
    const variants = countBy(exposures, ({ event_properties: { variant_key: key } }) => String(key));
    expect([...variants.keys()].sort()).toEqual(['control', 'one-page']);
    const share = (variants.get('control') ?? 0) / exposures.length;
    expect(Math.abs(share - 0.5)).toBeLessThan(0.08);
    const seen = new Map<string | undefined, unknown>();
    for (const { user_id: user, event_properties: properties } of exposures) {
      expect(seen.get(user) ?? properties.variant_key).toBe(properties.variant_key);
      seen.set(user, properties.variant_key);
    }
  });

  test('the sale sells at least twice as much per day as the days around it', () => {
    const purchases = countBy(ofType('purchase'), dayOf);
    const perDay = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, index) => purchases.get(from + index) ?? 0).reduce((a, b) => a + b) /
      (to - from + 1);
    const [first, last] = SALE.days;
    expect(perDay(first, last)).toBeGreaterThan(2 * perDay(first - 14, first - 1));
    expect(perDay(first, last)).toBeGreaterThan(2 * perDay(last + 1, last + 10));
  });

  test('Sundays, evenings and the end of the year have more events than Fridays, nights and summer', () => {
    const days = countBy(events, ({ time }) => new Date(time).getUTCDay());
    expect(days.get(0)).toBeGreaterThan(1.2 * (days.get(5) ?? 0));
    const german = events.filter(({ geo: { country } }) => country === 'DE');
    const hours = countBy(german, ({ time }) => (new Date(time).getUTCHours() + 1) % 24);
    expect(hours.get(20)).toBeGreaterThan(8 * (hours.get(3) ?? 0));
    const [december, june] = [Date.UTC(2026, 11, 13, 12), Date.UTC(2026, 5, 14, 12)].map((end) => demandOf(end, 89));
    expect(december).toBeGreaterThan(1.3 * (june ?? 0));
  });

  test('one campaign brings many visitors who rarely sign up, and another few who often do', () => {
    const campaignOf = ({ event_properties: { utm_campaign: name } }: ShopEvent) => String(name);
    const landings = ofType('page_view').filter(({ event_properties: properties }) => 'utm_campaign' in properties);
    const visitors = countBy(landings, campaignOf);
    const signedUp = new Set(ofType('signup').map(({ device_id: device }) => device));
    const converted = countBy(
      landings.filter(({ device_id: device }) => signedUp.has(device)),
      campaignOf,
    );
    const rate = (name: string) => (converted.get(name) ?? 0) / (visitors.get(name) ?? 1);
    expect(visitors.get('latte-art')).toBeGreaterThan(2 * (visitors.get('monthly-letter') ?? 0));
    expect(rate('monthly-letter')).toBeGreaterThan(5 * rate('latte-art'));
  });

  test('only companies have the plans team and business', () => {
    for (const { user_properties: properties } of shop.identifications) {
      expect('company' in properties).toBe(['team', 'business'].includes(String(properties.plan)));
    }
  });
});
