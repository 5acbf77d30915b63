// Names that EventBlock collects for the catalog while it encodes events.
import { expect, test } from 'vitest';
import type { CatalogName } from '../../../src/catalog/names.js';
import type { AcceptedEvent } from '../../../src/ingest/insert/replay-events.js';
import { EventBlock } from '../../../src/ingest/insert/row.js';
import { BOUNDS } from '../../../src/platform/flow/bounds.js';

const event = (projectId: string, more: Partial<AcceptedEvent>): AcceptedEvent => ({
  projectId,
  eventType: 'signup',
  time: 0,
  insertId: 'i',
  userId: '',
  deviceId: '',
  sessionId: '',
  library: '',
  origin: 'unknown',
  ip: '',
  userAgent: '',
  geography: {},
  receivedAt: 0,
  eventProperties: {},
  userProperties: {},
  ...more,
});
const ONE = '01890a5d-ac96-774b-bcce-b302099a8057';
const OTHER = '01890a5d-ac96-774b-bcce-b302099a8058';

function namesOf(block: EventBlock, projectId = ONE): string[] {
  const names = [...(block.names.projects.get(projectId)?.names() ?? [])];
  return names.map(({ kind, field, name, events }: CatalogName) => `${kind} ${field} ${name} ${events}`);
}

test('collects event types, property keys with types, and values, each with its number of events', () => {
  const block = new EventBlock();
  block.add(event(ONE, { eventProperties: { plan: 'pro', seats: 3, trial: true, coupon: null } }), true);
  block.add(event(ONE, { eventProperties: { plan: 'free', seats: '4' }, userProperties: { plan: 'pro' } }), true);
  block.add(event(ONE, { eventProperties: { plan: 'pro' }, geography: { country: 'DE' } }), true);
  expect(namesOf(block)).toEqual(
    expect.arrayContaining([
      'event  signup 3',
      'key event_properties.plan string 3',
      'key event_properties.seats number 1',
      'key event_properties.seats string 1',
      'key event_properties.trial boolean 1',
      'key event_properties.coupon null 1',
      'value event_properties.plan pro 2',
      'value event_properties.plan free 1',
      'key user_properties.plan string 1',
      'value _country DE 1',
    ]),
  );
});

test('names that are asked for twice have the same counts, and empty texts are no values', () => {
  const block = new EventBlock();
  // As of one request: the client is the same object.
  const geography = {};
  for (const library of ['web', 'web', 'server', '']) block.add(event(ONE, { library, geography }), true);
  const names = namesOf(block);
  expect(namesOf(block)).toEqual(names);
  expect(names.filter((name) => name.startsWith('value '))).toEqual([
    ...['value _platform web 4', 'value _device_type desktop 4'],
    ...['value _library web 2', 'value _library server 1', 'value _ingest_origin unknown 4'],
  ]);
  expect(names).toContain('event  signup 4');
});

test('collects all event types of a block that has more of them than a catalog keeps', () => {
  const block = new EventBlock();
  const count = BOUNDS.catalogEvents + 100;
  for (let number = 0; number < count; number += 1) block.add(event(ONE, { eventType: `e${number}` }), true);
  const types = namesOf(block).filter((name) => name.startsWith('event '));
  expect(new Set(types)).toEqual(new Set(Array.from({ length: count }, (_, number) => `event  e${number} 1`)));
  expect(namesOf(block)).not.toContain('many event_type  0');
});

test('separates the names of projects whose rows alternate in a block', () => {
  const block = new EventBlock();
  for (const plan of ['a', 'b', 'a']) {
    block.add(event(ONE, { eventProperties: { plan } }), true);
    block.add(event(OTHER, { eventType: 'login', eventProperties: { size: plan } }), true);
  }
  expect(namesOf(block)).toContain('value event_properties.plan a 2');
  expect(namesOf(block).join()).not.toContain('size');
  expect(namesOf(block, OTHER)).toContain('event  login 3');
  expect(namesOf(block, OTHER)).toContain('key event_properties.size string 3');
});

test('collects no values of a field with a long text or many values, or that is known', () => {
  const block = new EventBlock((_project, field) => field === 'event_properties.known');
  for (let index = 0; index < 1002; index += 1) {
    const properties = { id: `id ${index}`, text: index === 500 ? 'x'.repeat(129) : 'short', known: 'value' };
    block.add(event(ONE, { eventType: 'x'.repeat(200), eventProperties: properties }), true);
  }
  const names = namesOf(block);
  for (const key of ['id', 'text', 'known']) expect(names).toContain(`many event_properties.${key}  0`);
  expect(names.join()).not.toContain('value event_properties');
  // The length of event types is not limited.
  expect(names).toContain(`event  ${'x'.repeat(200)} 1002`);
});

test('reports "many" above the limit of keys', () => {
  const block = new EventBlock();
  for (let index = 0; index < 60; index += 1) {
    const properties = Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`k${index * 100 + key}`, 'v']));
    block.add(event(ONE, { eventProperties: properties }), true);
  }
  const names = namesOf(block);
  expect(names.filter((name) => name.startsWith('key ')).length).toBe(5000);
  expect(names).toContain('many event_properties  0');
});
