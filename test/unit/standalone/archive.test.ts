// Archives of backups: what a damaged one says, whichever of tar and the decompression fails first,
// and what an interruption leaves.
import { pbkdf2 } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { readArchive, writeArchive } from '../../../standalone/backup/archive.js';
import { StartProblem } from '../../../standalone/problem.js';

const root = mkdtempSync(join(tmpdir(), 'event-analytics-unit-'));
const archive = join(root, 'backup.tar.gz');
const options = { onBytes: () => {}, signal: new AbortController().signal };

/** Of libuv, by default. */
const THREADS = 4;
const derive = promisify(pbkdf2);

afterAll(() => rmSync(root, { recursive: true, force: true }));

async function read(): Promise<string | undefined> {
  const folder = mkdtempSync(join(root, 'read-'));
  try {
    await readArchive(archive, folder, options);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Large enough that tar gives up long before the end. */
const text = Buffer.alloc(8_000_000, 'no archive of tar; ');

test('a whole archive is read again, also when tar ends before its input is closed', async () => {
  const content = join(root, 'content');
  mkdirSync(content);
  const file = text.subarray(0, 20_000);
  writeFileSync(join(content, 'a'), file);
  await writeArchive(archive, ['-C', content, '.'], options);
  expect(statSync(archive).mode & 0o077).toBe(0);
  // tar is faster than the pipe once in some ten times.
  for (let n = 0; n < 40; n += 1) {
    const folder = mkdtempSync(join(root, 'read-'));
    await readArchive(archive, folder, options);
    expect(readdirSync(folder)).toEqual(['a']);
    expect(readFileSync(join(folder, 'a')).equals(file)).toBe(true);
    rmSync(folder, { recursive: true });
  }
});

// Linux has a device that is always full.
test('a file that tar cannot read ends the archive', async () => {
  const incomplete = join(root, 'incomplete.tar.gz');
  writeFileSync(join(root, 'present'), 'a');
  await expect(writeArchive(incomplete, ['-C', root, 'present', 'missing'], options)).rejects.toThrow(
    /^tar failed: .*missing/,
  );
  expect(readdirSync(root).filter((name) => name.startsWith('incomplete'))).toEqual([]);
});

test.runIf(existsSync('/dev/full'))('a full disk is named with the file', async () => {
  const folder = mkdtempSync(join(root, 'full-'));
  const full = join(folder, 'backup.tar.gz');
  symlinkSync('/dev/full', `${full}.unfinished`);
  await expect(writeArchive(full, ['-C', root, '.'], options)).rejects.toThrow(
    new StartProblem(`${full} cannot be written: ENOSPC: no space left on device, write.`),
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('an interruption leaves nothing behind, however late a thread would open the file', async () => {
  const folder = mkdtempSync(join(root, 'interrupted-'));
  const interrupted = new AbortController();
  const busy = Promise.all(Array.from({ length: THREADS }, () => derive('password', 'salt', 500_000, 32, 'sha256')));
  const writing = writeArchive(join(folder, 'backup.tar.gz'), ['-C', root, '.'], {
    ...options,
    signal: interrupted.signal,
  });
  interrupted.abort();
  await expect(writing).rejects.toThrow();
  await busy;
  // A file that is opened only now would appear.
  await delay(100);
  expect(readdirSync(folder)).toEqual([]);
});

test('damage that tar meets first is named as damage of the file', async () => {
  const damaged = gzipSync(text);
  damaged.fill(0, damaged.length - 8);
  writeFileSync(archive, damaged);
  expect(await read()).toBe(`${archive} is not a backup, or is damaged: incorrect data check.`);
});

test.each([
  ['no archive', 'incorrect header check'],
  [gzipSync(text).subarray(0, 10_000), 'unexpected end of file'],
])('%# is refused with what is wrong', async (bytes, problem) => {
  writeFileSync(archive, bytes);
  expect(await read()).toBe(`${archive} is not a backup, or is damaged: ${problem}.`);
});

test('what is compressed, but no archive, is refused with what tar says', async () => {
  writeFileSync(archive, gzipSync(text));
  expect(await read()).toMatch(/^tar failed: .*tar/);
});
