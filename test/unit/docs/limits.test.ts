// docs/LIMITS.md against the code: the same limits, with the same numbers, by mechanisms that
// exist.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseConfig } from '../../../src/platform/config.js';
import { BOUNDS } from '../../../src/platform/flow/bounds.js';
import { packageRoot } from '../../../src/platform/paths.js';

const settings = parseConfig({
  DATABASE_URL: 'postgres://x',
  REDIS_URL: 'redis://x',
  CLICKHOUSE_URL: 'http://x',
  SECRET_KEY_BASE: 'x'.repeat(32),
});
const values = new Map<string, unknown>(Object.entries({ ...settings, ...BOUNDS }));

const rows = readFileSync(join(packageRoot, 'docs', 'LIMITS.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
  .map(([, name = '', , amount = '', , , by = '']) => ({ name, amount, by }));

const KIB = 1024;

function show(name: string, value: unknown): string {
  if (typeof value !== 'number') return `${name} is not a number`;
  if (/bytes/i.test(name)) {
    return value % KIB ** 2 === 0 ? `${toText(value / KIB ** 2)} MiB` : `${toText(value / KIB)} KiB`;
  }
  if (/ms$/i.test(name)) return value % 1000 === 0 ? `${toText(value / 1000)} s` : `${toText(value)} ms`;
  return toText(value);
}

const toText = (value: number): string => value.toLocaleString('en-US');

test.each(rows)('$name has the value of the code', ({ name, amount }) => {
  expect(amount).toBe(show(name, values.get(name)));
});

test('docs/LIMITS.md lists every fixed bound and every setting that bounds work in progress', () => {
  const ofWork = /_PER_SECOND$|_PER_MINUTE$|_CONCURRENCY|^QUERY_.*_MAX$|_BYTES|^INGEST_(?!FLUSH_DELAY)|^EXPORTS_/;
  const expected = [...Object.keys(settings).filter((name) => ofWork.test(name)), ...Object.keys(BOUNDS)];
  const shown = new Set(rows.map(({ name }) => name));
  expect(expected.filter((name) => !shown.has(name))).toEqual([]);
});

test('the mechanisms of docs/LIMITS.md are existing files', () => {
  const files = new Set(
    ['src', 'workers'].flatMap((folder) =>
      readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        path.split('/').at(-1),
      ),
    ),
  );
  expect(rows.map(({ by }) => by).filter((by) => by !== 'BullMQ' && !files.has(by))).toEqual([]);
});
