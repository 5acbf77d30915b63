// Deletion of events without a hostname that come again with one: any number, with ids of any
// length, in statements that the server reads.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Envelope } from '../../src/ingest/envelope.js';
import { deleteHostless } from '../../src/ingest/insert/replace-hostless.js';
import { createTestDatabases, type TestDatabases } from '../support/stack.js';
import { type EventStore, openEventStore } from '../support/track.js';

let databases: TestDatabases;
let store: EventStore;

beforeAll(async () => {
  databases = await createTestDatabases();
  store = openEventStore(databases);
});

afterAll(async () => {
  await store?.client.close();
  await databases?.close();
});

const T = Date.UTC(2026, 5, 1);
const PAGE = { url: 'https://shop.example/a' };

test.each([
  ['short ids', 2000, (n: number) => String(n)],
  ['ids of the maximum length that are escaped', 600, (n: number) => `${n}`.padStart(512, "\\'")],
  ['ids of two-byte characters', 600, (n: number) => `${n}`.padStart(512, 'ä')],
])('deleteHostless() deletes events with %s, and no others', async (_name, count, idOf) => {
  const project = randomUUID();
  const ids = Array.from({ length: count }, (_, n) => idOf(n));
  await store.client.insert({
    table: 'events',
    format: 'JSONEachRow',
    values: [...ids, 'stays'].map((insert_id) => ({
      ...{ project_id: project, event_type: 'view', insert_id, hostname: '' },
      ...{ time: '2026-06-01 00:00:00.000', received_at: '2026-06-01 00:00:00.000' },
    })),
  });
  const events = ids.map((insert_id) => ({
    ...{ event_type: 'view', insert_id, event_properties: PAGE },
    time: new Date(T).toISOString(),
  }));
  const body = Buffer.from(JSON.stringify({ events }));
  const header = { v: 1, p: project, t: T, host: true } as unknown as Envelope['header'];
  expect(await store.count(project)).toBe(count + 1);
  await deleteHostless(store.client, [{ header, body }]);
  expect(await store.rows(project, 'insert_id')).toEqual([{ insert_id: 'stays' }]);
  await deleteHostless(store.client, [{ header, body }]);
});
