// All documents of the repository against it: links lead somewhere, and commands, their options and
// settings exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';
import { TEXTS } from '../../../tools/help.mjs';

const NOT_READ = /^(?:\.|node_modules$|dist$|data$)/;
// What earlier versions had is named there.
const HISTORY = 'CHANGELOG.md';
const PROGRAMS = [
  'src',
  'cli',
  'workers',
  'standalone',
  'tools',
  'clients',
  'ops',
  'faults',
  'bench',
  'test/support',
  'test/golden',
];
/** Of Node and of BigQuery, and an example. */
const NO_SETTINGS = ['NODE_OPTIONS', 'NEWLINE_DELIMITED_JSON', 'NAMES_LIKE_THIS'];
// How other products export is said there, in their words.
const OF_OTHERS = /^src\/(?:imports\/sources|ingest\/protocols)\//;

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

function filesIn(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(packageRoot, folder), { withFileTypes: true })
    .filter(({ name }) => !NOT_READ.test(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesIn(path, pattern) : pattern.test(entry.name) ? [path] : [];
    });
}

const documents = filesIn('.', /\.md$/).filter((path) => path !== HISTORY);
const pages = new Map(documents.map((path) => [path, read(path)]));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** The text without blocks of code and without spans of code. */
const proseOf = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '`code`');

/** Lines of blocks of code, and spans of code. */
function codesOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) => block.split('\n'));
  const spans = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  return [...blocks, ...spans];
}

/** What browsers of repositories make of the headings of a page. */
const anchorsOf = (text: string): string[] =>
  [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );

const all = <T>(find: (text: string, path: string) => readonly T[]): { path: string; found: T }[] =>
  [...pages].flatMap(([path, text]) => find(text, path).map((found) => ({ path, found })));

test('every link leads to a file, and to a heading of it', () => {
  const links = all((text) => [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)).filter(
    ({ found }) => !/^(?:https?|mailto):/.test(found),
  );
  expect(links.length).toBeGreaterThan(100);
  const isDead = ({ path, found }: { path: string; found: string }): boolean => {
    const [file = '', anchor] = found.split('#');
    const target = file === '' ? path : relative(packageRoot, join(packageRoot, dirname(path), file));
    if (!existsSync(join(packageRoot, target))) return true;
    return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
  };
  expect(links.filter(isDead)).toEqual([]);
});

const named = all((text) =>
  codesOf(text).flatMap((code) =>
    [...code.matchAll(/\bnpm (?:run (?:-s |--silent )?)?([\w-]+)((?: -- [^;|#)"]*)?)/g)]
      .filter(([whole, name = '']) => /^npm run /.test(whole) || name === 'start' || name === 'test')
      .map(([, name = '', options = '']) => ({
        name,
        options: [...options.matchAll(/(?<=\s)--\w[\w-]*/g)].map(String),
      })),
  ),
);

test('every command of npm is a script', () => {
  expect(named.length).toBeGreaterThan(60);
  expect(named.filter(({ found }) => !Object.hasOwn(scripts, found.name))).toEqual([]);
});

/** Where a command says how it is used: the table of texts, its program, and what that imports. */
function helpOf(name: string): string {
  const program = (scripts[name] ?? '').split(' ').find((word) => /^(?:dist|tools)\/(?!run)/.test(word)) ?? '';
  const source = program.replace(/^dist\//, '').replace(/\.js$/, '.ts');
  if (program === '') return '';
  const imports = [...read(source).matchAll(/from '(\.[^']+)\.js'/g)].map(([, path = '']) =>
    join(dirname(source), `${path}.ts`),
  );
  const text = (TEXTS as Readonly<Record<string, string>>)[program] ?? '';
  return [text, ...[source, ...imports].filter((path) => /\.ts$/.test(path)).map(read)].join('\n');
}

test('every option of a command is in its help', () => {
  // Passed on to vitest.
  const used = named.filter(({ found }) => found.options.length > 0 && found.name !== 'test');
  expect(used.length).toBeGreaterThan(15);
  const unknown = used.filter(({ found: { name, options } }) => {
    const help = helpOf(name);
    return options.some((option) => !new RegExp(`${option}(?![\\w-])`).test(help));
  });
  expect(unknown).toEqual([]);
});

test('every option that a document names alone is one of a command', () => {
  const helps = Object.keys(scripts).map(helpOf).join('\n');
  const options = all((text) => codesOf(text).flatMap((code) => /^--\w[\w-]*/.exec(code)?.[0] ?? []));
  expect(options.length).toBeGreaterThan(5);
  expect(options.filter(({ found }) => !new RegExp(`${found}(?![\\w-])`).test(helps))).toEqual([]);
});

test('every setting that a document names is read somewhere', () => {
  const sources = PROGRAMS.flatMap((folder) => filesIn(folder, /\.(?:ts|tsx|mjs|js|py|ya?ml|sql|xml)$/)).map(read);
  const known = new Set(
    [...sources, read('.env.example'), read('docker-compose.yml'), read('docker-compose.cluster.yml')].flatMap(
      (text) => text.match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? [],
    ),
  );
  const settings = all((text, path) =>
    codesOf(OF_OTHERS.test(path) ? '' : text).flatMap(
      (code) => code.match(/(?<![\w.])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?=$|[\s=:,])/g) ?? [],
    ),
  );
  expect(settings.length).toBeGreaterThan(100);
  expect(settings.filter(({ found }) => !known.has(found) && !NO_SETTINGS.includes(found))).toEqual([]);
});
