// Buffer of rejected events and ignored fields: what one project may fill of it.
import { expect, test } from 'vitest';
import { RejectedEvents } from '../../../src/ingest/rejected/events.js';
import { FIELDS_KEPT, type RejectedNotes, SAMPLES_KEPT } from '../../../src/ingest/rejected/store.js';
import type { ProjectId } from '../../../src/platform/ids.js';
import { createLogger } from '../../../src/platform/log.js';

/** What is saved at once. */
async function saved(note: (rejected: RejectedEvents) => void): Promise<RejectedNotes> {
  const writes: RejectedNotes[] = [];
  const log = createLogger({ process: 'test', level: 'silent' });
  const rejected = new RejectedEvents(async (notes) => void writes.push(notes), log);
  note(rejected);
  await rejected.close();
  const [written, ...more] = writes;
  if (written === undefined || more.length > 0) throw new Error(`saved ${writes.length} times`);
  return written;
}

const project = (number: number) => `p${number}` as ProjectId;
const of = (number: number) => (noted: { projectId: ProjectId }) => noted.projectId === project(number);
const names = (from: number) => Array.from({ length: 20 }, (_, index) => `field-${from + index}`);

test('projects that flood the waiting ignored fields leave room for those of another', async () => {
  const { ignored } = await saved((rejected) => {
    for (let number = 0; number < 60; number += 1) {
      for (let from = 0; from < 200; from += 20) rejected.noteIgnored(project(number), '/track', names(from), 1);
    }
    rejected.noteIgnored(project(60), '/track', ['timestamp', 'userId'], 1);
  });
  expect(ignored.filter(of(0))).toHaveLength(FIELDS_KEPT);
  expect(ignored.filter(of(60)).map(({ field }) => field)).toEqual(['timestamp', 'userId']);
});

test('projects that flood the waiting samples leave room for that of another', async () => {
  const eventsOf = (number: number) =>
    Array.from({ length: 30 }, (_, n) => ({ reason: 'not_an_object', event: { number, n } }) as const);
  const { samples } = await saved((rejected) => {
    for (let number = 0; number < 40; number += 1) rejected.note(project(number), eventsOf(number), 1);
    rejected.note(project(40), eventsOf(40).slice(0, 1), 1);
  });
  expect(samples.filter(of(0))).toHaveLength(SAMPLES_KEPT);
  expect(samples.filter(of(40))).toHaveLength(1);
});
