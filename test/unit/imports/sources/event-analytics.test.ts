// Mapping of the exports of this service.
import { expect, test } from 'vitest';
import { eventAnalytics } from '../../../../src/imports/sources/event-analytics/read.js';
import { eventsOf, inputOf, mapAll, skippedOf } from '../../../support/imports.js';

const EVENT = {
  ...{ event_type: 'pay', time: '2026-11-01T08:00:00.500Z', insert_id: 'evt_1', user_id: 'ada', device_id: null },
  ...{ session_id: 's1', event_properties: { price: 12.5, code: '007', note: null }, user_properties: { plan: 'pro' } },
  ...{ library: 'service-js/1', origin: 'client', ip: '203.0.113.0', user_agent: 'Mozilla/5.0' },
  ...{ agent: { browser: 'Firefox', device_type: 'desktop' }, geo: { country: 'DE', source: 'database' } },
};
const mapLines = (...lines: readonly object[]) =>
  mapAll(eventAnalytics, inputOf(lines.map((line) => JSON.stringify(line)).join('\n')));

test('an event keeps its id, ids of people, properties, client and place', async () => {
  expect(eventsOf(await mapLines(EVENT))).toEqual([
    {
      ...{ event_type: 'pay', timeMs: Date.UTC(2026, 10, 1, 8, 0, 0, 500), insert_id: 'evt_1', user_id: 'ada' },
      ...{ session_id: 's1', event_properties: EVENT.event_properties, user_properties: { plan: 'pro' } },
      ...{ origin: 'client', ip: '203.0.113.0', user_agent: 'Mozilla/5.0', agent: EVENT.agent, geo: EVENT.geo },
    },
  ]);
});

test('an event without a client or a place gets none of the importing machine', async () => {
  const bare = { ...EVENT, origin: 'unknown', ip: null, user_agent: null, agent: {}, geo: {} };
  const [event] = eventsOf(await mapLines(bare));
  expect(event).toMatchObject({ agent: {}, geo: {} });
  expect([event?.origin, event?.ip, event?.user_agent]).toEqual([undefined, undefined, undefined]);
});

test('an identify call is a link, properties, or both', async () => {
  const time = '2026-11-02T00:00:00.000Z';
  const at = { user: 'ada', timeMs: Date.parse(time) };
  const mapped = await mapLines(
    { user_id: 'ada', device_id: 'phone', time },
    { user_id: 'ada', time, user_properties: { plan: 'pro' } },
    { user_id: 'ada', device_id: 'phone', time, user_properties: {} },
  );
  expect(mapped).toEqual([
    { kind: 'link', device: 'phone', ...at },
    { kind: 'profile', properties: { plan: 'pro' }, ...at },
    { kind: 'link', device: 'phone', ...at },
    { kind: 'profile', properties: {}, ...at },
  ]);
});

test('other lines are skipped with a reason', async () => {
  expect(skippedOf(await mapLines({ distinct_id: 'ada' }))).toEqual(['neither an event nor an identify call']);
});
