// Secrets of a data directory, and whose directory a backup as root refuses.
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataDirectory, readOrCreateSecrets, requireAccountOf } from '../../../standalone/data-directory.js';
import { StartProblem } from '../../../standalone/problem.js';
import { OTHER_ACCOUNT_ID } from '../../support/other-account.js';

let path: string;

beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'data-directory-'));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

test('openDataDirectory() names a path that cannot be a folder, and the setting', () => {
  const file = join(path, 'file');
  writeFileSync(file, '');
  const sentence = `EEXIST: file already exists, mkdir '${file}'; set DATA_DIR to a folder that this account can write.`;
  expect(() => openDataDirectory(file)).toThrow(new StartProblem(sentence));
  mkdirSync(join(path, 'data'));
  writeFileSync(join(path, 'data', 'logs'), '');
  expect(() => openDataDirectory(join(path, 'data'))).toThrow(StartProblem);
});

test.runIf(existsSync('/proc/self'))('openDataDirectory() refuses a folder below /proc', () => {
  const sentence =
    "ENOENT: no such file or directory, mkdir '/proc/none'; set DATA_DIR to a folder that this account can write.";
  expect(() => openDataDirectory('/proc/none/data')).toThrow(new StartProblem(sentence));
});

test('openDataDirectory() creates the folders above, closed to others', () => {
  openDataDirectory(join(path, 'above', 'data'));
  expect([join(path, 'above'), join(path, 'above', 'data')].map((folder) => statSync(folder).mode & 0o777)).toEqual([
    0o700, 0o700,
  ]);
});

test('readOrCreateSecrets() does not replace a complete file, which may belong to another account', () => {
  const directory = openDataDirectory(path);
  const file = join(path, 'secrets.json');
  const created = readOrCreateSecrets(directory);
  const before = statSync(file).ino;
  expect(readOrCreateSecrets(directory)).toEqual(created);
  expect(statSync(file).ino).toBe(before);
});

test('readOrCreateSecrets() adds the secrets that an earlier version did not have', () => {
  const directory = openDataDirectory(path);
  const file = join(path, 'secrets.json');
  writeFileSync(file, '{"redisPassword":"old"}');
  const secrets = readOrCreateSecrets(directory);
  expect(secrets).toMatchObject({ redisPassword: 'old', secretKeyBase: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(secrets);
});

// Only root may give files to another account.
test.runIf(process.getuid?.() === 0)(
  'a backup as root refuses the directory of an account that runs the service',
  () => {
    const directory = openDataDirectory(path);
    const give = (owned: string, id = OTHER_ACCOUNT_ID) => chownSync(owned, id, id);
    mkdirSync(directory.clickhouse);
    expect(() => requireAccountOf(directory)).not.toThrow();
    // As after a start as root: an engine has an account of its own.
    give(path);
    give(directory.clickhouse, OTHER_ACCOUNT_ID - 1);
    expect(() => requireAccountOf(directory)).not.toThrow();
    give(directory.clickhouse);
    const refusal = `${path} belongs to another account of this machine (uid ${OTHER_ACCOUNT_ID}): run the backup as that account.`;
    expect(() => requireAccountOf(directory)).toThrow(new StartProblem(refusal));
  },
);

test('secrets that cannot be read are named, and not replaced', () => {
  const directory = openDataDirectory(path);
  const file = join(path, 'secrets.json');
  for (const text of ['', '{']) {
    writeFileSync(file, text);
    const said = `StartProblem: ${file} cannot be read: `;
    expect(captured(() => readOrCreateSecrets(directory))).toMatch(
      new RegExp(`^${said}.*; take this file from a backup`),
    );
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
});

test('a file that cannot be written is named', () => {
  const directory = openDataDirectory(path);
  mkdirSync(join(path, 'secrets.json.new'));
  const said = `StartProblem: ${join(path, 'secrets.json')} cannot be written: EISDIR`;
  expect(captured(() => readOrCreateSecrets(directory))).toContain(said);
});

function captured(run: () => unknown): string {
  try {
    return `no problem: ${JSON.stringify(run())}`;
  } catch (error) {
    return String(error);
  }
}
