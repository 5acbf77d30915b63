// `npm start` in a fresh clone: what it needs of the system comes before its downloads.

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

let clone: string;

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'event-analytics-clone-'));
  cpSync(join(packageRoot, 'tools'), join(clone, 'tools'), { recursive: true });
  cpSync(join(packageRoot, 'package-lock.json'), join(clone, 'package-lock.json'));
  mkdirSync(join(clone, 'bin'));
  writeFileSync(join(clone, 'bin', 'npm'), `#!/bin/sh\n: > '${clone}/installed'; exit 1\n`, { mode: 0o755 });
});

afterEach(() => rmSync(clone, { recursive: true, force: true }));

function start(env: Readonly<Record<string, string>>): string {
  const options = { cwd: clone, env: { PATH: join(clone, 'bin'), ...env }, encoding: 'utf8' } as const;
  return spawnSync(process.execPath, ['tools/start.mjs', '--yes'], options).stderr;
}

test('without Redis, and without a way to install it, nothing is downloaded', () => {
  expect(start({})).toMatch(/^Redis is missing: install redis-server or valkey-server/);
  expect(existsSync(join(clone, 'installed'))).toBe(false);
});

test('with a Redis of its own, the packages are next', () => {
  expect(start({ REDIS_URL: 'redis://127.0.0.1:1' })).toMatch(/^▸ Installing dependencies/);
  expect(existsSync(join(clone, 'installed'))).toBe(true);
});

test('a setting of .env counts when the environment does not have it', () => {
  writeFileSync(join(clone, '.env'), 'REDIS_URL=redis://127.0.0.1:1\n');
  expect(start({ REDIS_URL: '' })).toMatch(/^Redis is missing: /);
  expect(start({})).toMatch(/^▸ Installing dependencies/);
});
