// Counts and deletes the rows of people in ClickHouse, both with the same condition. A deletion is
// a mutation, whose text ClickHouse stores, so it contains salted hashes instead of ids.
import { createHash, randomBytes } from 'node:crypto';
import { type ClickHouseClient, READ_ONLY } from '../platform/clickhouse/client.js';
import { inParameters } from '../platform/clickhouse/parameter-fields.js';
import type { ProjectId } from '../platform/ids.js';
import type { IdKind } from './id-hash.js';
import type { ClickHouseTable } from './personal-data.js';

/** A person or device, and the maximum value of the table's `order` that is deleted. */
export interface Bounded {
  readonly kind: IdKind;
  readonly id: string;
  readonly upTo: number;
}

export interface RowSet {
  readonly table: ClickHouseTable;
  readonly projectId: ProjectId;
  readonly people: readonly Bounded[];
}

// Keeps a statement well below 256 KiB, the default limit of the server.
const IDS_PER_STATEMENT = 1500;
// These statements must not appear in the query log.
const UNRECORDED = { log_queries: 0 } as const;

/** Rows by person: `user:<id>` or `device:<id>`. */
export async function countRows(clickhouse: ClickHouseClient, set: RowSet): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const { user, device } = set.table.columns;
  const id = device === undefined ? `${user?.id}` : `if(user_id = '', device_id, user_id)`;
  for (const condition of await conditionsOf(clickhouse, set)) {
    const result = await clickhouse.query({
      query: `SELECT if(user_id = '', 'device', 'user') AS kind, ${id} AS id, count() AS rows
        FROM ${set.table.name} WHERE ${condition.sql} GROUP BY kind, id`,
      query_params: condition.params,
      clickhouse_settings: { ...UNRECORDED, ...READ_ONLY },
      format: 'JSONEachRow',
    });
    for (const row of await result.json<{ kind: string; id: string; rows: string }>()) {
      const key = `${row.kind}:${row.id}`;
      counts.set(key, (counts.get(key) ?? 0) + Number(row.rows));
    }
  }
  return counts;
}

/** Resolves once no query returns the rows; rewrite-files.ts removes them from the files. */
export async function deleteRows(clickhouse: ClickHouseClient, set: RowSet): Promise<void> {
  for (const condition of await conditionsOf(clickhouse, set)) {
    await clickhouse.command({
      query: `DELETE FROM ${set.table.name} WHERE ${condition.sql}`,
      query_params: condition.params,
      clickhouse_settings: { ...UNRECORDED, lightweight_deletes_sync: '2' },
    });
  }
}

/** Calls `visit` with batches of the insert ids of events received after `sinceMs`. */
export async function visitInsertIds(
  clickhouse: ClickHouseClient,
  { sinceMs, ...set }: RowSet & { sinceMs: number },
  visit: (insertIds: string[]) => Promise<void>,
): Promise<void> {
  for (const condition of await conditionsOf(clickhouse, set)) {
    const result = await clickhouse.query({
      query: `SELECT insert_id FROM ${set.table.name}
        WHERE ${condition.sql} AND received_at >= fromUnixTimestamp64Milli({sinceMs:Int64})`,
      query_params: { ...condition.params, sinceMs },
      clickhouse_settings: { ...UNRECORDED, ...READ_ONLY },
      format: 'JSONEachRow',
    });
    for await (const rows of result.stream<{ insert_id: string }>()) {
      await visit(rows.map((row) => row.json().insert_id));
    }
  }
}

interface Condition {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

async function conditionsOf(clickhouse: ClickHouseClient, { table, projectId, people }: RowSet): Promise<Condition[]> {
  const meant = latestOfEach(people.filter(({ kind }) => table.columns[kind] !== undefined));
  const conditions: Condition[] = [];
  for (let at = 0; at < meant.length; at += IDS_PER_STATEMENT) {
    const some = meant.slice(at, at + IDS_PER_STATEMENT);
    const engineHashes = await engineHashesOf(clickhouse, some);
    const salt = randomBytes(16).toString('hex');
    const params: Record<string, unknown> = { projectId, salt };
    const branches = (['user', 'device'] as const).flatMap((kind) => {
      const column = table.columns[kind];
      const own = some.filter((person) => person.kind === kind);
      if (column === undefined || own.length === 0) return [];
      params[`${kind}Hashes`] = own.map(({ id }) => engineHashes.get(id));
      params[`${kind}Ids`] = own.map(({ id }) => saltedHash(salt, id));
      params[`${kind}UpTo`] = own.map(({ upTo }) => upTo);
      // The 64-bit hash finds the rows by index; the salted hash confirms the id and selects its
      // bound.
      const upTo = `transform(hex(SHA256(concat({salt:String}, ${column.id}))), {${kind}Ids:Array(String)}, {${kind}UpTo:Array(Int64)}, toInt64(-1))`;
      const also = column.also === undefined ? '' : ` AND ${column.also}`;
      return [`(${column.hash} IN {${kind}Hashes:Array(UInt64)}${also} AND ${table.order} <= ${upTo})`];
    });
    conditions.push({ sql: `project_id = {projectId:UUID} AND (${branches.join(' OR ')})`, params });
  }
  return conditions;
}

/** Keeps the latest bound of each person, which covers the earlier ones. */
function latestOfEach(people: readonly Bounded[]): Bounded[] {
  const latest = new Map<string, Bounded>();
  for (const person of people) {
    const key = `${person.kind}:${person.id}`;
    if ((latest.get(key)?.upTo ?? -1) < person.upTo) latest.set(key, person);
  }
  return [...latest.values()];
}

const saltedHash = (salt: string, id: string): string =>
  createHash('sha256').update(`${salt}${id}`).digest('hex').toUpperCase();

/**
 * Hashes are read as text and converted to BigInt, because a UInt64 exceeds the range of a number.
 */
async function engineHashesOf(clickhouse: ClickHouseClient, people: readonly Bounded[]): Promise<Map<string, bigint>> {
  const hashes = new Map<string, bigint>();
  for (const ids of inParameters(people.map(({ id }) => id))) {
    const result = await clickhouse.query({
      query: 'SELECT id, toString(sipHash64(id)) AS hash FROM (SELECT arrayJoin({ids:Array(String)}) AS id)',
      query_params: { ids },
      use_multipart_params: true,
      clickhouse_settings: { ...UNRECORDED, ...READ_ONLY },
      format: 'JSONEachRow',
    });
    for (const { id, hash } of await result.json<{ id: string; hash: string }>()) hashes.set(id, BigInt(hash));
  }
  return hashes;
}
