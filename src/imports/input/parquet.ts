// Reader of Parquet, by slices of a row group. Its packages are optional ones, and are loaded only
// for a file of this format.
import { createWriteStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { AsyncBuffer, ColumnChunk, Compressors, FileMetaData, RowGroup } from 'hyparquet';
import type { JsonObject } from '../../platform/json-object.js';
import type { ReadRecord } from '../source.js';
import type { InputFile } from './input-files.js';

/** PostHog adds the codec: `events.parquet.zst`. */
export const isParquet = ({ name }: InputFile): boolean => /\.parquet(?:\.\w+)?$/.test(name);

const MAGIC = 'PAR1';
/** What a slice has, uncompressed. */
const SLICE_BYTES = 16 * 1024 * 1024;
const SLICE_ROWS_MIN = 100;
/** Limit for columns without a page index, whose compressed bytes are all in memory. */
const UNINDEXED_BYTES_MAX = 512 * 1024 * 1024;

/** Pages have about 1 MiB: a larger one than this is damaged, or made to fill the memory. */
const PAGE_BYTES_MAX = 128 * 1024 * 1024;

/**
 * Rows by the names of the columns, with times as ISO text; the line is the number of the row. The
 * index of Parquet is at its end, so what is not on the disk is copied to a file first, which is
 * removed. Rejects when it is damaged.
 */
export async function* readParquet(file: InputFile): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  const library = await loadLibrary();
  if (library === undefined) {
    yield {
      line: 1,
      problem: 'Parquet needs optional packages that are not installed: import it from a clone with all packages',
    };
    return;
  }
  const stored = await openOnDisk(file);
  try {
    const buffer = toAsyncBuffer(stored.handle, (await stored.handle.stat()).size, stored.countRead);
    const metadata = await library.parquetMetadataAsync(buffer);
    let line = 1;
    for (const group of metadata.row_groups) {
      yield* readGroup(library, { buffer, metadata, group, line });
      line += Number(group.num_rows);
    }
  } finally {
    await stored.close();
  }
}

type Library = NonNullable<Awaited<ReturnType<typeof loadLibrary>>>;

async function loadLibrary() {
  try {
    const { parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
    const { compressors } = await import('hyparquet-compressors');
    const { decompress: decompressZstd } = await import('fzstd');
    // Node's own decompressors are native, and faster. That of the package for Zstandard does not
    // end at the length of the page.
    const bounded: Compressors = {
      GZIP: (bytes, length) => gunzipSync(bytes, { maxOutputLength: Math.max(length, 1) }),
      BROTLI: (bytes, length) => brotliDecompressSync(bytes, { maxOutputLength: Math.max(length, 1) }),
      ZSTD: (bytes, length) => decompressZstd(bytes, new Uint8Array(length)),
    };
    return { parquetMetadataAsync, parquetReadObjects, compressors: withPageLimit({ ...compressors, ...bounded }) };
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw cause;
  }
}

/** Throws for a page whose header says that it has more bytes than the limit. */
function withPageLimit(compressors: Compressors): Compressors {
  const toLimited = (decompress: Decompress): Decompress => {
    return (bytes, length) => {
      if (length > PAGE_BYTES_MAX) throw new Error(`a page of ${length} bytes, which is above 128 MiB`);
      return decompress(bytes, length);
    };
  };
  return Object.fromEntries(Object.entries(compressors).map(([codec, each]) => [codec, toLimited(each)]));
}

type Decompress = (bytes: Uint8Array, length: number) => Uint8Array;

interface OpenGroup {
  readonly buffer: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly group: RowGroup;
  /** Number of its first row. */
  readonly line: number;
}

async function* readGroup(
  { parquetReadObjects, compressors }: Library,
  { buffer, metadata, group, line }: OpenGroup,
): AsyncGenerator<ReadRecord<JsonObject>, void, undefined> {
  const rows = Number(group.num_rows);
  const sliceRows = Math.max(SLICE_ROWS_MIN, Math.floor((rows * SLICE_BYTES) / Number(group.total_byte_size)));
  const unindexed = group.columns.filter((column) => column.offset_index_offset === undefined);
  if (unindexed.reduce((sum, column) => sum + compressedBytes(column), 0) > UNINDEXED_BYTES_MAX) {
    yield { line, problem: 'a row group above 512 MiB without an index of pages: export with smaller row groups' };
    return;
  }
  const end = line - 1 + rows;
  for (let rowStart = line - 1; rowStart < end; rowStart += sliceRows) {
    const rowEnd = Math.min(rowStart + sliceRows, end);
    const range = { rowStart, rowEnd, useOffsetIndex: true };
    const records = await parquetReadObjects({ file: buffer, metadata, compressors, parsers: PARSERS, ...range });
    for (const [index, row] of records.entries()) {
      yield { line: rowStart + index + 1, value: toJson(row) as JsonObject };
    }
  }
}

const compressedBytes = ({ meta_data: data }: ColumnChunk): number => Number(data?.total_compressed_size ?? 0);

/** Columns of JSON stay text, which sources read: a damaged value must not end the file. */
const PARSERS = {
  jsonFromBytes: (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : Buffer.from(bytes).toString()),
};

/** As the same record is in JSON. Integers of 64 bits that a number cannot hold become text. */
function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return value;
  if (ArrayBuffer.isView(value)) return null;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item)]));
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly countRead: (bytes: number) => void;
  readonly close: () => Promise<void>;
}

async function openOnDisk(file: InputFile): Promise<OpenFile> {
  if (file.onDisk !== undefined) {
    const handle = await open(file.onDisk.path);
    const { buffer } = await handle.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    if (buffer.toString('latin1') === MAGIC) {
      return { handle, countRead: file.onDisk.countRead, close: () => handle.close() };
    }
    await handle.close();
  }
  const folder = await mkdtemp(join(tmpdir(), 'service-import-'));
  try {
    const path = join(folder, 'copy.parquet');
    await pipeline(file.open(), createWriteStream(path, { mode: 0o600 }));
    const handle = await open(path);
    const close = async () => {
      await handle.close();
      await rm(folder, { recursive: true, force: true });
    };
    return { handle, countRead: () => undefined, close };
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw cause;
  }
}

const toAsyncBuffer = (handle: FileHandle, size: number, countRead: (bytes: number) => void): AsyncBuffer => ({
  byteLength: size,
  slice: async (start, end = size) => {
    const buffer = new ArrayBuffer(end - start);
    const { bytesRead } = await handle.read(new Uint8Array(buffer), 0, end - start, start);
    countRead(bytesRead);
    return buffer;
  },
});
