// CONTRIBUTING.md against the repository: its commands and the paths that it names exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

const text = readFileSync(join(packageRoot, 'CONTRIBUTING.md'), 'utf8');
const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const folders = readdirSync(packageRoot, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
// Names with a placeholder are examples.
const isName = (path: string): boolean => !/[<>…*]/.test(path);
const isPath = (code: string): boolean =>
  folders.includes(code.split('/')[0] ?? '') && /^[\w./-]+\/[\w./-]*$/.test(code);

const section = (title: string): string => text.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
/** Texts between backticks, of all lines. */
const codesOf = (part: string): string[] => [...part.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

test('every command of npm is a script', () => {
  const named = [...text.matchAll(/npm (?:run (?:-s )?([\w-]+)|(start|test)\b)/g)].map(
    ([, run, short]) => run ?? short ?? '',
  );
  expect(named).toContain('check');
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

test('every path and every link exists', () => {
  const paths = codesOf(text)
    .flatMap((code) => code.split(' '))
    .filter((code) => isPath(code) && isName(code));
  const links = [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => link);
  expect(paths).toContain('src/query/language.ts');
  expect(links).toContain('docs/ARCHITECTURE.md');
  expect([...paths, ...links].filter((path) => !existsSync(join(packageRoot, path)))).toEqual([]);
});

test('the first change can be made: its search finds a place, and its test runs that', () => {
  const first = section('The first change');
  const [, words = '', where = ''] = /grep -rn "([^"]+)" (\w+)/.exec(first) ?? [];
  const sources = readdirSync(join(packageRoot, where), { recursive: true, encoding: 'utf8' });
  const hasWords = (path: string): boolean => readFileSync(join(packageRoot, where, path), 'utf8').includes(words);
  expect(sources.filter((path) => path.endsWith('.ts')).some(hasWords)).toBe(true);
  const [, project = '', file = ''] = /vitest run --project (\w+) ([\w./-]+)/.exec(first) ?? [];
  expect([project, existsSync(join(packageRoot, file))]).toEqual(['unit', true]);
  expect(existsSync(join(packageRoot, file.replace('test/unit', 'src').replace('.test', '')))).toBe(true);
});
