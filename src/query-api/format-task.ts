// Parses and formats answers without blocking the event loop: small answers here, in a few
// milliseconds; large ones in a thread, which gets ClickHouse's bytes and returns those of the
// response, both without a copy.
import { assertNever, PublicError } from '../platform/errors.js';
import type { ThreadPool } from '../platform/threads/thread-pool.js';
import type { ThreadTask } from '../platform/threads/thread-task.js';
import { csvLines } from '../query/csv.js';
import { formatLlm } from '../query/markdown.js';
import type { Answered, Question } from './answer.js';
import { type EngineBytes, parseRows } from './engine-answer.js';
import { jsonPieces } from './formats/json.js';
import type { Format } from './schema.js';
import { type Answer, type AnswerForm, toAnswer, withoutStatements } from './shape.js';

/**
 * Maximum bytes read and written on the event loop, including column names in each row. The slowest
 * texts of this length take about 20 ms, ordinary ones two or three. A thread adds a millisecond,
 * and 200 when it must be started.
 */
export const LOOP_BYTES_MAX = {
  json: 192 * 1024,
  csv: 128 * 1024,
  llm: 64 * 1024,
} as const satisfies Record<Format, number>;
/**
 * Memory of a thread. A Markdown table of 30 MB takes most of it, because its columns are aligned.
 */
export const FORMAT_MEMORY_MEBIBYTES = 512;
const PIECE_LENGTH = 1024 * 1024;
// Rows as JSON repeat the names of their columns.
const FORMATTED_BYTES_MAX = 128 * 1024 * 1024;

type Piece = Uint8Array<ArrayBuffer>;

/** The bytes of the response, in pieces. */
export async function formatOffLoop(
  { threads }: { readonly threads: ThreadPool },
  { projectId, request }: Pick<Question, 'projectId' | 'request'>,
  { compiled, page, ...counted }: Answered,
): Promise<readonly Uint8Array[]> {
  const form = withoutStatements(compiled);
  const { q, format, offset } = request;
  const input: FormatRequest = { ...counted, compiled: form, page, q, format, offset };
  return sizeOf(form, page) <= LOOP_BYTES_MAX[format] ? formatBytes(input) : threads.run(formatTask, input, projectId);
}

/** Bytes of the rows, with the names of their columns in each. */
export function sizeOf({ columns }: AnswerForm, { byteLength, rowCount }: EngineBytes): number {
  const namesLength = columns.reduce((sum, { name }) => sum + name.length, 0);
  return byteLength + namesLength * rowCount;
}

export interface AnswerRequest extends Omit<Answered, 'compiled'> {
  readonly compiled: AnswerForm;
  readonly offset: number;
}

interface FormatRequest extends AnswerRequest {
  readonly q: string;
  readonly format: Format;
}

export const formatTask: ThreadTask<FormatRequest, readonly Piece[]> = {
  module: import.meta.url,
  name: 'formatTask',
  run: formatBytes,
  tooCostly: 'the answer takes more than {limit} to format; list fewer rows or only the fields you need',
  buffersOfInput: ({ page }) => page.pieces.map(({ buffer }) => buffer),
  buffersOfOutput: (pieces) => pieces.map(({ buffer }) => buffer),
};

export const toAnswerOf = ({ compiled, page, offset, ...counted }: AnswerRequest): Answer =>
  toAnswer(compiled, offset, { ...counted, rows: parseRows(page.pieces) });

function formatBytes({ q, format, ...answered }: FormatRequest): readonly Piece[] {
  const encoder = new TextEncoder();
  const pieces: Piece[] = [];
  let byteLength = 0;
  let text = '';
  const encode = (): void => {
    const piece = encoder.encode(text);
    byteLength += piece.length;
    if (byteLength > FORMATTED_BYTES_MAX) throw tooLarge(format);
    pieces.push(piece);
    text = '';
  };
  for (const part of formatParts(toAnswerOf(answered), format, q)) {
    text += part;
    if (text.length >= PIECE_LENGTH) encode();
  }
  encode();
  return pieces;
}

function formatParts(answer: Answer, format: Format, q: string): Iterable<string> {
  switch (format) {
    case 'json':
      return jsonPieces(answer);
    case 'csv':
      return csvLines(answer);
    case 'llm':
      return [formatLlm(answer, q)];
    default:
      return assertNever(format);
  }
}

const tooLarge = (format: Format): PublicError =>
  new PublicError(
    'bad_request',
    `the answer is larger than ${FORMATTED_BYTES_MAX / 1024 / 1024} MiB as ${format}; ` +
      'list fewer rows or only the fields you need',
  );
