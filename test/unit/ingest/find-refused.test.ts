import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visitEvents } from '../../../src/ingest/events.js';
import { storeAllButRefused } from '../../../src/ingest/find-refused.js';
import type { Frame } from '../../../src/ingest/frame.js';

class Refusal extends Error {}

const idsOf = (frames: readonly Frame[]): string[] => {
  const ids: string[] = [];
  for (const frame of frames) visitEvents(frame, ({ insertId }) => ids.push(insertId));
  return ids;
};

const framesOf = (requests: readonly boolean[][]): Frame[] =>
  requests.map((events, frame) => ({
    header: { v: 1, p: 'p', t: 1, ip: '', ua: '', geo: {}, o: 'unknown', n: events.length },
    body: Buffer.from(
      JSON.stringify({
        events: events.map((isBad, at) => ({ event_type: 'a', insert_id: `${frame}-${at}-${isBad ? 'bad' : 'good'}` })),
      }),
    ),
  }));

test('exactly what is refused comes back, and everything else is stored once', async () => {
  const requests = fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(requests, async (events) => {
      const frames = framesOf(events);
      const stored: string[] = [];
      const store = async (some: readonly Frame[]) => {
        if (idsOf(some).some((id) => id.endsWith('bad'))) throw new Refusal();
        stored.push(...idsOf(some));
      };
      const refused = await storeAllButRefused(frames, { store, isRefused: (error) => error instanceof Refusal });
      const isBad = (id: string) => id.endsWith('bad');
      expect(idsOf(refused)).toEqual(idsOf(frames).filter(isBad));
      expect(stored.sort()).toEqual(
        idsOf(frames)
          .filter((id) => !isBad(id))
          .sort(),
      );
    }),
  );
});

test('an outage in between is passed on, so that the whole is tried again', async () => {
  const store = () => Promise.reject(new Error('away'));
  await expect(storeAllButRefused(framesOf([[true]]), { store, isRefused: () => false })).rejects.toThrow('away');
});
