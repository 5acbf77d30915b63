// Rules of the console's sources: where imports lead, names, headers, and that every file is used.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

const FOLDER = join(packageRoot, 'console', 'src');
const files = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => relative(packageRoot, join(entry.parentPath, entry.name)));
const modules = files.filter((path) => /\.tsx?$/.test(path));
const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

const IMPORT = /(?:\bfrom\s+|\bimport\s+|\bimport\()'(?<path>\.[^']*)'/g;

const importsOf = (from: string): string[] =>
  [...read(from).matchAll(IMPORT)].map(({ groups }) => {
    const to = join(dirname(from), groups?.path ?? '');
    const source = to.replace(/\.js$/, '.ts');
    return [source, `${source}x`, to].find((path) => existsSync(join(packageRoot, path))) ?? `${to}, which is missing`;
  });

/** Schemas of the answers of each feature, from which the console has the types of their JSON. */
const SCHEMAS_OF_ANSWERS = /^src\/(?:[\w-]+\/answers|platform\/answer-fields)\.ts$/;

const edges = modules.flatMap((from) => importsOf(from).map((to) => ({ from, to })));

test('the console imports only itself, src/query, grammar, schemas of answers, and three pure modules', () => {
  const allowed =
    /^(?:console\/src|src\/query|grammar)\/|^src\/(?:dashboards\/(?:diff-lines|variable-forms)|imports\/upload\/lines)\.ts$/;
  const isAllowed = (to: string): boolean => allowed.test(to) || SCHEMAS_OF_ANSWERS.test(to);
  expect(edges.filter(({ to }) => !isAllowed(to) || to.endsWith('missing'))).toEqual([]);
});

test('the console imports schemas of answers as types only, because zod is larger than its screens', () => {
  const imports = modules.flatMap((path) => read(path).match(/^import [^;]*;/gm) ?? []);
  const ofSchemas = imports.filter((text) => /\/src\/(?:\w[\w-]*\/answers|platform\/answer-fields)\.js'/.test(text));
  expect(ofSchemas.length).toBeGreaterThan(0);
  expect(ofSchemas.filter((text) => !text.startsWith('import type '))).toEqual([]);
});

test('the console imports only listed modules of src/query', () => {
  const entries = new Set(edges.map(({ to }) => to).filter((to) => to.startsWith('src/query/')));
  expect([...entries].sort()).toEqual([
    'src/query/all-problems.ts',
    'src/query/analyze/analyze.ts',
    'src/query/analyze/other-groups.ts',
    'src/query/call-queries.ts',
    'src/query/csv.ts',
    'src/query/definitions/definitions.ts',
    'src/query/errors.ts',
    'src/query/fields.ts',
    'src/query/fixes/suggest.ts',
    'src/query/language.ts',
    'src/query/markdown.ts',
    'src/query/parse/parse.ts',
    'src/query/parse/strings.ts',
    'src/query/parse/syntax.ts',
    'src/query/profile-fields.ts',
    'src/query/remarks.ts',
    'src/query/session-fields.ts',
    'src/query/shares.ts',
    'src/query/sources/choice/describe.ts',
    'src/query/sources/index.ts',
  ]);
});

test('charts import no screen, and no screen imports another', () => {
  const partOf = (path: string): string => path.split('/')[2] ?? '';
  expect(
    edges.filter(
      ({ from, to }) =>
        partOf(from) === 'charts' && /^(?:ask|dashboards|live|people|settings|shell|start)$/.test(partOf(to)),
    ),
  ).toEqual([]);
  expect(edges.filter(({ from, to }) => partOf(from) === 'start' && partOf(to) === 'ask')).toEqual([]);
});

test('every file is reachable from the entry module', () => {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path) || !path.startsWith('console/')) return;
    reached.add(path);
    if (/\.tsx?$/.test(path)) importsOf(path).forEach(visit);
  };
  visit('console/src/main.tsx');
  // The build puts these in the place of libraries (vite.config.ts).
  const replacements = ['language/temporal.ts', 'language/patterns.ts', 'charts/interpolate.ts'].map(
    (path) => `console/src/${path}`,
  );
  expect(files.filter((path) => !reached.has(path) && !replacements.includes(path))).toEqual([]);
});

test('modules have a header, kebab-case names and at most 400 lines', () => {
  expect(modules.filter((path) => !read(path).startsWith('// '))).toEqual([]);
  expect(files.filter((path) => !/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z]+)+$/.test(basename(path)))).toEqual([]);
  expect(files.filter((path) => read(path).split('\n').length > 400)).toEqual([]);
});

test('styles use only colour tokens', () => {
  const sheets = files.filter((path) => path.endsWith('.css') && !path.endsWith('tokens.css'));
  const colours = (path: string) =>
    read(path)
      .replaceAll('rgb(10 10 20 / 35%)', '')
      .match(/#[0-9a-f]{3,8}\b|\brgba?\(/gi) ?? [];
  expect(sheets.flatMap((path) => colours(path).map((colour) => `${path}: ${colour}`))).toEqual([]);
});
