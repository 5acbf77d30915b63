// Runs what returns rows. Row formats are streamed with back-pressure; documents (JSON, JSONCompact, …) are answered whole,
// which is also what makes their `statistics` right.
import type { ServerResponse } from 'node:http';
import { randomBase62 } from '../../platform/ids.js';
import { toEngineError } from './engine-error.js';
import type { EngineRequest } from './request.js';
import type { EngineSession } from './session.js';
import { hasSubquery, type ReadStatement } from './statement.js';

// Formats without a beginning or an end of their own, so that chunks can simply follow each other.
const STREAMED_FORMATS = new Set([
  ...['JSONEachRow', 'JSONCompactEachRow', 'JSONStringsEachRow', 'JSONCompactStringsEachRow'],
  ...['TabSeparated', 'TSV', 'TabSeparatedRaw', 'TSVRaw', 'CSV', 'RowBinary', 'Native'],
]);

interface ReadOptions {
  readonly session: EngineSession;
  readonly request: EngineRequest;
  readonly format: string;
  readonly response: ServerResponse;
}

export async function answerRead(options: Omit<ReadOptions, 'format'> & { statement: ReadStatement }): Promise<void> {
  const { statement, ...rest } = options;
  const read = { ...rest, format: statement.format ?? options.request.defaultFormat };
  // chdb opens a stream on the calling thread, and the engine evaluates scalar subqueries while it opens: a slow one would
  // hold up every other request. Only queries that cannot have one are streamed.
  const streams = STREAMED_FORMATS.has(read.format) && !read.request.waitsForEnd && !hasSubquery(read.request.sql);
  await (streams ? answerStreamed(read) : answerWhole(read));
}

async function answerWhole({ session, request, format, response }: ReadOptions): Promise<void> {
  const result = await session.chdb.queryAsync(request.sql, { format: request.defaultFormat });
  const bytes = result.bytes();
  response.setHeader('Content-Type', contentType(format));
  response.setHeader('X-ClickHouse-Format', format);
  response.setHeader('X-ClickHouse-Summary', summaryOf(bytes, format));
  response.setHeader('Content-Length', bytes.length);
  response.end(bytes);
}

async function answerStreamed({ session, request, format, response }: ReadOptions): Promise<void> {
  const exceptionTag = randomBase62(16);
  response.setHeader('Content-Type', contentType(format));
  response.setHeader('X-ClickHouse-Format', format);
  response.setHeader('X-ClickHouse-Exception-Tag', exceptionTag);
  try {
    for await (const chunk of session.chdb.queryStream(request.sql, { format: request.defaultFormat })) {
      if (response.destroyed) break;
      if (!response.write(chunk.raw())) await drainedOrClosed(response);
    }
  } catch (error) {
    if (!response.headersSent) throw error;
    breakOff(response, exceptionTag, toEngineError(error).message);
  }
  // A cancelled stream leaves the connection in an unknown state.
  if (response.destroyed) session.spend();
  else response.end();
}

/** The server's way of telling an error after the first rows: a tagged text, and an answer that never ends properly. */
function breakOff(response: ServerResponse, tag: string, message: string): void {
  const text = `${message}\n`;
  const marked = `\r\n__exception__\r\n${tag}\r\n${text}${Buffer.byteLength(text)} ${tag}\r\n__exception__\r\n`;
  response.write(marked, () => response.destroy());
}

const drainedOrClosed = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const settle = () => {
      response.off('drain', settle);
      response.off('close', settle);
      resolve();
    };
    response.on('drain', settle);
    response.on('close', settle);
    if (response.destroyed) settle();
  });

function contentType(format: string): string {
  if (format.startsWith('JSON')) return 'application/json; charset=UTF-8';
  if (format === 'RowBinary' || format === 'Native') return 'application/octet-stream';
  if (format.startsWith('CSV')) return 'text/csv; charset=UTF-8';
  return 'text/tab-separated-values; charset=UTF-8';
}

/** The library reports what a result holds, not what was read for it; documents end with that. */
function summaryOf(bytes: Uint8Array, format: string): string {
  const end = format.startsWith('JSON') ? Buffer.from(bytes.subarray(-400)).toString('latin1') : '';
  const statistic = (name: string) => new RegExp(`"${name}": (\\d+)[^{}]*\\}\\s*\\}\\s*$`).exec(end)?.[1] ?? '0';
  return JSON.stringify({ read_rows: statistic('rows_read'), read_bytes: statistic('bytes_read') });
}
