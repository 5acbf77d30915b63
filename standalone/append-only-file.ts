// Repairs Redis's append-only file. After a rewrite Redis 7 and 8 write it at their own offset:
// when the disk is full, they truncate half-written commands but continue after their end, which
// leaves a hole of zeros. All data is there, but Redis refuses to start with "Bad file format". A
// crash of the machine can leave zeros at the end of the file too.
import { constants, type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const WINDOW_BYTES = 1024 * 1024;
/** Longer than the longest header line of a command. */
const HEADER_BYTES_MAX = 64;
/** Redis reads a comment into a buffer of 1024 bytes. */
const COMMENT_BYTES_MAX = 512;

const ZERO = 0;
const ARRAY = 0x2a;
const BULK_STRING = 0x24;
const COMMENT = 0x23;
const LINE_FEED = 0x0a;

interface Hole {
  readonly start: number;
  /** Exclusive end. */
  readonly end: number;
}

/**
 * Fills the holes of all incremental files of a Redis directory with comments, which Redis skips.
 * Resolves with the number of bytes.
 */
export async function fillHoles(redisDirectory: string): Promise<number> {
  const folder = join(redisDirectory, 'appendonlydir');
  const names = await readdir(folder).catch(() => []);
  let filled = 0;
  for (const name of names.filter((some) => some.endsWith('.incr.aof'))) {
    const file = await open(join(folder, name), constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      for (const { start, end } of await findHoles(file)) {
        await file.write(commentsOf(end - start), 0, end - start, start);
        filled += end - start;
      }
    } finally {
      await file.close();
    }
  }
  return filled;
}

/**
 * Finds runs of zeros in place of a command. Stops at other invalid bytes, which Redis reports
 * itself.
 */
async function findHoles(file: FileHandle): Promise<Hole[]> {
  const reader = new WindowReader(file);
  const holes: Hole[] = [];
  for (let position = 0; ; ) {
    const byte = reader.at(position) ?? (await reader.load(position));
    if (byte === ZERO) {
      const start = position;
      while ((reader.at(position) ?? (await reader.load(position))) === ZERO) position += 1;
      holes.push({ start, end: position });
    } else {
      const next = await reader.skip(position);
      if (next === undefined) return holes;
      position = next;
    }
  }
}

class WindowReader {
  readonly #file: FileHandle;
  readonly #buffer = Buffer.alloc(WINDOW_BYTES);
  #start = 0;
  #length = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Undefined outside the window. */
  at(position: number): number | undefined {
    const offset = position - this.#start;
    return offset >= 0 && offset < this.#length ? this.#buffer[offset] : undefined;
  }

  /** Moves the window; undefined at the end of the file. */
  async load(position: number): Promise<number | undefined> {
    this.#start = position;
    this.#length = (await this.#file.read(this.#buffer, 0, WINDOW_BYTES, position)).bytesRead;
    return this.at(position);
  }

  /** The end of the command or comment at `position`; undefined if it is neither, or incomplete. */
  async skip(position: number): Promise<number | undefined> {
    const header = await this.#readHeader(position);
    if (header?.kind === COMMENT) return header.end;
    if (header?.kind !== ARRAY || !isCount(header.number)) return undefined;
    let end = header.end;
    for (let count = 0; count < header.number; count += 1) {
      const argument = await this.#readHeader(end);
      if (argument?.kind !== BULK_STRING || !isCount(argument.number)) return undefined;
      end = argument.end + argument.number + 2;
    }
    return end;
  }

  async #readHeader(position: number): Promise<{ kind: number; number: number; end: number } | undefined> {
    if (this.at(position + HEADER_BYTES_MAX) === undefined) await this.load(position);
    const kind = this.at(position);
    if (kind === undefined) return undefined;
    let end = position + 1;
    while (this.at(end) !== LINE_FEED) {
      if (this.at(end) === undefined) return undefined;
      end += 1;
    }
    const from = position + 1 - this.#start;
    const number = Number(this.#buffer.toString('latin1', from, end - this.#start));
    return { kind, number, end: end + 1 };
  }
}

const isCount = (number: number): boolean => Number.isInteger(number) && number >= 0;

/** Comment lines, which Redis skips. A single byte is too short for one, and is kept. */
function commentsOf(bytes: number): Buffer {
  const text = Buffer.alloc(bytes, ' ');
  if (bytes === 1) return Buffer.alloc(1);
  for (let start = 0; start < bytes; ) {
    const rest = bytes - start;
    // The remainder must be long enough for a line too.
    const length = rest <= COMMENT_BYTES_MAX ? rest : COMMENT_BYTES_MAX - (rest === COMMENT_BYTES_MAX + 1 ? 1 : 0);
    text[start] = COMMENT;
    text[start + length - 1] = LINE_FEED;
    start += length;
  }
  return text;
}
