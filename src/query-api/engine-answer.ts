// ClickHouse's answer to one statement, as bytes in the format JSONCompact. It may have tens of
// megabytes: the counts at its end are read without parsing the rows, and a thread gets the bytes
// without a copy.
import type { Readable } from 'node:stream';
import type { ResultSet } from '@clickhouse/client';
import { PublicError } from '../platform/errors.js';
import { unavailable } from './engine-failures.js';
import { readRows } from './engine-numbers.js';

export interface EngineBytes {
  /** Each piece has a separate buffer, so that it can be moved to a thread. */
  readonly pieces: readonly Uint8Array<ArrayBuffer>[];
  readonly byteLength: number;
  readonly rowCount: number;
  /** Rows of the statement without its LIMIT. */
  readonly rowsBeforeLimit: number;
  /** Rows that ClickHouse read. */
  readonly rowsScanned: number;
}

export interface EngineResult extends Pick<EngineBytes, 'rowsBeforeLimit' | 'rowsScanned'> {
  readonly rows: readonly (readonly unknown[])[];
}

const PIECE_BYTES = 1024 * 1024;
// ClickHouse limits the result by its own memory, in which a repeated text may be stored once.
const BYTES_MAX = 64 * 1024 * 1024;

export async function readBytes(result: ResultSet<'JSONCompact'>): Promise<EngineBytes> {
  // The client gives its stream away for formats of one row a line only. Its `exec`, which gives it
  // always, cannot send parameters in the body.
  // biome-ignore lint/complexity/useLiteralKeys: a private field, whose type is checked this way
  const body: Readable = result['_stream'];
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let chunks: Buffer[] = [];
  let chunkBytes = 0;
  let byteLength = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    byteLength += chunk.length;
    if (byteLength > BYTES_MAX) throw tooLarge();
    chunks.push(chunk);
    chunkBytes += chunk.length;
    if (chunkBytes < PIECE_BYTES) continue;
    pieces.push(join(chunks, chunkBytes));
    [chunks, chunkBytes] = [[], 0];
  }
  pieces.push(join(chunks, chunkBytes));
  return { pieces, byteLength, ...readCounts(pieces) };
}

const tooLarge = (): PublicError =>
  new PublicError(
    'bad_request',
    `the rows of the answer are larger than ${BYTES_MAX / 1024 / 1024} MiB; list fewer rows or only the fields you need`,
  );

/** Buffer.concat would allocate small results in a shared pool. */
function join(chunks: readonly Uint8Array[], byteLength: number): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(byteLength);
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}

/** Larger than the counts and statistics after the rows. */
const END_BYTES = 4096;
/** Line breaks within JSON texts are escaped. */
const COUNTS = '\n\t"rows":';

function readCounts(pieces: EngineBytes['pieces']): Pick<EngineBytes, 'rowCount' | 'rowsBeforeLimit' | 'rowsScanned'> {
  const end = Buffer.concat(pieces.slice(-2).map((piece) => piece.subarray(-END_BYTES))).toString();
  const counts = parseCounts(end);
  return {
    rowCount: counts.rows,
    rowsBeforeLimit: counts.rows_before_limit_at_least ?? counts.rows,
    rowsScanned: counts.statistics?.rows_read ?? 0,
  };
}

interface Counts {
  readonly rows: number;
  readonly rows_before_limit_at_least?: number;
  readonly statistics?: { readonly rows_read: number };
}

/**
 * With a full disk ClickHouse answers 200 and cuts off what it could not buffer, or everything:
 * rejects with "unavailable".
 */
function parseCounts(end: string): Counts {
  const start = end.lastIndexOf(COUNTS);
  try {
    if (start !== -1) return JSON.parse(`{${end.slice(start)}`) as Counts;
  } catch {
    // Cut off behind the counts.
  }
  throw unavailable(new Error('ClickHouse cut off its answer: is its disk full?'));
}

export const parseRows = (pieces: EngineBytes['pieces']): EngineResult['rows'] => readRows(Buffer.concat(pieces));

export const parseResult = ({ pieces, rowsBeforeLimit, rowsScanned }: EngineBytes): EngineResult => ({
  rows: parseRows(pieces),
  rowsBeforeLimit,
  rowsScanned,
});
