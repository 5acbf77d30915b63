// Reads zip archives from a file: directory, stored and deflated entries, zip64, checksums. Exports
// need no more of the format, which spares a package.
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly checksum: number;
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly offset: number;
}

const LOCAL_HEADER = 0x04034b50;
const DIRECTORY_HEADER = 0x02014b50;
const DIRECTORY_END = 0x06054b50;
const DIRECTORY_END_64 = 0x06064b50;
const LOCATOR_64 = 0x07064b50;
const LOCAL_HEADER_BYTES = 30;
const DIRECTORY_HEADER_BYTES = 46;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const LOCATOR_BYTES = 20;
const DIRECTORY_BYTES_MAX = 256 * 1024 * 1024;
const IN_ZIP64 = 0xffffffff;
const STORED = 0;
const DEFLATED = 8;

export async function isZip(path: string): Promise<boolean> {
  return withFile(path, async (file) => {
    const head = await read(file, 0, 4);
    return head.length === 4 && (head.readUInt32LE(0) === LOCAL_HEADER || head.readUInt32LE(0) === DIRECTORY_END);
  });
}

/** Entries in the order of their names; throws for a file that is no complete archive. */
export async function readZipDirectory(path: string): Promise<ZipEntry[]> {
  return withFile(path, async (file) => {
    const { size } = await file.stat();
    const { offset, bytes } = await findDirectory(file, size, path);
    if (bytes > DIRECTORY_BYTES_MAX || offset + bytes > size) throw new Error(`${path} is a damaged zip archive`);
    const entries = [...parseDirectory(await read(file, offset, bytes), path)];
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  });
}

/**
 * The decompressed bytes of an entry. `counted` is called with the compressed bytes. Rejects when
 * the checksum differs.
 */
export async function* openZipEntry(
  path: string,
  entry: ZipEntry,
  counted: (source: Readable) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  if (entry.isEncrypted) throw new Error('it is encrypted; decrypt the archive first');
  if (entry.method !== STORED && entry.method !== DEFLATED) throw new Error(`unknown compression ${entry.method}`);
  const start = await withFile(path, async (file) => {
    const header = await read(file, entry.offset, LOCAL_HEADER_BYTES);
    if (header.length < LOCAL_HEADER_BYTES || header.readUInt32LE(0) !== LOCAL_HEADER)
      throw new Error('no local header');
    return entry.offset + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
  });
  if (entry.compressedBytes === 0) return;
  const stored = counted(createReadStream(path, { start, end: start + entry.compressedBytes - 1 }));
  const content = entry.method === STORED ? stored : pipeline(stored, createInflateRaw(), () => undefined);
  let checksum = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (checksum !== entry.checksum) throw new Error('the checksum differs');
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function findDirectory(file: FileHandle, size: number, path: string): Promise<{ offset: number; bytes: number }> {
  const tailStart = Math.max(0, size - END_BYTES - COMMENT_BYTES_MAX);
  const tail = await read(file, tailStart, size - tailStart);
  let end = tail.length - END_BYTES;
  while (end >= 0 && tail.readUInt32LE(end) !== DIRECTORY_END) end -= 1;
  if (end < 0) throw new Error(`${path} is a zip archive without a directory: its end is missing`);
  const bytes = tail.readUInt32LE(end + 12);
  const offset = tail.readUInt32LE(end + 16);
  const entries = tail.readUInt16LE(end + 10);
  if (offset !== IN_ZIP64 && bytes !== IN_ZIP64 && entries !== 0xffff) return { offset, bytes };
  const locator = await read(file, tailStart + end - LOCATOR_BYTES, LOCATOR_BYTES);
  if (locator.length < LOCATOR_BYTES || locator.readUInt32LE(0) !== LOCATOR_64) return { offset, bytes };
  const end64 = await read(file, Number(locator.readBigUInt64LE(8)), 56);
  if (end64.readUInt32LE(0) !== DIRECTORY_END_64) throw new Error(`${path} is a damaged zip archive`);
  return { bytes: Number(end64.readBigUInt64LE(40)), offset: Number(end64.readBigUInt64LE(48)) };
}

function* parseDirectory(directory: Buffer, path: string): Generator<ZipEntry> {
  for (let at = 0; at < directory.length; ) {
    if (directory.length - at < DIRECTORY_HEADER_BYTES || directory.readUInt32LE(at) !== DIRECTORY_HEADER) {
      throw new Error(`${path} is a damaged zip archive`);
    }
    const nameEnd = at + DIRECTORY_HEADER_BYTES + directory.readUInt16LE(at + 28);
    const extraEnd = nameEnd + directory.readUInt16LE(at + 30);
    const sizes = {
      bytes: directory.readUInt32LE(at + 24),
      compressedBytes: directory.readUInt32LE(at + 20),
      offset: directory.readUInt32LE(at + 42),
    };
    yield {
      name: directory.toString('utf8', at + DIRECTORY_HEADER_BYTES, nameEnd),
      method: directory.readUInt16LE(at + 10),
      isEncrypted: (directory.readUInt16LE(at + 8) & 1) === 1,
      checksum: directory.readUInt32LE(at + 16),
      ...withZip64(sizes, directory.subarray(nameEnd, extraEnd)),
    };
    at = extraEnd + directory.readUInt16LE(at + 32);
  }
}

type Sizes = Pick<ZipEntry, 'bytes' | 'compressedBytes' | 'offset'>;

/** Sizes that do not fit 32 bits are in an extra field, in this order. */
function withZip64(sizes: Sizes, extra: Buffer): Sizes {
  const result = { ...sizes };
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 0x0001) continue;
    let value = at + 4;
    for (const name of ['bytes', 'compressedBytes', 'offset'] as const) {
      if (sizes[name] !== IN_ZIP64 || value + 8 > extra.length) continue;
      result[name] = Number(extra.readBigUInt64LE(value));
      value += 8;
    }
  }
  return result;
}
