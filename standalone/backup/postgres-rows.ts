// Rows of PostgreSQL in a backup: one JSON object a line and table, read in one snapshot. Text
// instead of a copy of the cluster, because the package brings no pg_dump, and because text can be
// restored into another version of PostgreSQL.
import { createReadStream, createWriteStream, openSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Postgres, Transaction } from '../../src/platform/postgres/client.js';

const ROWS_PER_FETCH = 1000;
const INSERT_CHARACTERS = 1024 * 1024;

export interface RowProgress {
  readonly onRows: (rows: number) => void;
  readonly signal: AbortSignal;
}

const pathOf = (folder: string, table: string): string => join(folder, `${table}.ndjson`);

/** Rows that the statistics expect, for progress. */
export async function estimateRows(postgres: Postgres): Promise<number> {
  const { rows } = await postgres.raw<{ rows: { rows: string | null }[] }>(
    "SELECT sum(n_live_tup) AS rows FROM pg_stat_user_tables WHERE schemaname = 'public'",
  );
  return Number(rows[0]?.rows ?? 0);
}

/** Resolves with the number of rows by table. */
export async function dumpRows(
  postgres: Postgres,
  folder: string,
  progress: RowProgress,
): Promise<Record<string, number>> {
  return postgres.transaction(
    async (transaction) => {
      const counts: Record<string, number> = {};
      for (const table of await listTables(transaction)) {
        counts[table] = await dumpTable(transaction, table, { path: pathOf(folder, table), ...progress });
      }
      return counts;
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

async function listTables(postgres: Postgres | Transaction): Promise<string[]> {
  const { rows } = await postgres.raw<{ rows: { name: string }[] }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
  );
  return rows.map(({ name }) => name);
}

async function dumpTable(
  transaction: Transaction,
  table: string,
  { path, onRows, signal }: RowProgress & { readonly path: string },
): Promise<number> {
  await transaction.raw('DECLARE backup NO SCROLL CURSOR FOR SELECT row_to_json(t)::text AS row FROM ?? t', [table]);
  let count = 0;
  const fetchLines = async function* () {
    for (;;) {
      const { rows } = await transaction.raw<{ rows: { row: string }[] }>(`FETCH ${ROWS_PER_FETCH} FROM backup`);
      if (rows.length === 0) return;
      count += rows.length;
      onRows(rows.length);
      // A line break can only be white space between values of a column of type json.
      yield rows.map(({ row }) => `${row.replaceAll('\n', ' ')}\n`).join('');
    }
  };
  // A stream would open the file later, perhaps after an interruption has removed its folder.
  const file = createWriteStream(path, { fd: openSync(path, 'w', 0o600) });
  await pipeline(fetchLines, file, { signal });
  await transaction.raw('CLOSE backup');
  return count;
}

/**
 * Last values of all sequences. They are read after the other stores are copied: versions that are
 * given out meanwhile must not be given out again after a restore.
 */
export async function readSequences(postgres: Postgres): Promise<Record<string, string>> {
  const { rows } = await postgres.raw<{ rows: { name: string; value: string }[] }>(
    "SELECT sequencename AS name, last_value::text AS value FROM pg_sequences WHERE schemaname = 'public' AND last_value IS NOT NULL",
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

/**
 * Replaces the rows of all tables, which have the schema of the backup. `postgres` is connected as
 * the superuser, because foreign keys are not checked meanwhile. Resolves with the rows by table.
 */
export async function loadRows(
  postgres: Postgres,
  folder: string,
  content: RowProgress & { readonly tables: readonly string[]; readonly sequences: Readonly<Record<string, string>> },
): Promise<Record<string, number>> {
  return postgres.transaction(async (transaction) => {
    await transaction.raw('SET LOCAL session_replication_role = replica');
    const names = await listTables(transaction);
    await transaction.raw(`TRUNCATE ${names.map(() => '??').join(', ')}`, names);
    const counts: Record<string, number> = {};
    for (const table of content.tables) {
      counts[table] = await loadTable(transaction, table, { path: pathOf(folder, table), ...content });
    }
    for (const [name, value] of Object.entries(content.sequences)) {
      await transaction.raw('SELECT setval(?::regclass, ?::bigint)', [`public.${name}`, value]);
    }
    return counts;
  });
}

/**
 * Lines that end with a line feed only: readline also splits at a carriage return, which may stand
 * between values of a column of type json.
 */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

async function loadTable(
  transaction: Transaction,
  table: string,
  { path, onRows, signal }: RowProgress & { readonly path: string },
): Promise<number> {
  const { rows } = await transaction.raw<{ rows: { name: string }[] }>(
    `SELECT column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name = ? AND is_generated = 'NEVER' ORDER BY ordinal_position`,
    [table],
  );
  const names = rows.map(({ name }) => name);
  const columns = names.map(() => '??').join(', ');
  const insert = `INSERT INTO ?? (${columns}) OVERRIDING SYSTEM VALUE
    SELECT ${columns} FROM json_populate_recordset(NULL::??, ?::json)`;
  let lines: string[] = [];
  let characters = 0;
  let count = 0;
  const flush = async (): Promise<void> => {
    if (lines.length === 0) return;
    signal.throwIfAborted();
    await transaction.raw(insert, [table, ...names, ...names, table, `[${lines.join(',')}]`]);
    count += lines.length;
    onRows(lines.length);
    lines = [];
    characters = 0;
  };
  for await (const line of linesOf(path)) {
    lines.push(line);
    characters += line.length;
    if (characters > INSERT_CHARACTERS) await flush();
  }
  await flush();
  return count;
}
