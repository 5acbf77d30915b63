// The tables of docs/query-language.md that derive from the tables of the language. UPDATE_GOLDEN=1
// rewrites them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';
import { EVENT_FIELD_NAMES, FIELD_CATEGORIES, findEventField } from '../../../src/query/fields.js';
import { AGGREGATES, STAGES } from '../../../src/query/language.js';
import { SOURCES } from '../../../src/query/sources/index.js';

const PATH = join(packageRoot, 'docs', 'query-language.md');

function toTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`.replaceAll('|  |', '| |');
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}

const code = (text: string): string => `\`${text}\``;

const isOf =
  (category: string) =>
  (name: string): boolean =>
    (findEventField(name)?.category ?? 'core') === category;

const TABLES = {
  sources: toTable(
    ['Source', '', 'Default range'],
    Object.values(SOURCES).map(({ example, about, days }) => [code(example), about, `${days} days`]),
  ),
  stages: toTable(
    ['Stage', '', 'Goes with'],
    Object.values(STAGES).map(({ example, about, sources = 'most sources' }) => [code(example), about, sources]),
  ),
  fields: toTable(
    ['', 'Fields of events'],
    FIELD_CATEGORIES.map((category) => [category, EVENT_FIELD_NAMES.filter(isOf(category)).map(code).join(', ')]),
  ),
  aggregates: toTable(
    ['Stage', 'Metric column', ''],
    Object.values(AGGREGATES).map((of) => [code(of.example), 'column' in of ? code(of.column) : '', of.about]),
  ),
};

test.each(Object.entries(TABLES))('the table of %s in docs/query-language.md is up to date', (name, table) => {
  const text = readFileSync(PATH, 'utf8');
  const [start, end] = [`<!-- ${name} -->\n\n`, `\n\n<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(start) + start.length, text.indexOf(end)];
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(PATH, `${text.slice(0, from)}${table}${text.slice(to)}`);
  else expect(text.slice(from, to)).toBe(table);
});
