// Copies the rows of a project from one shard to another, through this process: a stream in Native
// format from one server is the body of an insert into the other, which needs no connection between
// the servers. Events are copied month by month, and counts and checksums must agree on both sides.
import { randomUUID } from 'node:crypto';
import { finished } from 'node:stream/promises';
import { type ClickHouseClient, rowsOf } from '../platform/clickhouse/client.js';
import { requireWritten } from '../platform/clickhouse/failed-writes.js';
import type { ProjectId } from '../platform/ids.js';
import type { StepProgress } from '../platform/progress.js';
import { CLICKHOUSE_TABLES } from '../privacy/personal-data.js';
import type { Fence } from './move-fence.js';

export interface Copied {
  readonly table: string;
  readonly rows: number;
}

interface Part {
  readonly table: string;
  /** Month of the events as YYYYMM; undefined for all rows of a table. */
  readonly month: number | undefined;
}

interface Ends {
  readonly from: ClickHouseClient;
  readonly to: ClickHouseClient;
  readonly signal: AbortSignal;
  /** Rows are copied only while its table exists. */
  readonly fence: Fence;
  readonly progress?: StepProgress | undefined;
}

/** Nothing may be inserted for the project meanwhile. Throws when both sides differ afterwards. */
export async function copyProject(ends: Ends, projectId: ProjectId): Promise<readonly Copied[]> {
  const copied: Copied[] = [];
  const total = await countProject(ends.from, projectId);
  let done = 0;
  // Rows are seen block by block, also those of the part that is being copied.
  const read = async () => ({ ...COPYING, done: Math.max(done, await countProject(ends.to, projectId)), total });
  const watched = <T>(copy: () => Promise<T>): Promise<T> => ends.progress?.watch(read, copy) ?? copy();
  for (const { name: table } of CLICKHOUSE_TABLES) {
    const { columns, structure } = await columnsOf(ends.from, table);
    let rows = 0;
    for (const month of table === 'events' ? await monthsOf(ends.from, projectId) : [undefined]) {
      ends.signal.throwIfAborted();
      const part = await watched(() => copyPart(ends, { projectId, columns, structure, part: { table, month } }));
      rows += part;
      done += part;
    }
    copied.push({ table, rows });
  }
  return copied;
}

const COPYING = { step: 'copying rows of the project', unit: 'rows' } as const;

async function countProject(clickhouse: ClickHouseClient, projectId: ProjectId): Promise<number> {
  let total = 0;
  for (const { name } of CLICKHOUSE_TABLES) {
    const query = `SELECT toFloat64(count()) AS rows FROM ${name} WHERE project_id = {projectId:UUID}`;
    total += (await rowsOf<{ rows: number }>(clickhouse, query, { projectId }))[0]?.rows ?? 0;
  }
  return total;
}

/** Throws when one server lacks migrations of the other. */
export async function requireSameSchema({ from, to }: Pick<Ends, 'from' | 'to'>): Promise<void> {
  const read = (clickhouse: ClickHouseClient) =>
    rowsOf<{ name: string }>(clickhouse, 'SELECT DISTINCT name FROM schema_migrations ORDER BY name');
  const [one, other] = await Promise.all([read(from), read(to)]);
  if (JSON.stringify(one) !== JSON.stringify(other)) {
    throw new Error('the two shards have different migrations: run npm run migrate');
  }
}

interface Copying {
  readonly projectId: ProjectId;
  readonly columns: string;
  /** Columns with their types, quoted for a string literal. */
  readonly structure: string;
  readonly part: Part;
}

async function copyPart({ from, to, signal, fence }: Ends, copying: Copying): Promise<number> {
  const { columns, structure, part, projectId } = copying;
  const source = await from.exec({
    query: `SELECT ${columns} FROM ${rowsIn(part)} FORMAT Native`,
    query_params: { projectId, month: part.month ?? 0 },
    clickhouse_settings: { readonly: '2' },
    abort_signal: signal,
  });
  const { stream, response_headers } = await to.exec({
    query: `INSERT INTO ${part.table} (${columns}) SELECT ${columns} FROM input('${structure}')
      WHERE (SELECT count() FROM ${fence.table}) = 0 FORMAT Native`,
    query_id: `${fence.queryPrefix}${randomUUID()}`,
    values: source.stream,
    clickhouse_settings: INSERT_SETTINGS,
    abort_signal: signal,
  });
  await finished(stream.resume());
  await requireWritten(to, response_headers);
  const [there, here] = await Promise.all([checksumOf(from, copying), checksumOf(to, copying)]);
  if (there.rows !== here.rows || there.hash !== here.hash) {
    throw new Error(
      `${part.table} has ${here.rows} rows of the project after ${there.rows} were copied, or other values`,
    );
  }
  return Number(here.rows);
}

const INSERT_SETTINGS = {
  wait_end_of_query: 1,
  // The rows are distinct already.
  optimize_on_insert: 0,
  max_partitions_per_insert_block: '0',
} as const;

/**
 * Of profiles and mappings only the newest versions: merges on either side remove the others at any
 * time. Events have one row each.
 */
const rowsIn = ({ table, month }: Part): string =>
  month === undefined
    ? `${table} FINAL WHERE project_id = {projectId:UUID}`
    : `${table} WHERE project_id = {projectId:UUID} AND toYYYYMM(time) = {month:UInt32}`;

async function checksumOf(
  clickhouse: ClickHouseClient,
  { columns, part, projectId }: Copying,
): Promise<{ rows: string; hash: string }> {
  const [row] = await rowsOf<{ rows: string; hash: string }>(
    clickhouse,
    `SELECT toString(count()) AS rows, toString(sum(sipHash64(${columns}))) AS hash
     FROM ${rowsIn(part)}`,
    { projectId, month: part.month ?? 0 },
  );
  return row ?? { rows: '0', hash: '0' };
}

async function monthsOf(clickhouse: ClickHouseClient, projectId: ProjectId): Promise<number[]> {
  const rows = await rowsOf<{ month: number }>(
    clickhouse,
    'SELECT DISTINCT toYYYYMM(time) AS month FROM events WHERE project_id = {projectId:UUID} ORDER BY month',
    { projectId },
  );
  return rows.map(({ month }) => month);
}

/** Columns that are stored; the others are computed from them. */
async function columnsOf(clickhouse: ClickHouseClient, table: string): Promise<Omit<Copying, 'projectId' | 'part'>> {
  const rows = await rowsOf<{ name: string; type: string }>(
    clickhouse,
    `SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}
       AND default_kind NOT IN ('MATERIALIZED', 'ALIAS') ORDER BY position`,
    { table },
  );
  const structure = rows.map(({ name, type }) => `${name} ${type}`).join(', ');
  return {
    columns: rows.map(({ name }) => name).join(', '),
    structure: structure.replaceAll("'", "\\'"),
  };
}
