// The file of a backup: a compressed archive of tar. Written under a temporary name, read again and
// compared before it gets its own name.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { StartProblem } from '../problem.js';

export interface ArchiveProgress {
  /** Bytes since the last call. */
  readonly onBytes: (bytes: number) => void;
  readonly signal: AbortSignal;
}

const counting = (onBytes: (bytes: number) => void): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onBytes(chunk.length);
      done(null, chunk);
    },
  });

/** `tarArguments` name the content. Counts bytes before compression. */
export async function writeArchive(
  archive: string,
  tarArguments: readonly string[],
  { onBytes, signal }: ArchiveProgress,
): Promise<void> {
  const unfinished = `${archive}.unfinished`;
  const hash = createHash('sha256');
  // A stream would open the file later, perhaps after an interruption has removed it.
  const file = createWriteStream(unfinished, { fd: openSync(unfinished, 'w', 0o600) });
  const tar = startTar(['-cf', '-', ...tarArguments], signal);
  try {
    const count = counting((bytes) => onBytes(bytes));
    count.on('data', (chunk: Buffer) => hash.update(chunk));
    await Promise.all([pipeline(tar.child.stdout, count, createGzip({ level: 1 }), file, { signal }), tar.ended]);
    flush(unfinished);
    await verifyArchive(unfinished, hash.digest('hex'), signal);
    renameSync(unfinished, archive);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new StartProblem(`${archive} cannot be written: ${error.message}.`, { cause: error });
  } finally {
    tar.child.kill();
    rmSync(unfinished, { force: true });
  }
}

function flush(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

async function verifyArchive(path: string, digest: string, signal: AbortSignal): Promise<void> {
  const hash = createHash('sha256');
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done();
    },
  });
  await pipeline(createReadStream(path), createGunzip(), sink, { signal });
  if (hash.digest('hex') !== digest) {
    throw new StartProblem('The archive differs from what was written: is its disk damaged?');
  }
}

/** Counts compressed bytes, of which `statSync(archive).size` are the total. */
export async function readArchive(
  archive: string,
  folder: string,
  { onBytes, signal }: ArchiveProgress,
): Promise<void> {
  if (statSync(archive).size === 0) throw new StartProblem(`${archive} is empty.`);
  const tar = startTar(['-xpf', '-', '-C', folder], signal);
  try {
    await pipeline(createReadStream(archive), counting(onBytes), createGunzip(), inputOf(tar.child), { signal });
    await tar.ended;
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) {
      throw new StartProblem(`${archive} is not a backup, or is damaged: ${error.message}.`, { cause: error });
    }
    throw error;
  } finally {
    tar.child.kill();
  }
}

/**
 * Input of tar that does not fail when tar ends before it is closed: behind the end of an archive,
 * which is no error, or at damage, which decompressing the rest names.
 */
function inputOf({ stdin }: ReturnType<typeof startTar>['child']): Writable {
  stdin.on('error', () => {});
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (stdin.destroyed) done();
      else stdin.write(chunk, () => done());
    },
    final: (done) => {
      if (stdin.destroyed) done();
      else stdin.end(() => done());
    },
  });
}

function startTar(args: readonly string[], signal: AbortSignal) {
  const child = spawn('tar', args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (text: Buffer) => {
    errors += text;
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (error) => reject(new StartProblem(`tar cannot be run: ${error.message}.`)));
    child.once('close', (status) => {
      if (status === 0) resolve();
      else if (signal.aborted) reject(signal.reason);
      else reject(new StartProblem(`tar failed: ${errors.trim()}`));
    });
  });
  ended.catch(() => {});
  return { child, ended };
}
