// Batches of the import within the limits of /track.
import { expect, test } from 'vitest';
import { BatchBuilder } from '../../../src/imports/batches.js';

function batchesOf(events: readonly object[], limits: { eventsMax: number; bytesMax: number }): string[] {
  const builder = new BatchBuilder(limits);
  const full = events.flatMap((event) => builder.add(event) ?? []);
  return [...full, ...[builder.take()].flatMap((last) => last ?? [])].map((batch) => batch.body);
}

test('a batch holds no more events than allowed, in order', () => {
  const bodies = batchesOf([{ n: 1 }, { n: 2 }, { n: 3 }], { eventsMax: 2, bytesMax: 1000 });
  expect(bodies).toEqual(['{"events":[{"n":1},{"n":2}]}', '{"events":[{"n":3}]}']);
});

test('a batch has no more bytes than allowed', () => {
  const events = Array.from({ length: 40 }, (_, n) => ({ text: 'я'.repeat(n) }));
  const bodies = batchesOf(events, { eventsMax: 1000, bytesMax: 150 });
  expect(Math.max(...bodies.map((body) => Buffer.byteLength(body)))).toBeLessThanOrEqual(150);
  expect(bodies.flatMap((body) => JSON.parse(body).events)).toEqual(events);
});

test('no events make no batch', () => {
  expect(batchesOf([], { eventsMax: 2, bytesMax: 100 })).toEqual([]);
});

test('each batch has as many events as fit', () => {
  // A frame of 13 bytes, and 8 for each event.
  const builder = new BatchBuilder({ eventsMax: 100, bytesMax: 50 });
  const full = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => builder.add({ n })?.events);
  expect([...full, builder.take()?.events].filter(Boolean)).toEqual([4, 4, 1]);
});
