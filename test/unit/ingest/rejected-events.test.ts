// Buffer of rejected events and ignored fields: what one project may fill of it.
import { expect, test } from 'vitest';
import { RejectedEvents } from '../../../src/ingest/rejected/events.js';
import { FIELDS_KEPT, SAMPLES_KEPT } from '../../../src/ingest/rejected/store.js';
import type { ProjectId } from '../../../src/platform/ids.js';
import { createLogger } from '../../../src/platform/log.js';
import type { Redis } from '../../../src/platform/redis/client.js';

/** Ignored fields and samples by project that a write contains. */
async function written(note: (rejected: RejectedEvents) => void): Promise<Map<string, string[]>> {
  const fields = new Map<string, string[]>();
  const transaction = new Proxy(
    {
      zadd: (key: string, _at: number, member: string) => {
        const project = key.split(':').at(-1) ?? '';
        fields.set(project, [...(fields.get(project) ?? []), member]);
      },
      exec: async () => [],
    },
    { get: (target, name) => Reflect.get(target, name) ?? (() => undefined) },
  );
  const redis = { multi: () => transaction } as unknown as Redis;
  const rejected = new RejectedEvents(redis, createLogger({ process: 'test', level: 'silent' }));
  note(rejected);
  await rejected.close();
  return fields;
}

const project = (number: number) => `p${number}` as ProjectId;
const names = (from: number) => Array.from({ length: 20 }, (_, index) => `field-${from + index}`);

test('projects that flood the waiting ignored fields leave room for those of another', async () => {
  const fields = await written((rejected) => {
    for (let number = 0; number < 60; number += 1) {
      for (let from = 0; from < 200; from += 20) rejected.noteIgnored(project(number), '/track', names(from), 1);
    }
    rejected.noteIgnored(project(60), '/track', ['timestamp', 'userId'], 1);
  });
  expect(fields.get('p0')).toHaveLength(FIELDS_KEPT);
  expect(fields.get('p60')).toEqual(['timestamp', 'userId']);
});

test('projects that flood the waiting samples leave room for that of another', async () => {
  const eventsOf = (number: number) =>
    Array.from({ length: 30 }, (_, n) => ({ reason: 'not_an_object', event: { number, n } }) as const);
  const samples = await written((rejected) => {
    for (let number = 0; number < 40; number += 1) rejected.note(project(number), eventsOf(number), 1);
    rejected.note(project(40), eventsOf(40).slice(0, 1), 1);
  });
  expect(samples.get('p0')).toHaveLength(SAMPLES_KEPT);
  expect(samples.get('p40')).toHaveLength(1);
});
