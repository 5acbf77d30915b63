// Input of an import: files, folders, globs, gzip and zip in one order. The archives of fixtures/
// were made by Python's zipfile.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { findInput, type InputFile } from '../../../../src/imports/input/input-files.js';
import { readParquet } from '../../../../src/imports/input/parquet.js';

const ARCHIVE = new URL('fixtures/export.zip', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'input-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(() => {
  const write = (name: string, content: string | Buffer) => {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  write('2026/01/02/b.json', 'b');
  write('2026/01/01/a.json.gz', gzipSync('a'));
  write('2026/01/01/no-suffix', Buffer.concat([gzipSync('two '), gzipSync('members')]));
  write('2026/01/01/_SUCCESS', '');
  write('2026/01/01/.hidden', 'x');
  symlinkSync(join(folder, 'removed'), join(folder, '2026/01/01/link-to-nothing'));
  write('log.txt', 'log');
  write('lines.jsonl.br', brotliCompressSync('brotli'));
  write('events.parquet.br', 'PAR1');
  write('large.parquet', gzipSync(Buffer.alloc(4 * 1024 * 1024)));
  write('export.zip', readFileSync(ARCHIVE));
  write('utf-16.csv', Buffer.from('\uFEFFid,я😀\n', 'utf16le'));
  write('utf-16.csv.gz', gzipSync(Buffer.from('\uFEFFid,я😀\n', 'utf16le').swap16()));
  for (const [name, content] of NOT_READ) write(name, content);
  write('cut.gz', gzipSync('x'.repeat(1000)).subarray(0, 20));
  const archive = readFileSync(ARCHIVE);
  write('cut.zip', archive.subarray(0, archive.length - 40));
  write('damaged.zip', changeStoredByte(archive));
});

const tar = Buffer.alloc(512);
tar.write('ustar', 257);

/** Files of formats that are not read, with what is said of them. */
const NOT_READ: readonly (readonly [name: string, content: Buffer, problem: string])[] = [
  ['a.zst', Buffer.from('28b52ffd00', 'hex'), 'compressed with zstd, which is not read: decompress it first'],
  ['a.bz2', Buffer.from('BZh91AY&SY'), 'compressed with bzip2'],
  ['a.xz', Buffer.from('fd377a585a0000', 'hex'), 'compressed with xz'],
  ['a.lz4', Buffer.from('04224d1800', 'hex'), 'compressed with lz4'],
  ['a.lzo', Buffer.from('894c5a4f000d0a1a0a', 'hex'), 'compressed with lzop'],
  ['a.7z', Buffer.from('377abcaf271c00', 'hex'), 'a 7z archive, which is not read: unpack it first'],
  ['a.tar', tar, 'a tar archive'],
  ['a.tar.gz', gzipSync(tar), 'a tar archive'],
  ['a.gz.gz', gzipSync(gzipSync('a')), 'compressed twice: decompress it once'],
  ['a.zip.gz', gzipSync(readFileSync(ARCHIVE)), 'a zip archive in another file'],
];

/** Changes the content of the stored entry. */
function changeStoredByte(archive: Buffer): Buffer {
  const changed = Buffer.from(archive);
  changed[changed.indexOf('{"n":4}') + 5] = 0x35;
  return changed;
}

const open = (...paths: string[]) =>
  findInput(
    paths.map((path) => (path === '-' ? path : join(folder, path))),
    { stdin: Readable.from([Buffer.from('from '), Buffer.from('stdin')]) },
  );

async function textOf(file: InputFile): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.open()) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const CASES: readonly (readonly [rule: string, paths: readonly string[], files: readonly (readonly string[])[]])[] = [
  ['a file', ['log.txt'], [['log.txt', 'log']]],
  ['Brotli, by its name', ['lines.jsonl.br'], [['lines.jsonl.br', 'brotli']]],
  [
    'UTF-16 of both byte orders, by its mark',
    ['utf-16.csv', 'utf-16.csv.gz'],
    [
      ['utf-16.csv', 'id,я😀\n'],
      ['utf-16.csv.gz', 'id,я😀\n'],
    ],
  ],
  ['Parquet, whose codec is inside of it', ['events.parquet.br'], [['events.parquet.br', 'PAR1']]],
  ['standard input', ['-'], [['standard input', 'from stdin']]],
  [
    'a folder of days in order, without hidden files and marks',
    ['2026'],
    [
      ['2026/01/01/a.json.gz', 'a'],
      ['2026/01/01/no-suffix', 'two members'],
      ['2026/01/02/b.json', 'b'],
    ],
  ],
  [
    'a glob',
    ['2026/*/0?/*.json*'],
    [
      ['2026/01/01/a.json.gz', 'a'],
      ['2026/01/02/b.json', 'b'],
    ],
  ],
  ['a glob across folders', ['20*/**/b.json'], [['2026/01/02/b.json', 'b']]],
  [
    'an archive, with gzip in it',
    ['export.zip'],
    [
      ['export.zip/187520/187520_2026-01-01_0#0.json', '{"n":1}\n'],
      ['export.zip/187520/187520_2026-01-01_1#0.json.gz', '{"n":2}\n{"n":3}\n'],
      ['export.zip/187520/stored.json', '{"n":4}\n'],
    ],
  ],
];

test.each(CASES)('findInput() reads %s', async (_rule, paths, expected) => {
  const { files } = await open(...paths);
  const found = await Promise.all(files.map(async (file) => [file.name, await textOf(file)]));
  expect(found.map(([name = '', text]) => [name.startsWith('/') ? relative(folder, name) : name, text])).toEqual(
    expected,
  );
});

test('an archive whose sizes have 64 bits is read', async () => {
  const { files } = await findInput([new URL('fixtures/streamed.zip', import.meta.url).pathname], {
    stdin: Readable.from([]),
  });
  expect(await Promise.all(files.map(textOf))).toEqual(['{"n":1}\n']);
});

test('an upload has a limit of bytes after decompression, of all its files together', async () => {
  const text = 'x'.repeat(600_000);
  for (const name of ['first.gz', 'second.gz']) writeFileSync(join(folder, name), gzipSync(text));
  const paths = ['first.gz', 'second.gz'].map((name) => join(folder, name));
  const read = async (decompressedBytesMax: number) => {
    const { files } = await findInput(paths, { stdin: Readable.from([]), decompressedBytesMax });
    const texts: string[] = [];
    for (const file of files) texts.push(await textOf(file).catch(String));
    return texts;
  };
  const problem =
    'Error: the files of an upload may have 1199999 bytes after decompression; the command npm run import has no limit';
  expect(await read(1_200_000)).toEqual([text, text]);
  expect(await read(1_199_999)).toEqual([text, problem]);
  const archive = { stdin: Readable.from([]), decompressedBytesMax: 1 };
  const { files } = await findInput([join(folder, 'export.zip')], archive);
  await expect(Promise.all(files.map(textOf))).rejects.toThrow('may have 1 bytes after decompression');
});

test('bytes are counted as stored', async () => {
  const { files, bytesTotal, bytesRead } = await open('2026', 'log.txt');
  for (const file of files) await textOf(file);
  expect(bytesRead()).toBe(bytesTotal);
  expect((await open('log.txt', '-')).bytesTotal).toBeUndefined();
});

const MISSING: readonly (readonly [path: string, message: string])[] = [
  ['none.txt', 'cannot read'],
  ['none/*.txt', 'cannot read'],
  ['2026/*.txt', 'no file in'],
  ['cut.zip', 'is a zip archive without a directory: its end is missing'],
];

test.each(MISSING)('findInput() names %s, which cannot be read', async (path, message) => {
  await expect(open(path)).rejects.toThrow(message);
});

const DAMAGED: readonly (readonly [path: string, message: string])[] = [
  ['cut.gz', 'unexpected end of file'],
  ['damaged.zip', 'the checksum differs'],
];

test.each(DAMAGED)('reading %s rejects', async (path, message) => {
  const { files } = await open(path);
  await expect(Promise.all(files.map(textOf))).rejects.toThrow(message);
});

test.each(NOT_READ)('%s is refused with what to do', async (name, _content, problem) => {
  const { files } = await open(name);
  await expect(Promise.all(files.map(textOf))).rejects.toThrow(problem);
});

test('an interrupt ends the copy of a compressed Parquet file, and the copy is removed', async () => {
  const interrupt = new AbortController();
  const { files } = await findInput([join(folder, 'large.parquet')], {
    stdin: Readable.from([]),
    signal: interrupt.signal,
  });
  const copies = mkdtempSync(join(folder, 'copies-'));
  vi.stubEnv('TMPDIR', copies);
  const [file] = files;
  let chunks = 0;
  const open = async function* () {
    for await (const chunk of file?.open() ?? []) {
      chunks += 1;
      interrupt.abort();
      yield chunk;
    }
  };
  const records = readParquet({ name: 'large.parquet', open });
  await expect(records.next()).rejects.toThrow('aborted');
  expect(chunks).toBe(1);
  expect(readdirSync(copies)).toEqual([]);
  vi.unstubAllEnvs();
});
