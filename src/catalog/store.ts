// Catalogs in PostgreSQL. Every name carries the generation of the project in which it was seen: an
// erasure begins a new one, in which the names are found again.
import { groupBy } from '../platform/group-by.js';
import { type ProjectId, toProjectId } from '../platform/ids.js';
import type { Postgres, Transaction } from '../platform/postgres/client.js';
import { type CatalogChange, KnownNames } from './known-names.js';
import type { CatalogName } from './names.js';

type Database = Postgres | Transaction;

export async function readGenerations(
  postgres: Database,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await postgres.raw<{ rows: { project_id: string; generation: number }[] }>(
    'SELECT project_id, generation FROM catalog_projects WHERE project_id = ANY(?::uuid[])',
    [[...projectIds]],
  );
  return new Map(rows.map((row) => [row.project_id, row.generation]));
}

/** Names of the current generation of each project. */
export async function readNames(
  postgres: Database,
  projectIds: readonly string[],
): Promise<ReadonlyMap<string, readonly CatalogName[]>> {
  const { rows } = await postgres.raw<{ rows: (CatalogName & { project_id: string })[] }>(
    `SELECT n.project_id, n.kind, n.field, n.name, n.events::float8 AS events
     FROM catalog_names n LEFT JOIN catalog_projects p USING (project_id)
     WHERE n.project_id = ANY(?::uuid[]) AND n.generation >= coalesce(p.generation, 0)`,
    [[...projectIds]],
  );
  return groupBy(rows, (row) => row.project_id);
}

/** A change of a project's names, found in a generation. */
export interface FoundNames extends CatalogChange {
  readonly projectId: string;
  readonly generation: number;
}

/** Names of a transaction, which holds the row of its projects for a fraction of a second. */
const NAMES_PER_TRANSACTION = 2000;

/**
 * Divides a change into portions to save one by one. Projects with few names come first, so one
 * with many delays no other.
 */
export function portionsOf(found: readonly FoundNames[]): readonly (readonly FoundNames[])[] {
  const portions: FoundNames[][] = [];
  let room = 0;
  for (const change of found.toSorted((a, b) => a.names.length - b.names.length)) {
    if (change.names.length > room || room === 0) {
      portions.push([]);
      room = NAMES_PER_TRANSACTION;
    }
    const own = inPortions(change.names).map((names, index, all) => ({
      ...change,
      names,
      // After the mark that says why they are not listed.
      dropped: index === all.length - 1 ? change.dropped : [],
    }));
    portions.at(-1)?.push(...own.slice(0, 1));
    portions.push(...own.slice(1).map((portion) => [portion]));
    room -= change.names.length;
  }
  return portions;
}

function inPortions(names: readonly CatalogName[]): CatalogName[][] {
  const count = Math.ceil(names.length / NAMES_PER_TRANSACTION);
  return Array.from({ length: count }, (_, at) =>
    names.slice(at * NAMES_PER_TRANSACTION, (at + 1) * NAMES_PER_TRANSACTION),
  );
}

/**
 * Adds the events to known names, in one transaction. Names of an earlier generation are left out:
 * their values may have been erased meanwhile, and a rebuild finds those that were not.
 */
export async function saveNames(postgres: Postgres, found: readonly FoundNames[]): Promise<void> {
  await postgres.transaction(async (transaction) => {
    // Everything that changes a catalog locks the row of the project first.
    const { rows } = await transaction.raw<{ rows: { project_id: string; generation: number }[] }>(
      `INSERT INTO catalog_projects (project_id, version) SELECT DISTINCT id, 1 FROM unnest(?::uuid[]) AS id ORDER BY id
       ON CONFLICT (project_id) DO UPDATE SET version = catalog_projects.version + 1
       RETURNING project_id, generation`,
      [found.map(({ projectId }) => projectId)],
    );
    const current = new Map(rows.map((row) => [row.project_id, row.generation]));
    const valid = found.filter(({ projectId, generation }) => generation === current.get(projectId));
    await insertNames(
      transaction,
      valid.flatMap(({ names, ...of }) => names.map((name) => ({ ...name, ...of }))),
    );
    for (const { projectId, dropped } of valid)
      if (dropped.length > 0) await deleteValues(transaction, projectId, dropped);
  });
}

type NameRow = CatalogName & { readonly projectId: string; readonly generation: number };

async function insertNames(
  transaction: Transaction,
  rows: readonly NameRow[],
  events: 'known.events + EXCLUDED.events' | 'EXCLUDED.events' = 'known.events + EXCLUDED.events',
): Promise<void> {
  await transaction.raw(
    `INSERT INTO catalog_names AS known (project_id, kind, field, name, events, generation)
     SELECT * FROM unnest(?::uuid[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::integer[])
     ON CONFLICT (project_id, kind, field, name) DO UPDATE SET
       events = ${events}, generation = greatest(known.generation, EXCLUDED.generation)`,
    [
      rows.map(({ projectId }) => projectId),
      rows.map(({ kind }) => kind),
      rows.map(({ field }) => field),
      rows.map(({ name }) => name),
      rows.map(({ events }) => Math.round(events)),
      rows.map(({ generation }) => generation),
    ],
  );
}

const deleteValues = (transaction: Transaction, projectId: string, fields: readonly string[]): Promise<unknown> =>
  transaction('catalog_names').where({ project_id: projectId, kind: 'value' }).whereIn('field', fields).delete();

/** Begins a new generation: a rebuild finds the names again. */
export async function beginGeneration(postgres: Database, projectIds: readonly string[]): Promise<void> {
  await postgres.raw(
    `INSERT INTO catalog_projects (project_id, generation, version) SELECT DISTINCT id, 1, 1 FROM unnest(?::uuid[]) AS id ORDER BY id
     ON CONFLICT (project_id) DO UPDATE SET
       generation = catalog_projects.generation + 1, version = catalog_projects.version + 1`,
    [[...projectIds]],
  );
}

/** After rows of people were deleted: values that only they have sent are gone at once. */
export async function forgetValues(postgres: Postgres, projectId: ProjectId): Promise<void> {
  await postgres.transaction(async (transaction) => {
    await beginGeneration(transaction, [projectId]);
    await transaction('catalog_names').where({ project_id: projectId, kind: 'value' }).delete();
  });
}

export interface DueRebuild {
  readonly projectId: ProjectId;
  readonly generation: number;
}

/** Projects whose names have not been found since their generation began. */
export async function listDueRebuilds(postgres: Postgres, limit: number): Promise<readonly DueRebuild[]> {
  const { rows } = await postgres.raw<{ rows: { id: string; generation: number }[] }>(
    `SELECT p.id, coalesce(c.generation, 0) AS generation
     FROM projects p LEFT JOIN catalog_projects c ON c.project_id = p.id
     WHERE p.deleted_at IS NULL AND c.rebuilt_generation IS DISTINCT FROM coalesce(c.generation, 0)
       AND coalesce(c.rebuild_after, now()) <= now()
     ORDER BY c.rebuild_after NULLS FIRST, p.id LIMIT ?`,
    [limit],
  );
  return rows.map(({ id, generation }) => ({ projectId: toProjectId(id), generation }));
}

/**
 * Replaces the names of earlier generations by those that a rebuild has found; names that workers
 * have stored meanwhile stay. Resolves with false when yet another generation has begun, which each
 * transaction looks up.
 */
export async function replaceNames(
  postgres: Postgres,
  due: DueRebuild,
  names: readonly CatalogName[],
  restMs: number,
): Promise<boolean> {
  const { projectId, generation } = due;
  await postgres.raw('INSERT INTO catalog_projects (project_id) VALUES (?) ON CONFLICT DO NOTHING', [projectId]);
  /** Whether the generation is still that of the project. */
  const change = (apply: (transaction: Transaction) => Promise<unknown>): Promise<boolean> =>
    postgres.transaction(async (transaction) => {
      const row = await transaction('catalog_projects')
        .where({ project_id: projectId, generation })
        .forUpdate()
        .first();
      if (row !== undefined) await apply(transaction);
      return row !== undefined;
    });
  const { kept, dropped } = await fitting(postgres, due, names);
  for (const some of inPortions(kept)) {
    const rows = some.map((name) => ({ ...name, projectId, generation }));
    if (!(await change((transaction) => insertNames(transaction, rows, 'EXCLUDED.events')))) return false;
  }
  return change(async (transaction) => {
    await transaction('catalog_names').where({ project_id: projectId }).where('generation', '<', generation).delete();
    await deleteValues(transaction, projectId, dropped);
    await transaction('catalog_projects')
      .where({ project_id: projectId })
      .update({
        rebuilt_generation: generation,
        version: transaction.raw('version + 1'),
        rebuild_after: transaction.raw("now() + ? * interval '1 millisecond'", [restMs]),
      });
  });
}

/**
 * The found names within the limits of the project, beside those that workers have stored
 * meanwhile.
 */
async function fitting(
  postgres: Postgres,
  { projectId, generation }: DueRebuild,
  names: readonly CatalogName[],
): Promise<{ kept: CatalogName[]; dropped: readonly string[] }> {
  const stored = (await readNames(postgres, [projectId])).get(projectId) ?? [];
  const keyOf = ({ kind, field, name }: CatalogName): string => JSON.stringify([kind, field, name]);
  const isStored = new Set(stored.map(keyOf));
  // A count that cannot double: only new names are changes.
  const known = new KnownNames(
    generation,
    stored.map((name) => ({ ...name, events: Number.POSITIVE_INFINITY })),
  );
  const change = known.add(names);
  const many = names.filter(({ kind }) => kind === 'many').map(({ field }) => field);
  const counted = names.filter((name) => isStored.has(keyOf(name)));
  return { kept: [...counted, ...change.names], dropped: [...many, ...change.dropped] };
}

/** After a rebuild that had no effect. */
export async function postponeRebuild(postgres: Postgres, { projectId }: DueRebuild, restMs: number): Promise<void> {
  await postgres.raw(
    `INSERT INTO catalog_projects (project_id, rebuild_after) VALUES (?, now() + ? * interval '1 millisecond')
     ON CONFLICT (project_id) DO UPDATE SET rebuild_after = EXCLUDED.rebuild_after`,
    [projectId, restMs],
  );
}

export interface StoredCatalog {
  readonly version: number;
  /** Whether every name of the stored events is known. */
  readonly isComplete: boolean;
}

export async function findCatalog(postgres: Postgres, projectId: ProjectId): Promise<StoredCatalog | undefined> {
  const { rows } = await postgres.raw<{ rows: { version: string; is_complete: boolean | null }[] }>(
    'SELECT version, rebuilt_generation = generation AS is_complete FROM catalog_projects WHERE project_id = ?',
    [projectId],
  );
  const [row] = rows;
  return row && { version: Number(row.version), isComplete: row.is_complete === true };
}

/** Names of all generations: event types and keys stay known while a rebuild is due. */
export async function listNames(postgres: Postgres, projectId: ProjectId): Promise<readonly CatalogName[]> {
  const { rows } = await postgres.raw<{ rows: CatalogName[] }>(
    `SELECT kind, field, name, events::float8 AS events FROM catalog_names WHERE project_id = ?
     ORDER BY events DESC, field, name`,
    [projectId],
  );
  return rows;
}
