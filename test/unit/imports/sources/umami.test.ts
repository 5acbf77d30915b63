// Mapping of Umami's website_event from CSV and from a dump, and who is one person.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { umami } from '../../../../src/imports/sources/umami/read.js';
import { eventsOf, inputOf, mapAll, peopleOf, skippedOf } from '../../../support/imports.js';

const read = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
const mapped = await mapAll(umami, inputOf(read('umami.csv')));
const [pageView, signup, bare] = eventsOf(mapped);

test('a page view has its address, referrer, visit and place', () => {
  expect(pageView).toEqual({
    event_type: 'page_view',
    timeMs: Date.UTC(2023, 10, 14, 22, 13, 20),
    insert_id: 'um:e1',
    device_id: 'um-s1',
    session_id: 'v1',
    event_properties: {
      url: 'https://shop.example/pricing?utm_source=news&x=1',
      referrer: 'https://search.example/find?q=a',
      referring_domain: 'search.example',
      title: 'Prices, and "plans"',
      language: 'de-DE',
      browser: 'chrome',
      os_name: 'Windows 10',
      device_category: 'desktop',
      screen: '1920x1080',
      website_id: 'w1',
    },
    geo: { country: 'DE', region_code: 'DE-BE', city: 'Berlin' },
    origin: 'client',
  });
});

test('a custom event has its name, and times may be seconds', () => {
  expect(signup).toMatchObject({ event_type: 'signup', timeMs: Date.UTC(2023, 10, 14, 22, 14, 0, 500) });
  expect(bare).toMatchObject({ timeMs: 1_700_000_100_000, event_properties: { url: '/' } });
  expect(bare?.geo).toBeUndefined();
});

test('rows that cannot be read or have no equal are skipped with a reason', async () => {
  expect(skippedOf(mapped)).toEqual([
    'not CSV: another number of columns than the header',
    'neither a page view nor an event with a name',
  ]);
  const unclosed = await mapAll(umami, inputOf(`event_id,event_name\n1,"a\n${'2,b\n'.repeat(400_000)}`));
  expect(skippedOf(unclosed)).toContain('not CSV: a quote is not closed');
});

test('a visitor is the person of the distinct id', () => {
  expect(peopleOf(mapped)).toEqual([
    ['page_view', 'um-user-1'],
    ['signup', 'um-user-1'],
    ['page_view', 'um-s2'],
  ]);
});

test('a dump of PostgreSQL has the same rows', async () => {
  const dump = await mapAll(umami, { ...inputOf(read('umami.sql')), name: 'umami.sql' });
  expect(eventsOf(dump).map((event) => [event.event_type, event.insert_id, event.event_properties])).toEqual([
    ['page_view', 'um:d1', { url: 'https://shop.example/a', title: 'Tab\tand \\N' }],
    ['signup', 'um:d3', { url: 'https://shop.example/a' }],
  ]);
  expect(skippedOf(dump)).toEqual(['not a row of 9 columns']);
});
