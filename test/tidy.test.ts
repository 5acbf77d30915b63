// The rules of the house that a machine can judge. Each failure names the file and what is wrong
// with it.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { buildParserFile } from '@lezer/generator';
import { describe, expect, test } from 'vitest';
import { parseConfig, SETTING_NAMES } from '../src/platform/config.js';
import { packageRoot } from '../src/platform/paths.js';
import { parseProcfile } from '../standalone/procfile.js';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

const filesUnder = (...folders: string[]): string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:tsx?|mjs)$/.test(entry.name))
      .map((entry) => relative(packageRoot, join(entry.parentPath, entry.name))),
  );

interface Import {
  readonly from: string;
  readonly to: string;
  readonly isTypeOnly: boolean;
}

const IMPORT = /^(?:import|export)\s+(?<type>type\s)?(?:[^'";]*?\sfrom\s+)?'(?<path>\.[^']*)'/gm;
const DYNAMIC_IMPORT = /\bimport\('(?<path>\.[^']*)'\)/g;

const sources = filesUnder('src', 'workers', 'standalone', 'cli', 'packages');
const clients = filesUnder('clients/browser/src', 'clients/node/src');
const consoleFiles = filesUnder('console');

function importsOf(from: string): Import[] {
  const text = read(from);
  return [...text.matchAll(IMPORT), ...text.matchAll(DYNAMIC_IMPORT)].map(({ groups }) => ({
    from,
    to: join(dirname(from), groups?.path ?? '').replace(/\.js$/, '.ts'),
    isTypeOnly: groups?.type !== undefined,
  }));
}

const imports: readonly Import[] = [...sources, ...filesUnder('grammar', 'ops', 'bench', 'faults')].flatMap(importsOf);

/** `src/ingest/row.ts` → `ingest`; `workers/main.ts` → `workers`. */
const partOf = (path: string): string => {
  const [top = '', second = ''] = path.split('/');
  return top === 'src' ? second : top;
};

const PROCESSES = new Set(['api', 'query-api', 'standalone', 'imports', 'demo', 'cli']);
const isFeature = (part: string) =>
  !PROCESSES.has(part) &&
  !['platform', 'query', 'grammar', 'packages', 'workers', 'bench', 'faults', 'ops'].includes(part);

describe('imports flow one way', () => {
  const broken = (isBroken: (edge: { from: string; to: string } & Record<'fromPart' | 'toPart', string>) => boolean) =>
    imports
      .map(({ from, to }) => ({ from, to, fromPart: partOf(from), toPart: partOf(to) }))
      .filter(isBroken)
      .map(({ from, to }) => `${from} → ${to}`);

  test('every import leads to a file', () => {
    const known = new Set([
      ...filesUnder('src', 'workers', 'standalone', 'cli', 'packages', 'grammar', 'ops', 'bench', 'faults'),
      'grammar/parser.ts',
      'grammar/parser.terms.ts',
    ]);
    expect(broken(({ to }) => !known.has(to))).toEqual([]);
  });

  test('platform knows no feature', () => {
    expect(broken(({ fromPart, toPart }) => fromPart === 'platform' && toPart !== 'platform')).toEqual([]);
  });

  test('the compiler knows the grammar, the statistics of experiments and the platform only', () => {
    const allowed = ['query', 'grammar', 'experiments', 'platform'];
    expect(broken(({ fromPart, toPart }) => fromPart === 'query' && !allowed.includes(toPart))).toEqual([]);
  });

  test('src never imports workers, and nothing but its own imports the embedded stack', () => {
    expect(broken(({ from, toPart }) => from.startsWith('src/') && toPart === 'workers')).toEqual([]);
    const apart = ['standalone', 'cli', 'bench', 'faults'];
    expect(broken(({ fromPart, toPart }) => toPart === 'standalone' && !apart.includes(fromPart))).toEqual([]);
  });

  test('features import no process, and no routes of each other', () => {
    expect(broken(({ fromPart, toPart }) => isFeature(fromPart) && PROCESSES.has(toPart))).toEqual([]);
    const isForeignRoutes = (edge: { to: string; fromPart: string; toPart: string }) =>
      isFeature(edge.fromPart) &&
      isFeature(edge.toPart) &&
      edge.fromPart !== edge.toPart &&
      basename(edge.to) === 'routes.ts';
    expect(broken(isForeignRoutes)).toEqual([]);
  });

  test('there are no cycles', () => {
    const targets = new Map<string, string[]>();
    for (const { from, to, isTypeOnly } of imports)
      if (!isTypeOnly) targets.set(from, [...(targets.get(from) ?? []), to]);
    const done = new Set<string>();
    const cycles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      if (done.has(path)) return;
      done.add(path);
      for (const next of targets.get(path) ?? []) visit(next, [...trail, path]);
    };
    for (const path of targets.keys()) visit(path, []);
    expect(cycles).toEqual([]);
  });

  test('every file is used by something that is started, or at least by a test', () => {
    const started = [
      ...[...read('tools/bundle-processes.mjs').matchAll(/(?<=')(?:src|workers)[\w./-]+\.js(?=')/g)].map(
        ([path]) => path,
      ),
      ...parseProcfile(read('Procfile')).map(({ args }) => args.at(-1) ?? ''),
      ...[...read('package.json').matchAll(/dist\/[\w./-]+\.js/g)].map(([path]) => path),
      ...[...read('docker-compose.yml').matchAll(/dist\/[\w./-]+\.js/g)].map(([path]) => path),
      'dist/src/platform/threads/thread.js',
      ...['main', 'prepare', 'clickhouse-launcher', 'sign-in-provider/main'].map(
        (name) => `dist/standalone/${name}.js`,
      ),
    ].map((path) => path.replace(/^dist\//, '').replace(/\.js$/, '.ts'));
    const reached = new Set<string>();
    const visit = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const { from, to } of imports) if (from === path) visit(to);
    };
    const tested = filesUnder('test').flatMap(importsOf);
    for (const path of [...started, ...tested.map(({ to }) => to)]) visit(path);
    expect(sources.filter((path) => !reached.has(path))).toEqual([]);
  });
});

describe('files', () => {
  // The embedded stack builds the environment of its children, and the configuration parses it.
  const READS_ENVIRONMENT = /^(?:src\/platform\/config\.ts|standalone\/|cli\/)/;

  test('leave the environment to the configuration', () => {
    expect(
      sources.filter((path) => !READS_ENVIRONMENT.test(path) && /\bprocess\.env\b/.test(withoutComments(path))),
    ).toEqual([]);
  });

  test('log through the logger', () => {
    expect(sources.filter((path) => /\bconsole\./.test(withoutComments(path)))).toEqual([]);
  });

  test('make apps and routers that match strictly', () => {
    const isLenient = (path: string) =>
      /\bexpress\(\)|\bRouter\(/.test(withoutComments(path).replaceAll(/\w+Router\(/g, ''));
    expect(sources.filter(isLenient)).toEqual(['src/platform/http/router.ts']);
  });

  test('say first what they own', () => {
    expect([...sources, ...clients, ...consoleFiles].filter((path) => !/^(?:#!.*\n)?\/\/ \S/.test(read(path)))).toEqual(
      [],
    );
  });

  // Comments and titles of tests follow docs/GLOSSARY.md.
  const PLAIN_FOLDERS = [
    ...['src', 'workers', 'standalone', 'cli', 'packages', 'tools', 'bench', 'faults', 'test', 'console'],
    ...['clients/browser/src', 'clients/node/src'],
  ];
  const NOT_PLAIN =
    /\b(?:whoever|nobody|somebody|spelled|spells|(?:is|are) away|as it was|told apart|given up|anew|came to be)\b/i;

  test('explain themselves in plain words', () => {
    const PROSE = /\/\*\*?[\s\S]*?\*\/|(?:^|\s)\/\/ .*$|^\s*(?:test|describe)(?:\.\w+)*\('.*$/gm;
    const proseOf = (path: string): string[] => read(path).match(PROSE) ?? [];
    const paths = filesUnder(...PLAIN_FOLDERS);
    const found = paths.flatMap((path) =>
      proseOf(path)
        .filter((text) => NOT_PLAIN.test(text))
        .map((text) => `${path}: ${text.trim()}`),
    );
    expect(found).toEqual([]);
  });

  test('wrap comments at 100 columns', () => {
    const COMMENT = /^\s*(?:\/\/|\/\*\*|\*)\s.*$/;
    // Directives, tables and addresses stay on one line.
    const IS_UNWRAPPED = /biome-ignore|https?:|\|/;
    const isLong = (line: string): boolean => [...line].length > 100 && COMMENT.test(line) && !IS_UNWRAPPED.test(line);
    const found = filesUnder(...PLAIN_FOLDERS).flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) => (isLong(line) ? [`${path}:${index + 1}`] : [])),
    );
    expect(found).toEqual([]);
  });

  test('have at most 400 lines', () => {
    const all = [...sources, ...clients, ...consoleFiles, ...filesUnder('test', 'bench', 'faults', 'tools')];
    const linesOf = (path: string): number => read(path).split('\n').length - 1;
    expect(all.map((path) => `${path}: ${linesOf(path)}`).filter((line) => Number(line.split(': ')[1]) > 400)).toEqual(
      [],
    );
  });

  test('are named in kebab-case after what they know', () => {
    const all = [...sources, ...clients, ...filesUnder('test', 'bench', 'faults', 'grammar')];
    expect(all.filter((path) => !/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z]+)*$/.test(basename(path)))).toEqual([]);
    expect(all.filter((path) => /(?:^|\/)(?:utils?|helpers?|common|misc)\.ts$/.test(path))).toEqual([]);
  });

  const withoutComments = (path: string): string => read(path).replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, '');
});

describe('what is generated or repeated', () => {
  test('the parser is the one of the grammar', () => {
    const { parser, terms } = buildParserFile(read('grammar/query.grammar'), {
      fileName: 'grammar/query.grammar',
      moduleStyle: 'es',
    });
    expect(read('grammar/parser.js')).toBe(parser);
    expect(read('grammar/parser.terms.js')).toBe(terms);
  });

  test('package-lock.json names no server', () => {
    expect(read('package-lock.json')).not.toContain('"resolved"');
  });

  test('.env.example shows every setting with its default', () => {
    const shown = Object.fromEntries(
      [...read('.env.example').matchAll(/^(?<name>[A-Z_]+)=(?<value>.*)$/gm)].map(({ groups }) => [
        groups?.name,
        groups?.value,
      ]),
    );
    expect(Object.keys(shown).sort()).toEqual([...SETTING_NAMES].sort());

    const required = {
      DATABASE_URL: 'postgres://x',
      REDIS_URL: 'redis://x',
      CLICKHOUSE_URL: 'http://x',
      SECRET_KEY_BASE: 'x'.repeat(32),
    };
    expect(parseConfig({ ...shown, ...required })).toEqual(parseConfig(required));
  });
});
