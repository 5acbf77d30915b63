// Splits a byte stream into lines with constant memory. node:readline would buffer a line of any
// length, and a file that is not a log may be a single line.

export interface Line {
  readonly text: string;
  readonly number: number;
  /** False for a last line without newline: it may still be written to. */
  readonly isTerminated: boolean;
  /** True when the line exceeds the limit; `text` then holds its beginning. */
  readonly isCut: boolean;
}

const LINE_BYTES_MAX = 64 * 1024;
export const NEWLINE = 0x0a;
/** The end of a line of classic Mac OS, which some spreadsheets and editors still write. */
export const CARRIAGE_RETURN = 0x0d;

/**
 * Lines without line ends (`\n`, `\r\n`, or the byte `lineEnd`), numbered from 1. Invalid UTF-8 is
 * replaced, a byte order mark removed.
 */
export async function* readLines(
  source: AsyncIterable<Buffer>,
  options: { lineBytesMax?: number; lineEnd?: number } = {},
): AsyncGenerator<Line, void, undefined> {
  const { lineBytesMax = LINE_BYTES_MAX, lineEnd = NEWLINE } = options;
  const pending = new PendingLine(lineBytesMax);
  let number = 0;
  for await (const chunk of source) {
    let start = 0;
    for (let end = chunk.indexOf(lineEnd); end !== -1; end = chunk.indexOf(lineEnd, start)) {
      pending.append(chunk.subarray(start, end));
      number += 1;
      yield pending.take(number, true);
      start = end + 1;
    }
    pending.append(chunk.subarray(start));
  }
  if (!pending.isEmpty) yield pending.take(number + 1, false);
}

/** Bytes of the current line, up to the limit. */
class PendingLine {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  constructor(private readonly bytesMax: number) {}

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  append(piece: Buffer): void {
    const room = this.bytesMax - this.#bytes;
    if (piece.length > room) this.#isCut = true;
    if (piece.length === 0 || room === 0) return;
    this.#pieces.push(piece.subarray(0, room));
    this.#bytes += Math.min(piece.length, room);
  }

  take(number: number, isTerminated: boolean): Line {
    const [first] = this.#pieces;
    const bytes = first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    const isCut = this.#isCut;
    this.#pieces = [];
    this.#bytes = 0;
    this.#isCut = false;
    const decoded = bytes.toString('utf8');
    const withoutMark = number === 1 && decoded.startsWith('\uFEFF') ? decoded.slice(1) : decoded;
    return { text: withoutMark.endsWith('\r') ? withoutMark.slice(0, -1) : withoutMark, number, isTerminated, isCut };
  }
}
