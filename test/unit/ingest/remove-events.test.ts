// Removal of events from an envelope: their bytes are deleted, and the remaining events are stored
// unchanged.
import { expect, test } from 'vitest';
import type { Envelope } from '../../../src/ingest/envelope.js';
import { removeEvents } from '../../../src/ingest/insert/remove-events.js';
import { type AcceptedEvent, replayEvents } from '../../../src/ingest/insert/replay-events.js';
import { createIdHash } from '../../../src/privacy/id-hash.js';

const ID_OF = (digit: number): string => String(digit).repeat(16);

/** The batch as it came, and header fields beside those that every envelope has. */
const envelopeOf = (events: readonly unknown[], header: Partial<Envelope['header']> = {}, batch = {}): Envelope => ({
  header: { v: 1, p: 'p', t: 1000, ip: '', ua: '', geo: {}, o: 'client', n: events.length, ...header },
  body: Buffer.from(JSON.stringify({ ...batch, events })),
});

const eventsOf = (envelope: Envelope | undefined): AcceptedEvent[] => {
  const events: AcceptedEvent[] = [];
  if (envelope !== undefined) replayEvents(envelope, (event) => events.push(event));
  return events;
};

const ofMallory = (event: AcceptedEvent): boolean => event.userId === 'mallory';

test('remaining events keep their generated ids, first-seen times and content', () => {
  const events = [
    { event_type: 'a', user_id: 'mallory' },
    { event_type: 'b', user_id: 'alice' },
    { event_type: 'c', user_id: 'mallory', insert_id: 'own-1' },
    {
      event_type: 'd',
      user_id: 'alice',
      insert_id: 'own-2',
      event_properties: { huge: 1, text: 'ä\ud800'.toWellFormed() },
    },
    { event_type: 'e', user_id: 'bob' },
  ];
  const envelope = envelopeOf(events, { ids: ID_OF(1) + ID_OF(2) + ID_OF(3), first: { 3: 500 } });
  const { envelope: rest, removed } = removeEvents(envelope, ofMallory);
  expect(removed.map(({ eventType }) => eventType)).toEqual(['a', 'c']);
  expect(eventsOf(rest)).toEqual(eventsOf(envelope).filter((event) => !ofMallory(event)));
  expect(rest?.header).toMatchObject({ n: 3, skip: [0, 2], ids: ID_OF(2) + ID_OF(3) });
  expect(rest?.body.toString()).not.toMatch(/mallory|own-1/);
});

test('numbers above a double are stored as before, also in lists', () => {
  const body =
    '{"events":[{"event_type":"a","user_id":"mallory"},{"event_type":"b","event_properties":{"n":1e999,"l":[1e999]}}]}';
  const envelope = { ...envelopeOf([0, 0], { ids: ID_OF(1) + ID_OF(2) }), body: Buffer.from(body) };
  const [before, after] = [envelope, removeEvents(envelope, ofMallory).envelope].map(
    (some) => eventsOf(some).at(-1)?.eventProperties,
  );
  expect(String(after?.n)).toBe('Infinity');
  expect(JSON.stringify(after?.l)).toBe(JSON.stringify(before?.l));
});

test('unknown fields of any depth are removed', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const rest = ['junk', 'time', 'library', 'origin', 'user_properties', 'geo'].map((field) => `"${field}":${deep}`);
  const body = `{"events":[{"event_type":"a","user_id":"mallory"},{"event_type":"b","insert_id":"1",${rest.join()}}]}`;
  const envelope = { ...envelopeOf([0, 0], { ids: ID_OF(1) }), body: Buffer.from(body) };
  const { envelope: remaining } = removeEvents(envelope, ofMallory);
  expect(eventsOf(remaining)).toEqual(eventsOf(envelope).filter((event) => !ofMallory(event)));
  expect(remaining?.body.toString()).toBe('{"events":[null,{"event_type":"b","insert_id":"1"}]}');
});

test('events that were skipped by the API are removed as well', () => {
  const envelope = envelopeOf([{ user_id: 'mallory' }, { event_type: 'b', insert_id: '1' }], { n: 1, skip: [0] });
  const { envelope: rest, removed } = removeEvents(envelope, ofMallory);
  expect(removed).toEqual([]);
  expect(eventsOf(rest)).toEqual(eventsOf(envelope));
  expect(rest?.body.toString()).not.toContain('mallory');
});

test('remaining events keep their generated ids behind one that was skipped', () => {
  const events = [{ user_id: 'alice' }, { event_type: 'a', user_id: 'mallory' }, { event_type: 'b', user_id: 'alice' }];
  const envelope = envelopeOf(events, { n: 2, skip: [0], ids: ID_OF(1) + ID_OF(2) });
  const { envelope: rest } = removeEvents(envelope, ofMallory);
  expect(eventsOf(rest)).toEqual(eventsOf(envelope).filter((event) => !ofMallory(event)));
  expect(rest?.header).toMatchObject({ n: 1, skip: [0, 1], ids: ID_OF(2) });
});

test('returns the same envelope when nothing is removed, and undefined when everything is', () => {
  const other = envelopeOf([{ event_type: 'a', insert_id: '1' }]);
  expect(removeEvents(other, ofMallory).envelope).toBe(other);
  const single: Envelope = { ...other, body: Buffer.from('{"event_type":"a","user_id":"mallory","insert_id":"1"}') };
  expect(removeEvents(single, ofMallory)).toMatchObject({ envelope: undefined, removed: [{ insertId: '1' }] });
});

test('an id hash depends on id, kind, project and key', () => {
  const hashId = createIdHash('k'.repeat(32));
  const id = { projectId: 'p', kind: 'user', id: 'alice' } as const;
  const hashes = [
    hashId(id),
    hashId({ ...id, id: 'bob' }),
    hashId({ ...id, kind: 'device' }),
    hashId({ ...id, projectId: 'q' }),
    createIdHash('l'.repeat(32))(id),
  ];
  expect(new Set(hashes).size).toBe(5);
  expect(createIdHash('k'.repeat(32))(id)).toBe(hashes[0]);
});
