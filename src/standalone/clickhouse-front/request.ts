// A request of the ClickHouse HTTP interface → what to run: the statement, its parameters and settings, and its data.
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { engineError } from './engine-error.js';

export interface EngineRequest {
  readonly sql: string;
  readonly queryId: string;
  readonly database: string;
  readonly defaultFormat: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
  /** True when the answer must be complete before its first byte is sent. */
  readonly waitsForEnd: boolean;
  /** The rows of an INSERT whose statement came in the URL. */
  readonly body: Buffer | undefined;
}

// Whole bodies are held in memory. Our own inserts are a few megabytes.
const BODY_BYTES_MAX = 512 * 1024 * 1024;

// Parameters of the interface that are not settings, and settings that mean nothing in front of an embedded engine.
// `log_comment` is how the front finds its own queries (session.ts).
const NOT_SETTINGS = new Set([
  ...['query', 'database', 'default_format', 'query_id', 'user', 'password', 'quota_key', 'role', 'buffer_size'],
  ...['wait_end_of_query', 'compress', 'decompress', 'stacktrace', 'enable_http_compression', 'log_comment'],
  ...['send_progress_in_http_headers', 'http_headers_progress_interval_ms', 'log_queries'],
  ...['cancel_http_readonly_queries_on_client_close', 'session_timeout', 'session_check', 'close_session'],
]);

export async function readEngineRequest(message: IncomingMessage): Promise<EngineRequest> {
  const url = new URL(message.url ?? '/', 'http://front');
  const body = await readBody(message);
  const fields = new Map(url.searchParams);
  const queryInUrl = fields.get('query');
  const form = await readForm(message, body);
  for (const [name, value] of form ?? []) fields.set(name, value);
  if (fields.has('session_id')) {
    throw engineError(
      'NOT_IMPLEMENTED',
      'session_id is not supported by the embedded engine: each request stands alone',
    );
  }
  const bodyIsData = form === undefined && queryInUrl !== undefined && body.length > 0;
  return {
    sql: form !== undefined || queryInUrl !== undefined ? (fields.get('query') ?? '') : body.toString('utf8'),
    queryId: fields.get('query_id') ?? '',
    database: fields.get('database') || 'default',
    defaultFormat: fields.get('default_format') ?? 'TabSeparated',
    parameters: new Map(
      [...fields].filter(([name]) => name.startsWith('param_')).map(([name, value]) => [name.slice(6), value]),
    ),
    settings: new Map([...fields].filter(([name]) => !name.startsWith('param_') && !NOT_SETTINGS.has(name))),
    waitsForEnd: fields.get('wait_end_of_query') === '1',
    body: bodyIsData ? body : undefined,
  };
}

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw engineError('QUERY_IS_TOO_LARGE', `the body exceeds ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return decompress(Buffer.concat(chunks), message.headers['content-encoding']);
}

async function decompress(body: Buffer, encoding: string | undefined): Promise<Buffer> {
  const limit = { maxOutputLength: BODY_BYTES_MAX };
  switch (encoding) {
    case undefined:
    case 'identity':
      return body;
    case 'gzip':
      return promisify(gunzip)(body, limit);
    case 'deflate':
      return promisify(inflate)(body, limit);
    case 'br':
      return promisify(brotliDecompress)(body, limit);
    default:
      throw engineError('NOT_IMPLEMENTED', `content encoding ${encoding} is not supported by the embedded engine`);
  }
}

/** The client moves parameters that are too long for a URL into a multipart form. */
async function readForm(message: IncomingMessage, body: Buffer): Promise<[string, string][] | undefined> {
  const type = message.headers['content-type'];
  if (type === undefined || !type.startsWith('multipart/form-data')) return undefined;
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  return [...form].map(([name, value]) => {
    if (typeof value !== 'string') throw engineError('NOT_IMPLEMENTED', 'external tables are not supported');
    return [name, value];
  });
}
