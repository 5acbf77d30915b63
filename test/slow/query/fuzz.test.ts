// Fuzzing of the compiler: any text compiles, or is rejected with positions inside it; none
// crashes, hangs, or reaches the SQL as text.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toProjectId } from '../../../src/platform/ids.js';
import { type CompileContext, compile } from '../../../src/query/compile.js';
import { QueryError } from '../../../src/query/errors.js';
import { GRANULARITIES } from '../../../src/query/fields.js';
import { STAGE_NAMES } from '../../../src/query/language.js';
import { SOURCE_NAMES } from '../../../src/query/sources/index.js';
import { NOW_MS, PROJECT } from '../../golden/dataset.js';
import { readGoldenFiles } from '../../golden/golden-file.js';
import { anyText } from '../../support/any-text.js';

const CONTEXT: CompileContext = {
  projectId: toProjectId(PROJECT),
  nowMs: NOW_MS,
  timezone: 'America/St_Johns',
  limit: 100,
  offset: 0,
};

const CORPUS = readGoldenFiles().map((file) => file.query);

// biome-ignore format: one list
const PIECES = [
  ...SOURCE_NAMES, ...STAGE_NAMES, ...GRANULARITIES,
  'signup', '*', '|', 'and', 'or', 'not', 'in', 'exists', 'contains', '(', ')', '[', ']', ',', '->', '-', '#', '=', '!=', '<', '>=', '~', '!~', '==', '"x"', "'y'", '"', "'", '\\', '5', '-1.5', '1e400', '7d', '99999999999y', '0w', 'to', '2026-01-01', '2026-99-99', 'week', 'day', 'hour', 'desc', 'count(a)', '/', 'per', 'time', '_country', 'distinct_id', 'event_properties.plan', 'event_properties."a b"', 'event_properties.', '__proto__', 'constructor', 'event_properties.__proto__', 'user.plan', '\n', '\u0000', '😀', 'ü', '\ud800', '%', '{p1:String}', '/*', '--', ';',
];

/** Expects that a text compiles, or is rejected with positions inside it. */
function expectAnswer(text: string): void {
  try {
    const { statement } = compile(text, CONTEXT);
    expect(statement.sql).toContain('WHERE project_id = {project_id:UUID}');
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    expect(error.details.length).toBeGreaterThan(0);
    const lines = text.split('\n').map((line) => [...line].length);
    for (const { line, column, length, message, hint } of error.details) {
      const lineLength = lines[line - 1];
      if (lineLength === undefined) throw new Error(`there is no line ${line}`);
      expect(column).toBeGreaterThanOrEqual(1);
      expect(column).toBeLessThanOrEqual(lineLength + 1);
      expect(length).toBeGreaterThanOrEqual(0);
      expect(length).toBeLessThanOrEqual([...text].length);
      expect(message).not.toBe('');
      expect(hint).not.toBe('');
    }
  }
}

const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((parts) => parts.join(' '));
const glued = fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((parts) => parts.join(''));

/** A query that is right, with a stretch of it removed, repeated or replaced. */
const mutated = fc
  .record({
    query: fc.constantFrom(...CORPUS),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat({ max: 12 }),
    insert: fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 8 })),
  })
  .map(({ query, at, length, insert }) => {
    const from = Math.floor(at * query.length);
    return query.slice(0, from) + insert + query.slice(from + length);
  });

// Thousands of texts, which take long on a busy machine.
describe('compile() accepts or rejects any text', { timeout: 60_000 }, () => {
  test('of random characters', () => {
    fc.assert(fc.property(anyText(200), expectAnswer), { numRuns: 1_000 });
  });

  test('of language tokens in any order', () => {
    fc.assert(fc.property(fc.oneof(pieces, glued), expectAnswer), { numRuns: 2_000 });
  });

  test('that mutates a valid query', () => {
    fc.assert(fc.property(mutated, expectAnswer), { numRuns: 2_000 });
  });
});

describe('compile() binds every value as a parameter', () => {
  const INJECTIONS = [
    "' OR 1=1 --",
    "'; DROP TABLE events; --",
    "\\' OR project_id != '",
    "') UNION ALL SELECT * FROM events --",
    '{project_id:UUID}',
    '{p1:String}',
    '`events`',
    '/* */',
    "x' || currentUser() || '",
    '\u0000',
    '%s',
    'SETTINGS readonly = 0',
    '\\x27',
    'FORMAT CSV',
  ];
  // Behind ~ stands a regular expression: each of these as one that is valid.
  const writtenIn = (template: string, injection: string): string =>
    template.includes('~') ? injection.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&') : injection;
  // A key that is searched in a column of types stands between signs, and has its own escaped.
  const textsOf = (param: unknown): unknown[] => {
    const key = /^\|[senb](.*)\|$/s.exec(String(param))?.[1];
    return key === undefined ? [param].flat() : [param, key.replaceAll('%7C', '|').replaceAll('%25', '%')];
  };
  const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  const reference = (template: string): string =>
    compile(template.replaceAll('@', quoted('harmless')), CONTEXT).statement.sql;

  test.each([
    '@ | count',
    '* | where _path = @ | count',
    '* | where user_id in (@, "x") | count',
    '* | where event_properties.k = @ | count',
    '* | where event_properties.k contains @ | list',
    '* | where event_properties.k ~ @ | list',
    '* | where event_properties.k > @ | list',
    '* | where distinct_id = @ | count',
    '* | where event_properties.@ exists | count',
    '* | count by event_properties.@',
    '* | unique event_properties.@ by user_properties.@',
    '* | list event_properties.@ | sort event_properties.@ desc',
    '* | max event_properties.@',
  ])('%s', (template) => {
    for (const injection of INJECTIONS) {
      const written = writtenIn(template, injection);
      const { sql, params } = compile(template.replaceAll('@', quoted(written)), CONTEXT).statement;
      expect(sql).toBe(reference(template));
      expect(Object.values(params).flatMap(textsOf)).toContain(written);
    }
  });
});
