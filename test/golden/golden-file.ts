// Reads and writes golden files: a query with its options, then the expectations, section by
// section.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { toProjectId } from '../../src/platform/ids.js';
import { packageRoot } from '../../src/platform/paths.js';
import type { CompileContext } from '../../src/query/compile.js';
import { NOW_MS, PROJECT } from './dataset.js';

const FOLDER = join(packageRoot, 'test', 'golden');

export type SectionName = 'sql' | 'params' | 'error' | 'reads' | 'rows';

export interface GoldenFile {
  readonly name: string;
  readonly path: string;
  /**
   * The lines above the first section: the query, and lines of the form `@ timezone Europe/Berlin`
   * or `@ cohort power * | where count(purchase) > 1`.
   */
  readonly head: string;
  readonly query: string;
  readonly context: CompileContext;
  readonly sections: ReadonlyMap<string, string>;
  /** Files that expect an error say so in their name. */
  readonly expectsError: boolean;
}

function parseOptions(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    lines.map((line) => {
      const [name = '', ...value] = line.slice(1).trim().split(' ');
      return [name, value.join(' ')];
    }),
  );
}

function parseGoldenFile(path: string): GoldenFile {
  const [head = '', ...parts] = readFileSync(path, 'utf8').split(/^==> /m);
  const lines = head.split('\n');
  const options = parseOptions(lines.filter((line) => line.startsWith('@')));
  const [cohort, ...cohortQuery] = options.get('cohort')?.split(' ') ?? [];
  const sections = parts.map((part): [string, string] => {
    const end = part.indexOf('\n');
    return [part.slice(0, end).trim(), part.slice(end + 1).trimEnd()];
  });
  return {
    name: relative(FOLDER, path).replace(/\.txt$/, ''),
    path,
    head: head.trimEnd(),
    query: lines
      .filter((line) => !line.startsWith('@'))
      .join('\n')
      .trim(),
    context: {
      projectId: toProjectId(PROJECT),
      nowMs: NOW_MS,
      timezone: options.get('timezone') ?? 'UTC',
      limit: Number(options.get('limit') ?? 100),
      offset: Number(options.get('offset') ?? 0),
      ...(cohort !== undefined && {
        definitions: [{ kind: 'cohort', name: cohort, query: cohortQuery.join(' '), line: 1 }],
      }),
    },
    sections: new Map(sections),
    expectsError: basename(path).startsWith('error-'),
  };
}

export const isUpdating = process.env.UPDATE_GOLDEN === '1';

export function readGoldenFiles(): GoldenFile[] {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name) => parseGoldenFile(join(FOLDER, name)));
}

const ORDER: readonly string[] = ['sql', 'params', 'error', 'reads', 'rows'];

/** Replaces the sections that are given; undefined removes one. */
export function writeSections(
  file: GoldenFile,
  changed: Readonly<Partial<Record<SectionName, string | undefined>>>,
): void {
  const sections = new Map(parseGoldenFile(file.path).sections);
  for (const [name, text] of Object.entries(changed)) {
    if (text === undefined) sections.delete(name);
    else sections.set(name, text);
  }
  const printed = [...sections]
    .sort(([a], [b]) => ORDER.indexOf(a) - ORDER.indexOf(b))
    .map(([name, text]) => `==> ${name}\n${text}\n`);
  writeFileSync(file.path, `${file.head}\n${printed.join('')}`);
}
