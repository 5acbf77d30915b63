// INSERTs whose rows come apart from their statement. Text goes to the engine as it came. The binary formats, which its
// library refuses there, are read from a file, and all blocks of a request reach the table as one: a materialized view that
// drops duplicates (ops/clickhouse/0001_events.sql) sees only the block at hand.
import type { RawInsertFormat } from 'chdb';
import type { Engine } from './engine.js';
import { engineError } from './engine-error.js';
import { backquoted, type EngineSession, quoted } from './session.js';
import type { InsertStatement } from './statement.js';

const TEXT_FORMATS: ReadonlySet<string> = new Set<RawInsertFormat>([
  ...(['JSONEachRow', 'JSONCompactEachRow', 'CSV', 'CSVWithNames', 'TSV', 'TSVWithNames'] as const),
  ...(['TabSeparated', 'TabSeparatedWithNames'] as const),
]);
const isTextFormat = (format: string): format is RawInsertFormat => TEXT_FORMATS.has(format);

/** Formats that name their columns and types. */
const SELF_DESCRIBING = new Set(['Native', 'RowBinaryWithNamesAndTypes', 'Parquet']);

// One thread keeps the order of the rows, and the first of each key wins; blocks are joined up to 100 million rows.
const ONE_BLOCK =
  'max_threads = 1, max_insert_threads = 1, min_insert_block_size_rows = 100000000, min_insert_block_size_bytes = 0';

export async function insertRows(options: {
  engine: Engine;
  session: EngineSession;
  statement: InsertStatement;
  rows: Buffer;
}): Promise<void> {
  const { engine, session, statement, rows } = options;
  const { table, columns, format } = statement;
  if (isTextFormat(format)) {
    await session.chdb.insert({ table, values: rows, format, ...(columns.length > 0 ? { columns } : {}) });
    return;
  }
  await engine.staging.withFile(rows, async (path) => {
    const source = await fileSource(session, statement, path);
    const names = (columns.length > 0 ? columns : await describe(session, source)).map(backquoted).join(', ');
    const sql = `INSERT INTO ${tableName(table)} (${names}) SELECT ${names} FROM ${source} SETTINGS ${ONE_BLOCK}`;
    await session.chdb.queryAsync(sql);
  });
}

async function fileSource(session: EngineSession, statement: InsertStatement, path: string): Promise<string> {
  if (SELF_DESCRIBING.has(statement.format)) return `file(${quoted(path)}, ${statement.format})`;
  if (statement.format !== 'RowBinary') {
    throw engineError(
      'NOT_IMPLEMENTED',
      `inserting FORMAT ${statement.format} is not supported by the embedded engine`,
    );
  }
  const structure = await rowStructure(session, statement);
  return `file(${quoted(path)}, RowBinary, ${quoted(structure)})`;
}

/** RowBinary says nothing of its columns: they are those of the statement, else all that the table stores as given. */
async function rowStructure(session: EngineSession, statement: InsertStatement): Promise<string> {
  const typeOf = new Map<string, string>();
  for (const [name, type, kind] of await rowsOf(session, `DESCRIBE TABLE ${tableName(statement.table)}`)) {
    const isInsertable = kind === '' || kind === 'DEFAULT';
    if (name !== undefined && type !== undefined && isInsertable) typeOf.set(name, type);
  }
  const names = statement.columns.length > 0 ? statement.columns : [...typeOf.keys()];
  return names.map((name) => `${backquoted(name)} ${typeOf.get(name) ?? 'String'}`).join(', ');
}

const describe = async (session: EngineSession, source: string): Promise<string[]> =>
  (await rowsOf(session, `DESCRIBE ${source}`)).flatMap(([name]) => name ?? []);

async function rowsOf(session: EngineSession, sql: string): Promise<string[][]> {
  const result = await session.chdb.queryAsync(sql, { format: 'JSONCompact' });
  return result.json<{ data: string[][] }>().data;
}

const tableName = (table: string): string => table.split('.').map(backquoted).join('.');
