// Which rows of events an export has, as a condition of SQL: those of a person, with the events of
// their devices, or those of a project.
import { type ClickHouseClient, READ_ONLY } from '../platform/clickhouse/client.js';
import { inParameters } from '../platform/clickhouse/parameter-fields.js';
import type { EventsExport, PersonExport } from './export-request.js';

export interface Selection {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Columns that order the events of a slice. */
  readonly order: readonly ['time', 'insert_id', 'event_type'] | readonly ['event_type', 'time', 'insert_id'];
  /** Events of the first slice and of later ones, at most. */
  readonly sliceEvents: { readonly first: number; readonly later: number };
  /** Of the queries that read the events. */
  readonly settings: { readonly max_threads?: number };
}

// Twice as many use a sixth less CPU in ClickHouse, and about 100 MB more memory (one run each).
const PERSON_SLICE_EVENTS = { first: 2_500, later: 20_000 };
/**
 * A slice reads a block of the table for each type of event: with 50 types, 20,000 cost twice the
 * CPU, and 300,000 the same.
 */
const PROJECT_SLICE_EVENTS = 100_000;

export function selectProject({ projectId, fromMs, untilMs }: EventsExport): Selection {
  const conditions = ['project_id = {project:UUID}'];
  if (fromMs !== undefined) conditions.push("time >= fromUnixTimestamp64Milli({first:Int64}, 'UTC')");
  if (untilMs !== undefined) conditions.push("time < fromUnixTimestamp64Milli({end:Int64}, 'UTC')");
  return {
    sql: conditions.join(' AND '),
    params: { project: projectId, first: fromMs, end: untilMs },
    // That of the table, in which rows are read as they lie: sorting a slice by time took twice the
    // CPU and ten times the memory (a million events of 50 types).
    order: ['event_type', 'time', 'insert_id'],
    sliceEvents: { first: PROJECT_SLICE_EVENTS, later: PROJECT_SLICE_EVENTS },
    // It may run for hours beside queries, and more threads are no faster: its reader is slower.
    settings: { max_threads: 1 },
  };
}

/**
 * Passes ids as literal lists: ClickHouse looks them up as a set and uses the indexes on their
 * hashes, and the embedded engine can stream the result, because there is no subquery. The text is
 * compared as well, because hashes can collide.
 */
export async function selectPerson(
  clickhouse: ClickHouseClient,
  person: PersonExport,
  signal: AbortSignal,
): Promise<Selection> {
  const { projectId, userId } = person;
  const devices = await findDevices(clickhouse, person, signal);
  const params: Record<string, unknown> = { project: projectId, user: userId };
  const ofDevices = inParameters(devices.map(({ id }) => id)).map((ids, list) => {
    const some = new Set(ids);
    params[`devices${list}`] = ids;
    params[`hashes${list}`] = devices.filter(({ id }) => some.has(id)).map(({ hash }) => hash);
    return `device_hash IN {hashes${list}:Array(UInt64)} AND device_id IN {devices${list}:Array(String)}`;
  });
  return {
    sql: `project_id = {project:UUID} AND (
    user_hash = sipHash64({user:String}) AND user_id = {user:String}
    OR user_hash = 0 AND (${ofDevices.join(' OR ') || 'false'}))`,
    params,
    order: ['time', 'insert_id', 'event_type'],
    sliceEvents: PERSON_SLICE_EVENTS,
    settings: {},
  };
}

type Devices = readonly { readonly id: string; readonly hash: bigint }[];

// The devices mapped to the person, and an unmapped device whose id equals the user id.
const DEVICES = `
  SELECT device_id, toString(device_hash) FROM device_map FINAL
  WHERE project_id = {project:UUID} AND user_hash = sipHash64({user:String}) AND user_id = {user:String}
  UNION ALL
  SELECT {user:String}, toString(sipHash64({user:String}))
  WHERE {user:String} NOT IN (
    SELECT device_id FROM device_map FINAL WHERE project_id = {project:UUID} AND device_id = {user:String}
  )`;

async function findDevices(
  clickhouse: ClickHouseClient,
  { projectId, userId }: PersonExport,
  signal: AbortSignal,
): Promise<Devices> {
  const result = await clickhouse.query({
    query: DEVICES,
    query_params: { project: projectId, user: userId },
    format: 'JSONCompactEachRow',
    abort_signal: signal,
    clickhouse_settings: READ_ONLY,
  });
  const rows = await result.json<[id: string, hash: string]>();
  return rows.map(([id, hash]) => ({ id, hash: BigInt(hash) }));
}
