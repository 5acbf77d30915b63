// Between Express and the Request and Response of the fetch standard, which the SDK uses.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';

/** Headers of the body, which has been read, and of the connection. */
const NOT_COPIED = new Set(['connection', 'content-encoding', 'content-length', 'host', 'transfer-encoding']);

/** Without a body: the SDK gets it parsed. `Accept` is not asked of clients. */
export function toWebRequest(req: ExpressRequest, signal: AbortSignal): Request {
  const copied = Object.entries(req.headers).filter(([name]) => !NOT_COPIED.has(name));
  const headers = new Headers(copied.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])));
  headers.set('accept', 'application/json, text/event-stream');
  headers.set('content-type', 'application/json');
  return new Request('http://service/mcp', { method: 'POST', headers, signal });
}

/** Ends early when the client has disconnected. Rejects when the body of `response` fails. */
export async function sendWebResponse(response: Response, res: ExpressResponse): Promise<void> {
  res.status(response.status);
  for (const [name, value] of response.headers) res.setHeader(name, value);
  if (response.body === null) {
    res.end();
    return;
  }
  try {
    await pipeline(Readable.fromWeb(response.body as ReadableStream), res);
  } catch (error) {
    if (!hasDisconnected(error)) throw error;
  }
}

const hasDisconnected = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';
