// Events whose names are properties of every object of JavaScript are imported as any other.
import { expect, test } from 'vitest';
import type { Source } from '../../../../src/imports/source.js';
import { amplitude } from '../../../../src/imports/sources/amplitude/read.js';
import { mixpanel } from '../../../../src/imports/sources/mixpanel/read.js';
import { posthog } from '../../../../src/imports/sources/posthog/read.js';
import { eventsOf, inputOf, mapAll } from '../../../support/imports.js';

const NAMES = ['constructor', 'toString', '__proto__'];

const SOURCES: readonly (readonly [source: Source, record: (name: string) => object])[] = [
  [amplitude, (name) => ({ event_type: name, uuid: 'a', user_id: 'u1', event_time: '2023-11-14 22:13:20' })],
  [mixpanel, (name) => ({ event: name, properties: { time: 1_700_000_000, distinct_id: 'u1', $browser: name } })],
  [posthog, (name) => ({ event: name, uuid: 'a', distinct_id: 'u1', timestamp: '2023-11-14T22:13:20Z' })],
];

test.each(SOURCES)('$name keeps events with inherited names', async (source, record) => {
  const text = NAMES.map((name) => JSON.stringify(record(name))).join('\n');
  expect(eventsOf(await mapAll(source, inputOf(text))).map((event) => event.event_type)).toEqual(NAMES);
});
