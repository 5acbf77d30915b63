// Ingest lag from the record of the canary.
import { expect, test } from 'vitest';
import { type CanaryRecord, lagSeconds } from '../../../src/ingest/canary.js';

const NOW = 1_000_000_000;
const ago = (seconds: number) => NOW - seconds * 1000;

test.each<[what: string, record: Partial<CanaryRecord>, seconds: number]>([
  ['arrived', { sentAt: ago(30), storedAt: ago(29.6), lagMs: 400 }, 0.4],
  [
    'just sent, previous canary arrived',
    { sentAt: ago(0.1), missingSince: ago(0.1), storedAt: ago(59), lagMs: 400 },
    0.4,
  ],
  ['overdue', { sentAt: ago(20), missingSince: ago(20), storedAt: ago(79), lagMs: 400 }, 20],
  ['three missing in a row', { sentAt: ago(20), missingSince: ago(140), storedAt: ago(199), lagMs: 400 }, 140],
  ['no further canary is sent', { sentAt: ago(600), storedAt: ago(599), lagMs: 400 }, 599],
  ['the first canary has not arrived yet', { sentAt: ago(5), missingSince: ago(5) }, 5],
])('lagSeconds(): %s', (_what, record, seconds) => {
  const complete = { sentAt: NOW, missingSince: undefined, storedAt: undefined, lagMs: 0, ...record };
  expect(lagSeconds(complete, NOW)).toBe(seconds);
});
