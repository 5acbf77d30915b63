// When commands compile, in a small clone whose compilers record their runs.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

let clone: string;

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), text, { mode });
}

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'event-analytics-build-'));
  mkdirSync(join(clone, 'tools'));
  for (const name of ['build', 'setup', 'help']) {
    copyFileSync(join(packageRoot, 'tools', `${name}.mjs`), join(clone, 'tools', `${name}.mjs`));
  }
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']) write(name, '{}');
  for (const name of ['tools/bundle-processes.mjs', 'clients/browser/build.mjs']) write(name, '');
  for (const name of ['lezer-generator', 'vite']) write(`node_modules/.bin/${name}`, '#!/bin/sh\n', 0o755);
  write('node_modules/.bin/tsc', '#!/bin/sh\necho compiled\necho once >> calls\nmkdir -p dist/src', 0o755);
  write('src/main.ts', '');
  write('dist/src/main.js', '');
  write('dist/src/removed.js', '');
});

afterEach(() => rmSync(clone, { recursive: true, force: true }));

const compilations = (): number =>
  existsSync(join(clone, 'calls')) ? readFileSync(join(clone, 'calls'), 'utf8').trim().split('\n').length : 0;

function run(args: readonly string[]): void {
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: clone, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
}

const buildWhenChanged = (): void =>
  run(['-e', `import('${pathToFileURL(join(clone, 'tools', 'build.mjs')).href}').then(({ build }) => build())`]);

test('npm run build always compiles, other commands only what has changed since', () => {
  run(['tools/build.mjs']);
  expect(compilations()).toBe(1);
  buildWhenChanged();
  expect(compilations()).toBe(1);
  run(['tools/build.mjs']);
  expect(compilations()).toBe(2);
  write('src/main.ts', 'export {};');
  buildWhenChanged();
  expect(compilations()).toBe(3);
});

test('a change of package-lock.json alone compiles again, because the bundles contain packages', () => {
  run(['tools/build.mjs']);
  write('package-lock.json', '{ "lockfileVersion": 3 }');
  buildWhenChanged();
  expect(compilations()).toBe(2);
});

test('compiled files without a source are removed', () => {
  run(['tools/build.mjs']);
  expect(['main.js', 'removed.js'].map((name) => existsSync(join(clone, 'dist/src', name)))).toEqual([true, false]);
});

test('a build that fails is done again', () => {
  write('node_modules/.bin/vite', '#!/bin/sh\nexit 1\n', 0o755);
  const { status, stderr } = spawnSync(process.execPath, ['tools/build.mjs'], { cwd: clone, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: '▸ Building …\ncompiled\nThe build failed; its messages are above.\n',
  });
  write('node_modules/.bin/vite', '#!/bin/sh\n', 0o755);
  buildWhenChanged();
  expect(compilations()).toBe(2);
});
