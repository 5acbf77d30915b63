// The input of an import: files, folders, globs, zip archives and standard input, in one order on
// every run. Counts bytes as stored, for progress.
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { messageOf } from '../../platform/errors.js';
import { UsageError } from '../../platform/usage-error.js';
import { decoded } from './decode.js';
import { globRoot, isGlob, toGlobRegExp } from './globs.js';
import { isZip, openZipEntry, readZipDirectory } from './zip.js';

export interface InputFile {
  /** As it is printed: the path, with the name in the archive behind it. */
  readonly name: string;
  /** The decompressed bytes; rejects when they are damaged or of a format that is not read. */
  readonly open: () => AsyncIterable<Buffer>;
  /** Whether it can be opened only once. */
  readonly isOnce?: true;
  /** For formats that are not read in order; undefined in archives and for standard input. */
  readonly onDisk?: { readonly path: string; readonly countRead: (bytes: number) => void };
}

export interface Input {
  readonly files: readonly InputFile[];
  /** Undefined for standard input. */
  readonly bytesTotal: number | undefined;
  readonly bytesRead: () => number;
}

export interface InputOptions {
  readonly stdin: Readable;
  readonly signal?: AbortSignal | undefined;
  /** Limit of all decompressed bytes of an upload; what is read twice counts twice. */
  readonly decompressedBytesMax?: number;
}

const READ_BYTES = 256 * 1024;

/** Throws UsageError for a path that cannot be read and for a glob or a folder without files. */
export async function findInput(
  paths: readonly string[],
  { stdin, signal, decompressedBytesMax = Number.POSITIVE_INFINITY }: InputOptions,
): Promise<Input> {
  let bytesRead = 0;
  const countRead = (bytes: number) => {
    bytesRead += bytes;
  };
  const counted = async function* (source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      countRead(chunk.length);
      yield chunk;
    }
  };
  let bytesDecompressed = 0;
  const decompressed = async function* (name: string, source: AsyncIterable<Buffer>) {
    for await (const chunk of decoded(name, source)) {
      // Parquet is copied to its end before its first record.
      signal?.throwIfAborted();
      bytesDecompressed += chunk.length;
      if (bytesDecompressed > decompressedBytesMax) throw new Error(toLimitProblem(decompressedBytesMax));
      yield chunk;
    }
  };
  const openAs = (name: string, open: () => Readable) => () => decompressed(name, counted(open()));
  const files: InputFile[] = [];
  let bytesTotal: number | undefined = 0;
  for (const path of paths) {
    if (path === '-') {
      // Standard input may never deliver another chunk: an interrupt must not wait for it.
      if (signal !== undefined) addAbortSignal(signal, stdin);
      files.push({ name: 'standard input', open: openAs('', () => stdin), isOnce: true });
      bytesTotal = undefined;
      continue;
    }
    for (const { file, bytes } of await expand(path)) {
      if (bytesTotal !== undefined) bytesTotal += bytes;
      if (await isZip(file)) {
        for (const entry of (await readZipDirectory(file)).filter(({ name }) => isShown(name))) {
          const openEntry = () => decompressed(entry.name, openZipEntry(file, entry, counted));
          files.push({ name: `${file}/${entry.name}`, open: openEntry });
        }
      } else {
        files.push({
          name: file,
          open: openAs(file, () => createReadStream(file, { highWaterMark: READ_BYTES })),
          onDisk: { path: file, countRead },
        });
      }
    }
  }
  return { files, bytesTotal, bytesRead: () => bytesRead };
}

const toLimitProblem = (bytesMax: number): string =>
  `the files of an upload may have ${bytesMax} bytes after decompression; the command npm run import has no limit`;

interface FoundFile {
  readonly file: string;
  readonly bytes: number;
}

async function expand(path: string): Promise<FoundFile[]> {
  const stats = await stat(path).catch((cause: unknown) => {
    if (isGlob(path)) return undefined;
    throw new UsageError(`cannot read ${path}: ${messageOf(cause)}`, { cause });
  });
  if (stats?.isDirectory() === false) return [{ file: path, bytes: stats.size }];
  const pattern = stats === undefined ? toGlobRegExp(path) : undefined;
  const all = await filesUnder(stats === undefined ? globRoot(path) : path);
  const found = pattern === undefined ? all : all.filter(({ file }) => pattern.test(file));
  if (found.length === 0) throw new UsageError(`no file in ${path}`);
  return found;
}

/** In the order of their paths, without hidden files. */
async function filesUnder(folder: string): Promise<FoundFile[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new UsageError(`cannot read ${folder}: ${messageOf(cause)}`, { cause });
  });
  const shown = entries.filter(({ name }) => isShown(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  const found: FoundFile[] = [];
  for (const entry of shown) {
    const path = join(folder, entry.name);
    const stats = await stat(path).catch((cause: NodeJS.ErrnoException) => {
      // A link to nothing.
      if (cause.code === 'ENOENT') return undefined;
      throw new UsageError(`cannot read ${path}: ${cause.message}`, { cause });
    });
    if (stats === undefined) continue;
    if (stats.isDirectory()) found.push(...(await filesUnder(path)));
    else if (stats.isFile()) found.push({ file: path, bytes: stats.size });
  }
  return found;
}

/** Hidden files, and what macOS and Spark write beside the data. */
const isShown = (name: string): boolean =>
  !name.endsWith('/') && !/^[._]/.test(basename(name)) && !name.startsWith('__MACOSX/');
