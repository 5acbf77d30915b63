// Isolation of tenants: a history gives identical answers, in every format, alone and beside
// projects with the same ids, keys, sessions, profiles and choices. The rows of golden queries are
// compared beside other projects, too (test/golden/neighbours.ts).
import fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { formatCsv } from '../../src/query/csv.js';
import { formatLlm } from '../../src/query/markdown.js';
import { formatJson } from '../../src/query-api/formats/json.js';
import type { Answer } from '../../src/query-api/shape.js';
import { rounds, SOURCES } from '../oracle/generate-questions.js';
import { type Event, type History, PROJECT as MAIN } from '../oracle/history.js';
import { toQueryText } from '../oracle/to-query-text.js';
import { type OracleService, startOracleService } from '../support/oracle-service.js';

const RUNS = Number(process.env.TENANT_RUNS ?? 2);
const TIME_LIMIT_MS = 300_000;
/** Shrinking that takes too long ends with the smallest case so far, instead of a test timeout. */
const UNTIL_THE_LIMIT = { interruptAfterTimeLimit: TIME_LIMIT_MS - 30_000 };

/** Without rows read and duration, which are all that other projects may change. */
function inEveryFormat(q: string, answered: Answer): string {
  const same = { ...answered, rowsScanned: 0, elapsedMs: 0 };
  return [formatJson(same), formatCsv(same), formatLlm(same, q)].join('\n\n');
}

let service: OracleService;

beforeAll(async () => {
  service = await startOracleService();
});

afterAll(() => service?.close());

const isMain = ({ project }: { readonly project: string }): boolean => project === MAIN;

function aloneOf({ events, mappings, profiles }: History): History {
  return { events: events.filter(isMain), mappings: mappings.filter(isMain), profiles: profiles.filter(isMain) };
}

/**
 * Rows of other projects come before and after, so that code that takes the first or the last of
 * equal rows takes a wrong one.
 */
function besideOthers({ events, mappings, profiles }: History): History {
  const devices = [...new Set(events.map((event) => event.device_id).filter((id) => id !== null))];
  const others = (project: string): History => ({
    events: events.flatMap((event) => [copyOf(event, project, ''), copyOf(event, project, '~')]),
    mappings: devices.map((device_id) => ({ project, device_id, user_id: 'mallory', updated_at: 4e12 })),
    profiles: profiles.map((profile) => ({ ...profile, project, properties: { plan: 'secret', seats: 1e9 } })),
  });
  const [before, after] = [others('before'), others('after')];
  return {
    events: [...before.events, ...events, ...after.events],
    mappings: [...before.mappings, ...mappings, ...after.mappings],
    profiles: [...before.profiles, ...profiles, ...after.profiles],
  };
}

const copyOf = (event: Event, project: string, mark: string): Event => ({
  ...event,
  project,
  insert_id: event.insert_id + mark,
  user_id: mark === '' ? event.user_id : 'mallory',
  event_properties: { ...event.event_properties, plan: 'secret' },
  derived: { ...event.derived, _path: '/secret', _geo_country: 'XX' },
});

test.each(SOURCES)(
  'answers of %s are unchanged beside other projects',
  async (source) => {
    const isUnchanged = fc.asyncProperty(rounds(source), async ({ context, history, questions }) => {
      const own = aloneOf(history);
      const stored = [own, besideOthers(own)].map((one) => ({ history: one, context }));
      const [askAlone, askBeside] = await service.store(stored);
      if (askAlone === undefined || askBeside === undefined) throw new Error('both histories have a query function');
      for (const question of questions) {
        const q = toQueryText(question);
        const expected = inEveryFormat(q, await askAlone(q));
        if (inEveryFormat(q, await askBeside(q)) !== expected) throw new Error(`a neighbour changes ${q}`);
      }
    });
    await fc.assert(isUnchanged, { numRuns: RUNS, ...UNTIL_THE_LIMIT });
  },
  TIME_LIMIT_MS,
);
