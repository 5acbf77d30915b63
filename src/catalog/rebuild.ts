// Finds all names of a project in its stored events and profiles: for projects from before the
// catalog, and after erasures. Keys are counted first; values are read only of fields that have
// few.
import type { ClickHouseClient } from '../platform/clickhouse/client.js';
import { READ_ONLY } from '../platform/clickhouse/client.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { ProjectId } from '../platform/ids.js';
import type { StepProgress } from '../platform/progress.js';
import type { AnyBag } from '../query/fields.js';
import {
  type CatalogName,
  EVENT_TYPES,
  isPersonal,
  isStorable,
  propertyField,
  VALUE_COLUMN_NAMES,
  VALUE_COLUMNS,
} from './names.js';

/** Other queries go first. */
const SETTINGS = {
  ...READ_ONLY,
  max_threads: 1,
  os_threads_nice_value_query: 10,
  max_execution_time: 280,
  max_memory_usage: String(1024 ** 3),
  max_bytes_before_external_group_by: String(256 * 1024 ** 2),
} as const;

interface Source {
  readonly bag: AnyBag;
  readonly table: string;
  readonly prefix: 'ep' | 'up' | 'props';
}

const SOURCES: readonly Source[] = [
  { bag: 'event_properties', table: 'events', prefix: 'ep' },
  { bag: 'user_properties', table: 'events', prefix: 'up' },
  { bag: 'user', table: 'profiles FINAL', prefix: 'props' },
];

/** Reads of a project with events: its types, each column, four or five of each source. */
const READS_MAX = 1 + VALUE_COLUMN_NAMES.length + SOURCES.length * 5;

/** `progress` is of this project. */
export async function findNames(
  clickhouse: ClickHouseClient,
  projectId: ProjectId,
  progress?: StepProgress,
): Promise<CatalogName[]> {
  let done = 0;
  const ask = async <T>(query: string, params: Record<string, unknown> = {}): Promise<T[]> => {
    progress?.update({ step: 'finding the names of events and properties', done, total: READS_MAX, unit: 'reads' });
    const result = await clickhouse.query({
      query,
      query_params: { projectId, ...params },
      use_multipart_params_auto: true,
      clickhouse_settings: SETTINGS,
      format: 'JSONEachRow',
    });
    done += 1;
    return result.json<T>();
  };
  const names = await findEventTypes(ask);
  if (names.length > 0) names.push(...(await findColumnValues(ask)));
  for (const source of SOURCES) {
    if (source.table === 'events' && names.length === 0) continue;
    names.push(...(await findProperties(ask, source, roomFor(names))));
  }
  return names.filter(({ field, name }) => isStorable(field) && isStorable(name));
}

type Ask = <T>(query: string, params?: Record<string, unknown>) => Promise<T[]>;

const OF_PROJECT = 'project_id = {projectId:UUID}';

const many = (field: string): CatalogName => ({ kind: 'many', field, name: '', events: 0 });

/** Values that a project may still have. */
const roomFor = (names: readonly CatalogName[]): number =>
  BOUNDS.catalogValues - names.filter(({ kind }) => kind === 'value').length;

async function findEventTypes(ask: Ask): Promise<CatalogName[]> {
  const rows = await ask<{ name: string; events: number }>(
    `SELECT event_type AS name, count() AS events FROM events WHERE ${OF_PROJECT}
     GROUP BY name ORDER BY events DESC LIMIT ${BOUNDS.catalogEvents + 1}`,
  );
  const names = rows.slice(0, BOUNDS.catalogEvents).map((row) => ({ kind: 'event' as const, field: '', ...row }));
  return rows.length > names.length ? [...names, many(EVENT_TYPES)] : names;
}

async function findColumnValues(ask: Ask): Promise<CatalogName[]> {
  const found: CatalogName[] = [];
  for (const column of VALUE_COLUMN_NAMES) {
    const field = VALUE_COLUMNS[column];
    const rows = await ask<{ name: string; events: number }>(
      `SELECT toString(${column}) AS name, count() AS events FROM events WHERE ${OF_PROJECT} AND ${column} != ''
       GROUP BY name ORDER BY events DESC LIMIT ${BOUNDS.catalogFieldValues + 1}`,
    );
    const isMany =
      rows.length > BOUNDS.catalogFieldValues || rows.some(({ name }) => name.length > BOUNDS.catalogValueLength);
    if (isMany) found.push(many(field));
    else found.push(...rows.map((row) => ({ kind: 'value' as const, field, ...row })));
  }
  return found;
}

interface KeyRow {
  readonly key: string;
  readonly events: number;
  /** Estimated. */
  readonly distinct: number;
  readonly longest: number;
}

async function findProperties(ask: Ask, { bag, table, prefix }: Source, room: number): Promise<CatalogName[]> {
  const count = (keys: string): Promise<KeyRow[]> =>
    ask(`SELECT key, count() AS events, 0 AS distinct, 0 AS longest FROM ${table} ARRAY JOIN ${keys} AS key
      WHERE ${OF_PROJECT} GROUP BY key ORDER BY events DESC LIMIT ${BOUNDS.catalogKeys + 1}`);
  const texts = await ask<KeyRow>(
    `SELECT key, count() AS events, uniqCombined(12)(value) AS distinct, max(lengthUTF8(value)) AS longest
     FROM ${table} ARRAY JOIN mapKeys(${prefix}_str) AS key, mapValues(${prefix}_str) AS value
     WHERE ${OF_PROJECT} GROUP BY key ORDER BY events DESC LIMIT ${BOUNDS.catalogKeys + 1}`,
  );
  const byType = {
    string: texts,
    // A numeric text is in both maps.
    number: await count(`arrayFilter(key -> NOT mapContains(${prefix}_str, key), mapKeys(${prefix}_num))`),
    boolean: await count(`mapKeys(${prefix}_bool)`),
    // Profiles store no null.
    null: bag === 'user' ? [] : await count(`${prefix}_null`),
  };
  const names = Object.entries(byType).flatMap(([name, rows]) =>
    rows.map(({ key, events }): CatalogName => ({ kind: 'key', field: propertyField(bag, key), name, events })),
  );
  const kept = names.slice(0, BOUNDS.catalogKeys);
  const overflow = kept.length < names.length ? [many(bag)] : [];
  return [
    ...kept,
    ...overflow,
    ...(await findValues(ask, { bag, table, prefix }, texts.slice(0, BOUNDS.catalogKeys), room)),
  ];
}

async function findValues(
  ask: Ask,
  { bag, table, prefix }: Source,
  texts: readonly KeyRow[],
  room: number,
): Promise<CatalogName[]> {
  let left = room;
  const few = texts.filter(({ key, distinct, longest }) => {
    if (isPersonal(propertyField(bag, key))) return false;
    const fits = distinct <= BOUNDS.catalogFieldValues && longest <= BOUNDS.catalogValueLength && distinct <= left;
    if (fits) left -= distinct;
    return fits;
  });
  const keys = new Set(few.map(({ key }) => key));
  const rows =
    few.length === 0
      ? []
      : await ask<{ key: string; name: string; events: number }>(
          `SELECT key, value AS name, count() AS events
           FROM ${table} ARRAY JOIN mapKeys(${prefix}_str) AS key, mapValues(${prefix}_str) AS value
           WHERE ${OF_PROJECT} AND key IN {keys:Array(String)} AND value != ''
           GROUP BY key, value ORDER BY events DESC LIMIT {room:UInt32}`,
          { keys: [...keys], room },
        );
  const values = rows.map(
    ({ key, name, events }): CatalogName => ({ kind: 'value', field: propertyField(bag, key), name, events }),
  );
  return [...values, ...texts.filter(({ key }) => !keys.has(key)).map(({ key }) => many(propertyField(bag, key)))];
}
