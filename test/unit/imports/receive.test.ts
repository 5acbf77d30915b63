// Files of an upload: the same in chunks of any size, and nothing stays of one that is refused.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test, vi } from 'vitest';
import { receiveFiles, removeLeftFolders } from '../../../src/imports/upload/receive.js';
import { toThreadOptions } from '../../../src/imports/upload/routes.js';

const FILES = { 'a.csv': 'id\n1\n', empty: '', 'ü b.json': '{"n":1}\n'.repeat(50) };
const body = (more = '') =>
  Buffer.from(
    `${JSON.stringify(Object.entries(FILES).map(([name, text]) => ({ name, bytes: Buffer.byteLength(text) })))}\n` +
      `${Object.values(FILES).join('')}${more}`,
  );

async function* inChunks(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const temporary = mkdtempSync(join(tmpdir(), 'receive-test-'));
vi.stubEnv('TMPDIR', temporary);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(temporary, { recursive: true });
});

test.each([1, 7, 64, 1e6])('files are written as they were sent, in chunks of %i bytes', async (size) => {
  const { paths, remove } = await receiveFiles(inChunks(body(), size), 1000);
  expect(paths.map((path) => [basename(path), readFileSync(path, 'utf8')])).toEqual(Object.entries(FILES));
  await remove();
  expect(() => readFileSync(paths[0] ?? '')).toThrow(/ENOENT/);
});

test.each([
  ['too many bytes', body('x'), 1000, 'the upload has more bytes than its files'],
  ['too few bytes', body().subarray(0, -1), 1000, 'the upload ends within ü b.json'],
  ['more than the limit', body(), 100, 'the limit of an upload is 100'],
  ['a name that is a path', Buffer.from('[{"name":"../x","bytes":0}]'), 100, 'is no name of a file'],
  ['a hidden file', Buffer.from('[{"name":".x","bytes":0}]'), 100, 'is no name of a file'],
  [
    'a name that is too long for a file system',
    Buffer.concat([Buffer.from(`[{"name":"${'ж'.repeat(190)}","bytes":400000}]\n`), Buffer.alloc(400_000)]),
    1e6,
    'name has more than 255 bytes',
  ],
  ['a name twice', Buffer.from('[{"name":"x","bytes":0},{"name":"x","bytes":0}]'), 100, 'two files have the same name'],
  ['no list', Buffer.alloc(200_000, 'x'), 1e6, 'the first line is not a list of files'],
])('%s: refused', async (_what, bytes, bytesMax, problem) => {
  await expect(receiveFiles(inChunks(bytes, 1000), bytesMax)).rejects.toThrow(problem);
  expect(readdirSync(temporary)).toEqual([]);
});

test('an upload that is cut off, or goes on after its files, is refused', async () => {
  async function* cutOff() {
    yield body().subarray(0, -1);
    throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
  }
  await expect(receiveFiles(cutOff(), 1000)).rejects.toThrow('the upload was cut off');
  async function* goesOn() {
    yield* [body(), Buffer.from('x')];
  }
  await expect(receiveFiles(goesOn(), 1000)).rejects.toThrow('the upload has more bytes than its files');
  expect(readdirSync(temporary)).toEqual([]);
});

test('the rest of a refused upload is read: browsers read no answer before they have sent everything', async () => {
  let sent = 0;
  async function* sending() {
    yield Buffer.from('[]\n');
    for (; sent < 100; sent += 1) yield Buffer.alloc(1000);
  }
  await expect(receiveFiles(sending(), 1000)).rejects.toThrow('the first line is not a list of files');
  await expect.poll(() => sent).toBe(100);
});

test('folders of processes that have ended are removed, those of others stay', async () => {
  const { pid: ended } = spawnSync(process.execPath, ['-e', '']);
  // Of an earlier process with the same id, as in a container.
  const left = [`service-upload-${ended}-`, `service-upload-${process.pid}-`];
  const prefixes = [...left, `service-upload-${process.ppid}-`, 'service-other-'];
  const paths = prefixes.map((prefix) => mkdtempSync(join(temporary, prefix)));
  await removeLeftFolders();
  expect(paths.map((path) => existsSync(path))).toEqual([false, false, true, true]);
  for (const path of paths) rmSync(path, { recursive: true, force: true });
});

test('the temporary files of the thread are in the folder of the upload', async () => {
  const folder = join(temporary, 'upload');
  const script = "require('node:worker_threads').parentPort.postMessage(require('node:os').tmpdir())";
  const [found] = await once(new Worker(script, { ...toThreadOptions({ folder }), eval: true }), 'message');
  expect(found).toBe(folder);
});
