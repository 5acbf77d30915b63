// Opens the input of an import: a plain or gzip file, or standard input. Counts bytes as stored on
// disk, for progress.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal, pipeline, type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UsageError } from './arguments.js';

export interface LogFile {
  readonly stream: AsyncIterable<Buffer>;
  /** Undefined for standard input. */
  readonly bytesTotal: number | undefined;
  readonly bytesRead: () => number;
}

export async function openLogFile(file: string, stdin: Readable, signal?: AbortSignal): Promise<LogFile> {
  const bytesTotal = file === '-' ? undefined : await requireSize(file);
  let bytesRead = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytesRead += chunk.length;
      done(null, chunk);
    },
  });
  const source = file === '-' ? stdin : createReadStream(file, { highWaterMark: 256 * 1024 });
  // Errors propagate to the reader of the last stream; the callback has nothing to add.
  const ended = () => undefined;
  const stream = file.endsWith('.gz')
    ? pipeline(source, counter, createGunzip(), ended)
    : pipeline(source, counter, ended);
  // Standard input may never deliver another line: an interrupt must not wait for it.
  if (signal !== undefined) addAbortSignal(signal, stream);
  return { stream, bytesTotal, bytesRead: () => bytesRead };
}

async function requireSize(file: string): Promise<number> {
  const stats = await stat(file).catch((cause: unknown) => {
    throw new UsageError(`cannot read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  if (stats.isDirectory()) throw new UsageError(`${file} is a directory`);
  return stats.size;
}
