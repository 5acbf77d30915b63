// Exports of any length are read in constant memory: what an import keeps alive after a quarter of
// the records does not grow by the rest. `npm run bench -- import` measures a whole process.
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { runImport } from '../../../src/imports/run-import.js';
import { findSource } from '../../../src/imports/sources/table.js';

const RECORDS = 40_000;
const PEOPLE = 500;
const MEGABYTE = 1_000_000;
/** A record that is kept has at least 500 bytes: those of three quarters would be 15 MB. */
const GROWTH_MAX = 6 * MEGABYTE;
const LINES_PER_CHUNK = 500;
const START_MS = Date.UTC(2026, 0, 1);

type Vary = (record: Record<string, unknown>, number: number) => object;

const person = (number: number): string => `person-${(number * 7919) % PEOPLE}`;
const at = (number: number): Date => new Date(START_MS + number * 1000);

/** Each record has a time and an id of its own, as a year of an export has. */
const FORMS: readonly (readonly [source: string, fixture: string, line: number, vary: Vary])[] = [
  [
    'posthog',
    'posthog.ndjson',
    0,
    (record, n) => ({ ...record, uuid: `uuid-${n}`, timestamp: at(n).toISOString(), distinct_id: person(n) }),
  ],
  [
    'amplitude',
    'amplitude.ndjson',
    0,
    (record, n) => ({
      ...record,
      ...{ uuid: `uuid-${n}`, user_id: person(n) },
      event_time: at(n).toISOString().replace('T', ' ').replace('Z', '000'),
    }),
  ],
  [
    'ga4',
    'ga4.ndjson',
    0,
    (record, n) => ({ ...record, event_timestamp: String(at(n).getTime() * 1000), user_pseudo_id: person(n) }),
  ],
];

function* chunksOf(fixture: string, line: number, vary: Vary): Generator<Buffer> {
  const lines = readFileSync(`test/unit/imports/sources/fixtures/${fixture}`, 'utf8').split('\n');
  const record = JSON.parse(lines[line] ?? '') as Record<string, unknown>;
  for (let first = 0; first < RECORDS; first += LINES_PER_CHUNK) {
    const texts = Array.from({ length: LINES_PER_CHUNK }, (_, index) => JSON.stringify(vary(record, first + index)));
    yield Buffer.from(`${texts.join('\n')}\n`);
  }
}

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

test.each(FORMS)('%s', async (name, fixture, line, vary) => {
  const source = findSource(name);
  if (source === undefined) throw new Error(`no source ${name}`);
  const alive: number[] = [];
  let sampled = 0;
  let sent = 0;
  const send = async (body: string) => {
    const { events = [], calls = [] } = JSON.parse(body) as { events?: object[]; calls?: object[] };
    sent += events.length;
    return { accepted: events.length + calls.length };
  };
  const file = {
    name: fixture,
    open: async function* () {
      yield* chunksOf(fixture, line, vary);
    },
  };
  const summary = await runImport([file], {
    open: source.open({ site: undefined, timeZone: undefined }),
    clients: { track: send, identifyBatch: send },
    ...{ library: 'test/1', nowMs: START_MS + 365 * 86_400_000 },
    onProgress: ({ read }) => {
      if (read < sampled + RECORDS / 8) return;
      sampled = read;
      collectGarbage();
      alive.push(process.memoryUsage().heapUsed);
    },
  });
  expect([summary.read, summary.events, sent]).toEqual([RECORDS, RECORDS, RECORDS]);
  expect(alive.length).toBeGreaterThan(4);
  const [, quarter = 0, ...later] = alive;
  expect(Math.max(...later) - quarter).toBeLessThan(GROWTH_MAX);
});
