// Bundles of a small service of its own: a process that runs still loads its files, and those of
// its threads, after newer sources were built.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

const root = mkdtempSync(join(tmpdir(), 'event-analytics-bundles-'));
const running: ChildProcess[] = [];

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** Answers each line with what a lazily loaded module and a new thread say. */
const MAIN = `
import 'pg';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { bundledUrl } from '../platform/threads/bundled-url.js';
import { markUsedBuild } from '../platform/used-build.js';
markUsedBuild();
const thread = new URL('../imports/upload/thread.js', import.meta.url).href;
createInterface({ input: process.stdin }).on('line', async () => {
  const { text } = await import('./late.js');
  new Worker(new URL(bundledUrl(thread))).once('message', (said) => console.log(text, said));
});
console.log('ready');
`;

beforeAll(() => {
  symlinkSync(join(packageRoot, 'node_modules'), join(root, 'node_modules'));
  write('package.json', '{ "type": "module" }');
  write('package-lock.json', '{}');
  for (const path of [
    'tools/bundle-processes.mjs',
    'tools/setup.mjs',
    'dist/src/platform/used-build.js',
    'dist/src/platform/paths.js',
    'dist/src/platform/threads/bundled-url.js',
  ])
    cpSync(join(packageRoot, path), join(root, path));
  write('dist/src/api/main.js', MAIN);
  write('dist/src/platform/threads/thread.js', '');
  for (const name of ['src/query-api', 'workers', 'standalone/sign-in-provider']) write(`dist/${name}/main.js`, '');
  write('dist/standalone/prepare.js', '');
});

afterAll(() => {
  for (const child of running) child.kill();
  rmSync(root, { recursive: true, force: true });
});

async function build(version: string): Promise<void> {
  write('dist/src/api/late.js', `export const text = '${version}';`);
  write(
    'dist/src/imports/upload/thread.js',
    `import { parentPort } from 'node:worker_threads'; parentPort.postMessage('${version}');`,
  );
  await promisify(execFile)(process.execPath, [join(root, 'tools/bundle-processes.mjs')]);
}

interface Running {
  /** Resolves with the process's answer. */
  readonly ask: () => Promise<string>;
  readonly stop: (signal: NodeJS.Signals) => Promise<void>;
}

async function start(): Promise<Running> {
  const child = spawn(process.execPath, [join(root, 'dist/processes/web.js')], { stdio: ['pipe', 'pipe', 'inherit'] });
  running.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  expect(await next()).toBe('ready');
  return {
    ask: () => {
      child.stdin.write('\n');
      return next();
    },
    stop: async (signal) => {
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
  };
}

const builds = (): number => readdirSync(join(root, 'dist/builds')).length;

test('a process runs its own build however many newer ones have followed', async () => {
  // As builds wrote it before.
  write('dist/processes/web.js', '');
  await build('first');
  const [one, other] = [await start(), await start()];
  await build('second');
  expect(await one.ask()).toBe('first first');
  expect(await (await start()).ask()).toBe('second second');
  // Two builds that broke off.
  for (const time of [1, 2]) write(`dist/builds/${Date.now() + time}.unfinished/web.js`, '');
  for (const version of ['third', 'fourth', 'fifth']) await build(version);
  expect(builds()).toBe(5);
  // Its files are read for the first time.
  expect(await other.ask()).toBe('first first');
  await one.stop('SIGTERM');
  // Leaves its mark.
  await other.stop('SIGKILL');
  await build('sixth');
  // The newest three, and the second, which still runs.
  expect(builds()).toBe(4);
  expect(existsSync(join(root, 'dist/processes/web.js'))).toBe(true);
}, 120_000);
