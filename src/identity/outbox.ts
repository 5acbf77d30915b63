// Transactional outbox from PostgreSQL to the ClickHouse projection. A change adds an outbox entry
// in its own transaction; the projector reads the current state, inserts it, and then deletes the
// entry. Rows may be written twice or out of order: the larger version wins.
import type { CatalogRecorder } from '../catalog/recorder.js';
import type { Shard } from '../platform/clickhouse/shards.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import type { Postgres, Transaction } from '../platform/postgres/client.js';
import { DeviceMapBlock, insertProjection, ProfileBlock } from './clickhouse-projection.js';
import type { OutboxDepth } from './metrics.js';
import type { Properties } from './property-ops.js';

const ROWS_AT_A_TIME = 1000;

interface OutboxRow {
  readonly id: string;
  readonly project_id: string;
  readonly kind: 'profile' | 'mapping';
  readonly key: string;
}

/**
 * The oldest entries of every project of the shard, equally many of each. The recursion finds the
 * projects by the index (a loose index scan), and the row locks make a deletion of these entries
 * (an erasure) wait for this projection. Entries of a project that is being moved wait.
 */
const NEXT_ENTRIES = `
WITH RECURSIVE projects AS (
  (SELECT project_id FROM identity_outbox ORDER BY project_id LIMIT 1)
  UNION ALL
  SELECT (SELECT o.project_id FROM identity_outbox o WHERE o.project_id > p.project_id ORDER BY o.project_id LIMIT 1)
  FROM projects p WHERE p.project_id IS NOT NULL
), turns AS (
  SELECT projects.project_id, ceil(${ROWS_AT_A_TIME}.0 / count(*) OVER ()) AS rows
  FROM projects LEFT JOIN project_placements AS placed ON placed.project_id = projects.project_id
  WHERE projects.project_id IS NOT NULL AND coalesce(placed.shard, 1) = ? AND coalesce(placed.state, 'home') = 'home'
)
SELECT entries.id, entries.project_id, entries.kind, entries.key
FROM turns CROSS JOIN LATERAL (
  SELECT id, project_id, kind, key FROM identity_outbox WHERE project_id = turns.project_id
  ORDER BY id LIMIT turns.rows FOR UPDATE SKIP LOCKED
) entries`;

export interface OutboxDeps {
  readonly postgres: Postgres;
  readonly shard: Pick<Shard, 'id' | 'clickhouse'>;
  readonly catalogs: CatalogRecorder;
}

/**
 * Resolves with the number of processed entries. Rows that no longer exist in PostgreSQL are
 * skipped; profiles beyond the bytes of one projection stay for the next.
 */
export async function projectOutbox({ postgres, shard, catalogs }: OutboxDeps, database: string): Promise<number> {
  const { clickhouse } = shard;
  // At rest this is asked every second, and a transaction is three statements. By the index,
  // because the table begins with deleted rows.
  const { rows: first } = await postgres.raw<{ rows: unknown[] }>(
    'SELECT 1 FROM identity_outbox ORDER BY project_id LIMIT 1',
  );
  if (first.length === 0) return 0;
  return postgres.transaction(async (trx) => {
    const { rows } = await trx.raw<{ rows: OutboxRow[] }>(NEXT_ENTRIES, [shard.id]);
    if (rows.length === 0 || (await isAnyElsewhere(trx, rows, shard.id))) return 0;
    const { block: profiles, left } = await readProfiles(trx, rows, catalogs);
    const mappings = await readMappings(trx, rows);
    await catalogs.announce(profiles.names);
    await Promise.all([
      insertProjection(clickhouse, { table: 'profiles', database, block: profiles }),
      insertProjection(clickhouse, { table: 'device_map', database, block: mappings }),
    ]);
    await catalogs.record(profiles.names);
    const done = rows.filter((row) => row.kind === 'mapping' || !left.has(`${row.project_id}/${row.key}`));
    await trx.raw('DELETE FROM identity_outbox WHERE id = ANY(?::bigint[])', [done.map(({ id }) => id)]);
    return done.length;
  });
}

/**
 * Locks the placements of the projects until the transaction ends, so that a move waits for it, and
 * returns whether one has begun meanwhile.
 */
async function isAnyElsewhere(trx: Transaction, rows: readonly OutboxRow[], shard: number): Promise<boolean> {
  const placed: { shard: number; state: string }[] = await trx('project_placements')
    .whereIn('project_id', [...new Set(rows.map((row) => row.project_id))])
    .forShare()
    .select('shard', 'state');
  return placed.some((placement) => placement.shard !== shard || placement.state !== 'home');
}

const keysOf = (rows: readonly OutboxRow[], kind: OutboxRow['kind']): string =>
  JSON.stringify(rows.filter((row) => row.kind === kind));

interface ProfileRow {
  readonly project_id: string;
  readonly user_id: string;
  /** Null when they do not fit. */
  readonly properties: Properties | null;
  readonly email: string | null;
  readonly email_domain: string | null;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly version: string;
}

/**
 * The properties of as many profiles as fit, at least of one. Each project has the same share of
 * the bytes, and its small profiles come first.
 */
const PROFILES = `
WITH sized AS (
  SELECT p.project_id, p.user_id, octet_length(p.properties::text) AS bytes
  FROM profiles p JOIN (
    SELECT DISTINCT project_id, key FROM jsonb_to_recordset(?::jsonb) AS k(project_id uuid, key text)
  ) k ON p.project_id = k.project_id AND p.user_id = k.key
), turns AS (
  SELECT *, sum(bytes) OVER (PARTITION BY project_id ORDER BY bytes, user_id) AS turn FROM sized
), totals AS (
  SELECT *, sum(bytes) OVER by_turn AS total, row_number() OVER by_turn AS place
  FROM turns WINDOW by_turn AS (ORDER BY turn, project_id, user_id)
)
SELECT p.project_id, p.user_id, CASE WHEN total <= ? OR place = 1 THEN p.properties END AS properties,
  p.email, p.email_domain, p.first_seen, p.last_seen, p.version
FROM totals JOIN profiles p USING (project_id, user_id) ORDER BY p.project_id`;

async function readProfiles(
  trx: Transaction,
  rows: readonly OutboxRow[],
  catalogs: CatalogRecorder,
): Promise<{ readonly block: ProfileBlock; readonly left: ReadonlySet<string> }> {
  const result = await trx.raw<{ rows: ProfileRow[] }>(PROFILES, [
    keysOf(rows, 'profile'),
    BOUNDS.identifyProfileBytes,
  ]);
  const block = new ProfileBlock(catalogs);
  const left = new Set<string>();
  for (const row of result.rows) {
    if (row.properties === null) {
      left.add(`${row.project_id}/${row.user_id}`);
      continue;
    }
    block.add({
      projectId: row.project_id,
      userId: row.user_id,
      properties: row.properties,
      email: row.email ?? '',
      emailDomain: row.email_domain ?? '',
      firstSeen: row.first_seen.getTime(),
      lastSeen: row.last_seen.getTime(),
      version: Number(row.version),
    });
  }
  return { block, left };
}

interface MappingRow {
  readonly project_id: string;
  readonly device_id: string;
  readonly user_id: string;
  readonly seq: string;
}

async function readMappings(trx: Transaction, rows: readonly OutboxRow[]): Promise<DeviceMapBlock> {
  const result = await trx.raw<{ rows: MappingRow[] }>(
    `SELECT DISTINCT ON (m.project_id, m.device_id) m.project_id, m.device_id, m.user_id, m.seq
     FROM device_mappings m JOIN (
       SELECT DISTINCT project_id, key FROM jsonb_to_recordset(?::jsonb) AS k(project_id uuid, key text)
     ) k ON m.project_id = k.project_id AND m.device_id = k.key
     ORDER BY m.project_id, m.device_id, m.seq DESC`,
    [keysOf(rows, 'mapping')],
  );
  const block = new DeviceMapBlock();
  for (const row of result.rows) {
    block.add({
      projectId: row.project_id,
      deviceId: row.device_id,
      userId: row.user_id,
      seq: Number(row.seq),
    });
  }
  return block;
}

export async function measureOutbox(postgres: Postgres): Promise<OutboxDepth> {
  const { rows } = await postgres.raw<{ rows: { rows: string; oldest: string | null }[] }>(
    'SELECT count(*) AS rows, extract(epoch FROM now() - min(created_at)) AS oldest FROM identity_outbox',
  );
  return { rows: Number(rows[0]?.rows ?? 0), oldestSeconds: Math.max(0, Number(rows[0]?.oldest ?? 0)) };
}
