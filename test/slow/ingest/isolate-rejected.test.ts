// Property test of isolateRejected: random requests, of which ClickHouse rejects some events.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Envelope } from '../../../src/ingest/envelope.js';
import { isolateRejected } from '../../../src/ingest/insert/isolate-rejected.js';
import { replayEvents } from '../../../src/ingest/insert/replay-events.js';

class Refusal extends Error {}

const idsOf = (envelopes: readonly Envelope[]): string[] => {
  const ids: string[] = [];
  for (const envelope of envelopes) replayEvents(envelope, ({ insertId }) => ids.push(insertId));
  return ids;
};

const envelopesOf = (requests: readonly boolean[][]): Envelope[] =>
  requests.map((events, envelope) => ({
    header: { v: 1, p: 'p', t: 1, ip: '', ua: '', geo: {}, o: 'unknown', n: events.length },
    body: Buffer.from(
      JSON.stringify({
        events: events.map((isBad, at) => ({
          event_type: 'a',
          insert_id: `${envelope}-${at}-${isBad ? 'bad' : 'good'}`,
        })),
      }),
    ),
  }));

test('isolateRejected() returns exactly the rejected events and stores all others once', async () => {
  const requests = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(requests, async (events) => {
      const envelopes = envelopesOf(events);
      const stored: string[] = [];
      const store = async (some: readonly Envelope[]) => {
        if (idsOf(some).some((id) => id.endsWith('bad'))) throw new Refusal();
        stored.push(...idsOf(some));
      };
      const refused = await isolateRejected(envelopes, { store, isRefused: (error) => error instanceof Refusal });
      const isBad = (id: string) => id.endsWith('bad');
      expect(idsOf(refused)).toEqual(idsOf(envelopes).filter(isBad));
      expect(stored.sort()).toEqual(
        idsOf(envelopes)
          .filter((id) => !isBad(id))
          .sort(),
      );
    }),
  );
});

test('isolateRejected() rethrows a transient error, so that the job is retried', async () => {
  const store = () => Promise.reject(new Error('unavailable'));
  await expect(isolateRejected(envelopesOf([[true]]), { store, isRefused: () => false })).rejects.toThrow(
    'unavailable',
  );
});
