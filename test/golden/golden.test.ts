// Golden queries and their SQL, and invariants of all statements. Needs no services;
// UPDATE_GOLDEN=1 rewrites.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/platform/paths.js';
import { type CompiledQuery, compile } from '../../src/query/compile.js';
import { drawDetail, QueryError } from '../../src/query/errors.js';
import { EVENT_FIELD_NAMES } from '../../src/query/fields.js';
import { AGGREGATES } from '../../src/query/language.js';
import type { Statement } from '../../src/query/print/print.js';
import { PROJECT } from './dataset.js';
import { type GoldenFile, isUpdating, readGoldenFiles, writeSections } from './golden-file.js';

interface Outcome {
  readonly sql: string | undefined;
  readonly params: string | undefined;
  readonly error: string | undefined;
}

function run(file: GoldenFile): Outcome {
  try {
    const { statement } = compile(file.query, file.context);
    return { sql: statement.sql, params: showParams(statement), error: undefined };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const drawn = error.details.map((detail) => drawDetail(file.query, detail));
    return { sql: undefined, params: undefined, error: drawn.join('\n') };
  }
}

const showParams = ({ params }: Statement): string =>
  Object.entries(params)
    .filter(([name]) => name !== 'project_id')
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join('\n');

/**
 * Numbers that the compiler may print: quantiles, sizes of calendars and units, bits of a position.
 */
const CONSTANT_NUMBERS = new Set('0 1 4 5 6 8 9 24 31 100 1000 1800 0.1 0.5 0.9 0.95 0.99 0.999'.split(' '));

/** Common table expressions of a statement. */
const stepsOf = (sql: string): { name: string; body: string }[] =>
  [...sql.matchAll(/^ {2}(?<name>\w+) AS \(\n(?<body>.*?)\n {2}\)/gms)].map(({ groups }) => ({
    name: groups?.name ?? '',
    body: groups?.body ?? '',
  }));

const files = readGoldenFiles();

describe('golden files', () => {
  test.each(files.map((file) => [file.name, file] as const))('%s', (_, file) => {
    const outcome = run(file);
    expect(outcome.error !== undefined).toBe(file.expectsError);
    if (isUpdating)
      writeSections(file, outcome.error === undefined ? outcome : { ...outcome, reads: undefined, rows: undefined });
    else
      expect({ ...outcome }).toEqual(
        Object.fromEntries(['sql', 'params', 'error'].map((name) => [name, file.sections.get(name)])),
      );
  });
});

describe('every golden query', () => {
  const compiled = files.flatMap((file): [string, GoldenFile, CompiledQuery][] =>
    file.expectsError ? [] : [[file.name, file, compile(file.query, file.context)]],
  );
  const statementsOf = (query: CompiledQuery): Statement[] =>
    [query.statement, query.countStatement, query.withoutUnit?.statement].filter(
      (statement) => statement !== undefined,
    );

  test.each(compiled)('%s: no two columns of a row have one name', (_, __, { columns, metric }) => {
    const names = [...columns.map((column) => column.name), ...(metric ? ['value', 'metric'] : [])];
    expect(names).toEqual([...new Set(names)]);
  });

  test.each(compiled)('%s: every scan filters on the project', (_, __, query) => {
    for (const { sql, params } of statementsOf(query)) {
      const tables = sql.match(/FROM (events|device_map|profiles)\b/g) ?? [];
      const filters = sql.match(/WHERE project_id = \{project_id:UUID\}/g) ?? [];
      expect(tables.length).toBeGreaterThan(0);
      expect(filters).toHaveLength(tables.length);
      expect(params.project_id).toBe(PROJECT);
    }
  });

  test.each(compiled)('%s: every literal is a parameter', (_, __, query) => {
    for (const { sql } of statementsOf(query)) {
      const withoutParameters = sql.replace(/\{\w+:[^}]*\}/g, '');
      const literals = withoutParameters.match(/'[^']*'/g) ?? [];
      expect(literals.filter((literal) => !["''", "'true'", "'false'"].includes(literal))).toEqual([]);
      const numbers = withoutParameters.match(/(?<![\w.])\d+(\.\d+)?(?!\w)/g) ?? [];
      expect(numbers.filter((number) => !CONSTANT_NUMBERS.has(number))).toEqual([]);
    }
  });

  // ClickHouse computes a common table expression for each select that reads it.
  test.each(compiled)('%s: a step that reads events is read once', (_, __, query) => {
    for (const { sql } of statementsOf(query)) {
      for (const { name, body } of stepsOf(sql)) {
        expect(['events', 'events_landing', 'device_map', 'profiles']).not.toContain(name);
        const reads = sql.match(new RegExp(`(?:FROM|JOIN|IN) ${name}\\b`, 'g')) ?? [];
        if (!/FROM (device_map|profiles)\b/.test(body)) expect(reads).toEqual([expect.anything()]);
      }
    }
  });

  test.each(compiled)('%s: every parameter is bound, and none is idle', (_, __, query) => {
    for (const { sql, params } of statementsOf(query)) {
      const used = new Set([...sql.matchAll(/\{(\w+):/g)].map((match) => match[1]));
      expect(used).toEqual(new Set(Object.keys(params)));
    }
  });

  test.each(compiled)('%s: compiling again gives the same', (_, file, query) => {
    expect(compile(file.query, file.context)).toEqual(query);
  });
});

describe('documentation', () => {
  const documented = readFileSync(join(packageRoot, 'docs', 'query-language.md'), 'utf8');

  test('names every field', () => {
    expect(EVENT_FIELD_NAMES.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  });

  test('names every metric column', () => {
    const columns = Object.values(AGGREGATES).flatMap((of) => ('column' in of ? [of.column] : []));
    const metrics = columns.filter((name) => !documented.includes(`\`${name}\``));
    expect(metrics).toEqual([]);
  });
});
