// JSON errors for requests that Node rejects before express sees them: malformed HTTP, headers and
// chunk extensions over their limits, requests that do not arrive in time, expectations other than
// 100-continue, CONNECT. By default Node answers these with an empty body. The response quotes
// nothing of the request, and the connection is closed after it.
import { type IncomingMessage, maxHeaderSize, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

interface Refusal {
  readonly status: 400 | 405 | 408 | 413 | 417 | 431;
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const MALFORMED: Refusal = { status: 400, error: 'the request is not valid HTTP/1.1' };
const HOST_MISSING: Refusal = { status: 400, error: 'the header Host is required' };
const EXPECTATION: Refusal = { status: 417, error: 'the header Expect takes 100-continue only' };
const CONNECT: Refusal = {
  status: 405,
  error: 'the method CONNECT is not supported',
  headers: { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' },
};
/** Responses by the code of Node's error. */
const REFUSALS: ReadonlyMap<string | undefined, Refusal> = new Map([
  ['HPE_HEADER_OVERFLOW', { status: 431, error: `the request headers are larger than ${maxHeaderSize} bytes` }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { status: 413, error: 'the chunk extensions of the request body are too large' }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, error: 'the request did not arrive in time' }],
]);

/**
 * How long a rejected request is still read: closing a connection that receives data resets it, and
 * the client may lose the response.
 */
const LINGER_MS = 1000;

/** `isAnswering`: a response on this connection has started and is not complete. */
export function answerProtocolErrors(server: Server, isAnswering: (socket: Duplex) => boolean): void {
  const refused = new WeakSet<Duplex>();
  const refuse = (socket: Duplex, refusal: Refusal): void => {
    // The parser reports every further chunk of a rejected connection again.
    if (refused.has(socket)) return;
    refused.add(socket);
    // An error within another response would become part of it.
    if (!socket.writable || isAnswering(socket)) return void socket.destroy();
    socket.end(toMessage(refusal));
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, REFUSALS.get(error.code) ?? MALFORMED);
  });
  server.on('connect', (_req, socket) => {
    socket.on('error', () => {});
    refuse(socket, CONNECT);
  });
  server.on('checkExpectation', (_req: IncomingMessage, res: ServerResponse) => send(res, EXPECTATION));
}

/** Node checks this as well, but with an empty body (`requireHostHeader`). */
export function refuseMissingHost(req: IncomingMessage, res: ServerResponse): boolean {
  if (req.headers.host !== undefined || req.httpVersion === '1.0') return false;
  send(res, HOST_MISSING);
  return true;
}

const toBody = ({ error }: Refusal): string => JSON.stringify({ error });

const headersOf = ({ headers }: Refusal, body: string): Readonly<Record<string, string>> => ({
  ...headers,
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': String(Buffer.byteLength(body)),
  'Cache-Control': 'no-store',
  Connection: 'close',
});

function send(res: ServerResponse, refusal: Refusal): void {
  const body = toBody(refusal);
  res.writeHead(refusal.status, headersOf(refusal, body)).end(body);
}

function toMessage(refusal: Refusal): string {
  const body = toBody(refusal);
  const headers = Object.entries(headersOf(refusal, body)).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`, ...headers, '', body].join('\r\n');
}
