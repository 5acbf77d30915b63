// Bytes of an input file as UTF-8 text: decompresses gzip (by its first bytes) and Brotli (by its
// name), decodes UTF-16, and names archives and compressions that are not read.
import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

const CHUNK_BYTES = 256 * 1024;

type Chunks = AsyncIterable<Buffer>;

/** Rejects for damaged bytes, and for a format that is not read. */
export async function* decoded(name: string, source: Chunks): AsyncGenerator<Buffer, void, undefined> {
  const { first, all } = await peek(source);
  const create = findDecompressor(name, first);
  if (create === undefined) {
    yield* toText(first, all);
    return;
  }
  // Errors propagate to the reader of the last stream; the callback has nothing to add.
  const content = pipeline(
    Readable.from(all, { objectMode: false }),
    create({ chunkSize: CHUNK_BYTES }),
    () => undefined,
  );
  const inner = await peek(content);
  if (isGzip(inner.first)) throw new Error('it is compressed twice: decompress it once');
  yield* toText(inner.first, inner.all);
}

/** The first chunk, empty for an empty source, and all chunks with it. */
export async function peek(source: Chunks): Promise<{ first: Buffer; all: Chunks }> {
  const chunks = source[Symbol.asyncIterator]();
  const next = await chunks.next();
  if (next.done === true) return { first: Buffer.alloc(0), all: none() };
  const all = async function* () {
    try {
      for (let each: IteratorResult<Buffer> = next; each.done !== true; each = await chunks.next()) yield each.value;
    } finally {
      await chunks.return?.();
    }
  };
  return { first: next.value, all: all() };
}

async function* none(): AsyncGenerator<Buffer, void, undefined> {}

const isGzip = (first: Buffer): boolean => first[0] === 0x1f && first[1] === 0x8b;

function findDecompressor(
  name: string,
  first: Buffer,
): typeof createGunzip | typeof createBrotliDecompress | undefined {
  // Gunzip reads several members one after the other.
  if (isGzip(first)) return createGunzip;
  // The name of a Parquet file has the codec of its pages.
  const isBrotli = name.endsWith('.br') && first.toString('latin1', 0, 4) !== 'PAR1';
  return isBrotli ? createBrotliDecompress : undefined;
}

const compressed = (by: string): string => `it is compressed with ${by}, which is not read: decompress it first`;
const archive = (kind: string): string => `it is a ${kind} archive, which is not read: unpack it first`;

/** First bytes, as Latin-1, of what a person may take for a file that can be read. */
const NOT_READ: readonly (readonly [bytes: string, at: number, problem: string])[] = [
  ['\x28\xb5\x2f\xfd', 0, compressed('zstd')],
  ['BZh', 0, compressed('bzip2')],
  ['\xfd7zXZ\0', 0, compressed('xz')],
  ['\x04\x22\x4d\x18', 0, compressed('lz4')],
  ['\x89LZO\0', 0, compressed('lzop')],
  ['7z\xbc\xaf\x27\x1c', 0, archive('7z')],
  ['ustar', 257, archive('tar')],
  ['PK\x03\x04', 0, 'it is a zip archive in another file or from standard input: unpack it first'],
];

async function* toText(first: Buffer, all: Chunks): AsyncGenerator<Buffer, void, undefined> {
  const problem = NOT_READ.find(([bytes, at]) => first.toString('latin1', at, at + bytes.length) === bytes)?.[2];
  if (problem !== undefined) throw new Error(problem);
  const encoding = UTF_16[first.toString('latin1', 0, 2)];
  if (encoding === undefined) {
    yield* all;
    return;
  }
  const decoder = new TextDecoder(encoding);
  for await (const chunk of all) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  yield Buffer.from(decoder.decode());
}

/** By the byte order mark, which programs of Windows write. */
const UTF_16: Readonly<Record<string, string>> = { '\xff\xfe': 'utf-16le', '\xfe\xff': 'utf-16be' };
