// Isolation of tenants: a history gives identical answers, in every format, alone and beside
// projects with the same ids, keys, sessions, profiles and choices, and much more data.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatCsv } from '../../src/query/csv.js';
import { formatLlm } from '../../src/query/markdown.js';
import { formatJson } from '../../src/query-api/formats/json.js';
import type { Answer } from '../../src/query-api/shape.js';
import { EVENT_ROWS, MAPPING_ROWS, PROFILE_ROWS, PROJECT } from '../golden/dataset.js';
import { readGoldenFiles } from '../golden/golden-file.js';
import { rounds, SOURCES } from '../oracle/generate-questions.js';
import { type Event, type History, PROJECT as MAIN } from '../oracle/history.js';
import { toQueryText } from '../oracle/to-query-text.js';
import { type OracleService, startOracleService } from '../support/oracle-service.js';
import { type QueryService, startQueryService } from '../support/query-service.js';

const RUNS = Number(process.env.TENANT_RUNS ?? 2);
const TIME_LIMIT_MS = 300_000;
/** Shrinking that takes too long ends with the smallest case so far, instead of a test timeout. */
const UNTIL_THE_LIMIT = { interruptAfterTimeLimit: TIME_LIMIT_MS - 30_000 };

/** Without rows read and duration, which are all that other projects may change. */
function inEveryFormat(q: string, answered: Answer): string {
  const same = { ...answered, rowsScanned: 0, elapsedMs: 0 };
  return [formatJson(same), formatCsv(same), formatLlm(same, q)].join('\n\n');
}

describe('answers of golden queries beside other projects', () => {
  type Row = Readonly<Record<string, unknown>>;
  const NEIGHBOURS = Array.from({ length: 3 }, () => randomUUID());
  const COPIES = 20;

  let service: QueryService;
  const insert = async (table: string, values: Row[]) => {
    await service.clickhouse.insert({ table, values, format: 'JSONEachRow' });
  };
  const ofProject = (rows: readonly Row[]): Row[] => rows.filter((row) => row.project_id === PROJECT);
  const ask = async (file: ReturnType<typeof readGoldenFiles>[number]) =>
    inEveryFormat(file.query, await service.ask(file.context.projectId, file.query, file.context));

  /** The same key once, and then others of the same ids at the same time. */
  const copiesOf = (row: Row, project_id: string): Row[] =>
    Array.from({ length: COPIES }, (_, copy) => ({
      ...row,
      project_id,
      insert_id: copy === 0 ? row.insert_id : `${row.insert_id}-${copy}`,
      user_id: copy % 3 === 0 ? row.user_id : 'mallory',
      ep_str: { ...(row.ep_str as object), plan: 'secret', secret: 'secret' },
      geo_country: 'XX',
      path: '/secret',
    }));

  // Every second one: each is asked twice, alone and beside the others.
  const files = readGoldenFiles().filter((file, index) => !file.expectsError && index % 2 === 0);
  const alone = new Map<string, string>();

  beforeAll(async () => {
    service = await startQueryService();
    await insert('events', ofProject(EVENT_ROWS));
    await insert('device_map', ofProject(MAPPING_ROWS));
    await insert('profiles', ofProject(PROFILE_ROWS));
    for (const file of files) alone.set(file.name, await ask(file));

    for (const project_id of NEIGHBOURS) {
      await insert(
        'events',
        ofProject(EVENT_ROWS).flatMap((row) => copiesOf(row, project_id)),
      );
      const devices = new Set(EVENT_ROWS.flatMap((row) => [row.device_id, row.user_id]));
      const updated_at = '2030-01-01 00:00:00.000000';
      await insert(
        'device_map',
        [...devices].map((device_id) => ({ project_id, device_id, user_id: 'mallory', updated_at })),
      );
      await insert(
        'profiles',
        ofProject(PROFILE_ROWS).map((row) => ({
          ...row,
          project_id,
          email: 'ann@example.com',
          props_str: { plan: 'secret', secret: 'secret' },
          version: 99,
          deleted: 0,
        })),
      );
    }
  }, 240_000);

  afterAll(() => service?.close());

  test.each(files)('$name is unchanged', async (file) => {
    expect(await ask(file)).toBe(alone.get(file.name));
  });
});

describe('answers of random questions beside other projects', () => {
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
    '%s are unchanged',
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
});
