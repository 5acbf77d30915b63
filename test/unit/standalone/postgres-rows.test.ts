// Rows of PostgreSQL in a backup and of a restore, with a connection that answers without a server.
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Postgres } from '../../../src/platform/postgres/client.js';
import { dumpRows, loadRows } from '../../../standalone/backup/postgres-rows.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postgres-rows-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** One table, `people`. */
function postgresWith(rows: readonly string[], fetches: number): Postgres {
  let left = fetches;
  const raw = (sql: string) => {
    if (sql.includes('FROM pg_tables')) return { rows: [{ name: 'people' }] };
    if (!sql.startsWith('FETCH')) return { rows: [] };
    left -= 1;
    return { rows: left < 0 ? [] : rows.map((row) => ({ row })) };
  };
  const transaction = (run: (transaction: { raw: typeof raw }) => Promise<unknown>) => run({ raw });
  return { transaction } as unknown as Postgres;
}

const options = { onRows: () => {}, signal: new AbortController().signal };

test('dumpRows() writes one row a line and counts them', async () => {
  const postgres = postgresWith(['{"id":1,"a":\n[]}', '{"id":2}'], 2);
  let shown = 0;
  const onRows = (rows: number): void => {
    shown += rows;
  };
  expect(await dumpRows(postgres, folder, { ...options, onRows })).toEqual({ people: 4 });
  expect(shown).toBe(4);
  const lines = '{"id":1,"a": []}\n{"id":2}\n';
  expect(readFileSync(join(folder, 'people.ndjson'), 'utf8')).toBe(lines + lines);
});

test.runIf(process.platform === 'linux')('dumpRows() rejects when the disk is full', async () => {
  symlinkSync('/dev/full', join(folder, 'people.ndjson'));
  const postgres = postgresWith([JSON.stringify({ id: 'x'.repeat(100_000) })], 20);
  await expect(dumpRows(postgres, folder, options)).rejects.toThrow('ENOSPC');
});

test('dumpRows() ends when it is interrupted', async () => {
  const interrupt = new AbortController();
  const onRows = () => interrupt.abort();
  const dumping = dumpRows(postgresWith(['{}'], Number.POSITIVE_INFINITY), folder, {
    onRows,
    signal: interrupt.signal,
  });
  await expect(dumping).rejects.toThrow('aborted');
});

test('loadRows() reads rows of any length, and more than one statement takes', async () => {
  const rows = [1, 700_000, 700_000, 2].map((length, id) => ({ id, name: 'x'.repeat(length) }));
  writeFileSync(join(folder, 'people.ndjson'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const inserted: unknown[] = [];
  const raw = (sql: string, values: readonly string[] = []) => {
    if (sql.startsWith('INSERT')) inserted.push(...JSON.parse(values.at(-1) ?? ''));
    return { rows: sql.includes('FROM') ? [{ name: 'people' }] : [] };
  };
  const transaction = (run: (transaction: { raw: typeof raw }) => Promise<unknown>) => run({ raw });
  const content = { ...options, tables: ['people'], sequences: {} };
  expect(await loadRows({ transaction } as unknown as Postgres, folder, content)).toEqual({ people: 4 });
  expect(inserted).toEqual(rows);
});
