// What the set-up of `npm start` installs, with fake package managers that record their arguments.
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

const SETUP = pathToFileURL(join(packageRoot, 'tools', 'setup.mjs')).href;
const MANAGER = process.getuid?.() === 0 ? 'apt-get' : 'brew';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'event-analytics-setup-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function addCommand(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

function runEnsureRedis(confirm: string): { status: number | null; stdout: string; stderr: string } {
  const script = `import('${SETUP}').then(({ ensureRedis }) => ensureRedis(${confirm})).then(() => console.log('done'))`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    env: { PATH: folder },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const calls = (): string => (existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8') : '');
const installer = (): string =>
  `[ "$1" = --version ] && exit 0; echo "$@" >> '${folder}/calls'; printf '#!/bin/sh\\n' > '${folder}/redis-server'; /bin/chmod +x '${folder}/redis-server'`;

test('ensureRedis() does nothing when Redis is installed', () => {
  addCommand('redis-server', '');
  addCommand(MANAGER, installer());
  expect(runEnsureRedis('async () => { console.log("asked"); return true; }')).toMatchObject({
    status: 0,
    stdout: 'done\n',
  });
  expect(calls()).toBe('');
});

test('ensureRedis() asks with the package manager and installs after yes', () => {
  addCommand(MANAGER, installer());
  const run = runEnsureRedis('async (question) => { console.log(question); return true; }');
  expect(run.stdout).toBe(`Redis is missing. Install it on this system with ${MANAGER}?\ndone\n`);
  expect(calls()).toMatch(/install .*redis/);
});

test('ensureRedis() installs nothing after no and prints advice', () => {
  addCommand(MANAGER, installer());
  const run = runEnsureRedis('async () => false');
  expect(run).toMatchObject({ status: 1, stdout: '' });
  expect(run.stderr).toContain('install redis-server or valkey-server, or set REDIS_URL');
  expect(calls()).toBe('');
});

test('ensureRedis() installs without a question when there is no terminal', () => {
  addCommand(MANAGER, installer());
  const run = runEnsureRedis(`(question) => import('${SETUP}').then((setup) => setup.confirmOnTerminal(question))`);
  expect(run).toMatchObject({ status: 0, stdout: 'done\n' });
  expect(run.stderr).not.toContain('[Y/n]');
});

test('installDependencies() leaves the folder alone where a link of node_modules leads', () => {
  const shared = join(folder, 'shared');
  const clone = join(folder, 'clone');
  for (const path of [shared, join(clone, 'tools')]) mkdirSync(path, { recursive: true });
  writeFileSync(join(shared, 'package.json'), '{}');
  symlinkSync(shared, join(clone, 'node_modules'));
  copyFileSync(join(packageRoot, 'tools', 'setup.mjs'), join(clone, 'tools', 'setup.mjs'));
  copyFileSync(join(packageRoot, 'package-lock.json'), join(clone, 'package-lock.json'));
  addCommand('npm', `echo "$@" >> '${folder}/calls'`);
  const url = pathToFileURL(join(clone, 'tools', 'setup.mjs')).href;
  const script = `import('${url}').then(({ installDependencies }) => installDependencies())`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { env: { PATH: folder }, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('node_modules is a link') });
  expect(calls()).toBe('');
});

test('a folder that the account cannot write is named in one line', () => {
  mkdirSync(join(folder, 'tools'));
  copyFileSync(join(packageRoot, 'tools', 'setup.mjs'), join(folder, 'tools', 'setup.mjs'));
  writeFileSync(join(folder, 'package-lock.json'), '{}');
  chmodSync(folder, 0o555);
  const script = `import('${pathToFileURL(join(folder, 'tools', 'setup.mjs')).href}').then((setup) => setup.installDependencies())`;
  // The user root writes everywhere, so the script runs as an account without any rights.
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { ...account, encoding: 'utf8' });
  chmodSync(folder, 0o755);
  const sentence =
    'has to be installed or built, and this account cannot write there: run npm start once as one that can.';
  expect({ status, stderr }).toEqual({ status: 1, stderr: `${folder} ${sentence}\n` });
});

test('a stamp that is removed while it is read counts as missing', () => {
  mkdirSync(join(folder, 'tools'));
  copyFileSync(join(packageRoot, 'tools', 'setup.mjs'), join(folder, 'tools', 'setup.mjs'));
  // As if the other command removed it right behind a look whether it is there.
  const script = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.existsSync = () => true;
    syncBuiltinESMExports();
    const { unlessStamped } = await import('${pathToFileURL(join(folder, 'tools', 'setup.mjs')).href}');
    unlessStamped({ stamp: '${join(folder, 'stamp')}', wanted: 'x' }, () => console.log('worked'));`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'worked\n' });
});

test('two commands at once in a fresh clone install one after the other, and once', { timeout: 30_000 }, async () => {
  const clone = join(folder, 'clone');
  mkdirSync(join(clone, 'tools'), { recursive: true });
  for (const name of ['tools/setup.mjs', 'package-lock.json']) copyFileSync(join(packageRoot, name), join(clone, name));
  // Of a command that was killed.
  writeFileSync(join(clone, '.setup.lock'), String(spawnSync('true').pid));
  addCommand('npm', `echo begun >> '${folder}/calls'; sleep 1; mkdir -p node_modules; echo ended >> '${folder}/calls'`);
  const url = pathToFileURL(join(clone, 'tools', 'setup.mjs')).href;
  const script = `import('${url}').then(({ installDependencies }) => installDependencies())`;
  const run = () => spawn(process.execPath, ['-e', script], { env: { PATH: `${folder}:${process.env.PATH}` } });
  const ended = [run(), run()].map(
    (child) => new Promise<number | null>((resolve) => child.once('close', (status) => resolve(status))),
  );
  expect(await Promise.all(ended)).toEqual([0, 0]);
  expect(calls()).toBe('begun\nended\n');
  expect(existsSync(join(clone, '.setup.lock'))).toBe(false);
});
