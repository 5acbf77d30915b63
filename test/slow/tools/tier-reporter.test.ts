// What the end of a test run says of tests that failed once and always, and whether the run fails:
// a real run of Vitest in a folder of its own.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../../src/platform/paths.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'event-analytics-reporter-'));
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
  const projects = [{ test: { name: 'integration', retry: 1, include: ['test/*.test.mjs'] } }];
  writeFileSync(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify({ test: { projects } })};`);
  mkdirSync(join(folder, 'test'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(tests: string): { status: number | null; end: string } {
  writeFileSync(
    join(folder, 'test', 'some.test.mjs'),
    `import { expect, test } from 'vitest';
     const failOnce = (name) => { let tries = 0; test(name, () => { tries += 1; expect(tries).toBe(2); }); };
     test('passes', () => {});
     ${tests}`,
  );
  const vitest = join(packageRoot, 'node_modules', 'vitest', 'vitest.mjs');
  const reporter = `--reporter=${join(packageRoot, 'tools', 'tier-reporter.mjs')}`;
  const { status, stdout } = spawnSync(process.execPath, [vitest, 'run', reporter], { cwd: folder, encoding: 'utf8' });
  return { status, end: stripVTControlCharacters(stdout).split('Slowest files')[1] ?? '' };
}

test('tests that pass at the second attempt are listed, and three do not fail the run', () => {
  const { status, end } = run("for (const name of ['one', 'two', 'three']) failOnce(name);");
  expect(end.match(/^ {2}test\/some.test.mjs > .*$/gm)).toEqual(
    ['one', 'two', 'three'].map((name) => `  test/some.test.mjs > ${name}: expected 1 to be 2 // Object.is equality`),
  );
  expect(end).toContain('Passed at the second attempt');
  expect(end).not.toContain('Failed');
  expect(status).toBe(0);
});

test('more tests that fail once fail the run', () => {
  const { status, end } = run("for (const name of ['one', 'two', 'three', 'four']) failOnce(name);");
  expect(end).toContain('LIMIT EXCEEDED: 4 tests failed at first, of at most 3');
  expect(status).toBe(1);
});

test('a test that fails at both attempts is listed last and fails the run, and so does a hook', () => {
  const always = run("failOnce('once'); test('always', () => expect(1).toBe(3));");
  expect(always.end.split('\nFailed\n')[1]?.trim()).toBe(
    'test/some.test.mjs > always: expected 1 to be 3 // Object.is equality',
  );
  expect(always.status).toBe(1);
  const hook = run("import { beforeAll } from 'vitest'; beforeAll(() => { throw new Error('no engine'); });");
  expect(hook.end.split('\nFailed\n')[1]?.trim()).toBe('test/some.test.mjs: no engine');
  expect(hook.status).toBe(1);
});
