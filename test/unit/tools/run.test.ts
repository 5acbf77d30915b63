// tools/run.mjs: the data directory of a command, with a command that prints it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

const folder = mkdtempSync(join(tmpdir(), 'event-analytics-run-'));
// As in a deployment without the compiler, where nothing is installed or built.
mkdirSync(join(folder, 'node_modules'));
writeFileSync(join(folder, 'print.mjs'), 'console.log(process.env.DATA_DIR, process.env.PORT);\n');

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function runPrint(env: Readonly<Record<string, string>>): string {
  const args = [join(packageRoot, 'tools', 'run.mjs'), 'print.mjs'];
  return spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' }).stdout;
}

test('a command takes DATA_DIR, and only that, from .env when it is not set', () => {
  expect(runPrint({})).toBe('undefined undefined\n');
  writeFileSync(join(folder, '.env'), 'PORT=9000\nDATA_DIR=/srv/analytics\n');
  expect(runPrint({})).toBe('/srv/analytics undefined\n');
  expect(runPrint({ DATA_DIR: 'other' })).toBe('other undefined\n');
  writeFileSync(join(folder, '.env'), 'PORT=9000\n');
  expect(runPrint({})).toBe('undefined undefined\n');
});

test('a byte-order mark does not hide the first setting of .env', () => {
  writeFileSync(join(folder, '.env'), '\uFEFFDATA_DIR="/srv/my data"\r\nPORT=9000\r\n');
  expect(runPrint({})).toBe('/srv/my data undefined\n');
});
