// Reverse proxy for POST /query and POST /mcp: streams the request to the query process and the
// response back.
import { Agent, type IncomingMessage, request } from 'node:http';
import { pipeline } from 'node:stream';
import type { RequestHandler } from 'express';
import { PASS_HEADER } from '../access/project-pass.js';
import { isSignedIn } from '../access/session-middleware.js';
import { PublicError } from '../platform/errors.js';

// Forward only headers that the query process reads.
const FORWARDED_REQUEST_HEADERS = [
  'content-type',
  'content-length',
  'content-encoding',
  'accept-encoding',
  'x-api-key',
  'x-request-id',
  PASS_HEADER,
  // Headers of POST /mcp.
  ...['authorization', 'accept', 'mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'last-event-id'],
];

/** They concern the connection to the query process, and not the one to the client. */
const HOP_BY_HOP_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding']);

const endToEndHeaders = ({ headers }: IncomingMessage) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP_HEADERS.has(name)));

/**
 * Not the 401 of the query process: the person is signed in, and signing in again would change
 * nothing.
 */
const passRefused = (): PublicError =>
  new PublicError(
    'unavailable',
    'the query process refuses the sessions of this one; both need the same release, SECRET_KEY_BASE and clock',
  );

export function forwardQueries(queryUrl: string, path: '/query' | '/mcp' = '/query'): RequestHandler {
  // No limit of connections: the query process limits each project. A common limit here would let
  // one project's waiting queries delay those of others.
  const agent = new Agent({ keepAlive: true });
  return (req, res, next) => {
    // Its client has disconnected while the session was looked up: no body would follow.
    if (res.destroyed) return;
    const headers = Object.fromEntries(
      FORWARDED_REQUEST_HEADERS.flatMap((name) => (req.headers[name] === undefined ? [] : [[name, req.headers[name]]])),
    );
    const upstream = request(new URL(path, queryUrl), { method: req.method, headers, agent });
    upstream.on('response', (answer: IncomingMessage) => {
      if (answer.statusCode === 401 && isSignedIn(res)) {
        answer.resume();
        next(passRefused());
        return;
      }
      res.writeHead(answer.statusCode ?? 502, endToEndHeaders(answer));
      // pipeline destroys both ends when the response breaks.
      pipeline(answer, res, () => {});
    });
    upstream.on('error', (cause) => {
      // What is left of the body would hold up the next request of the connection.
      req.unpipe(upstream).resume();
      if (res.headersSent || res.destroyed) res.destroy();
      else next(new PublicError('unavailable', 'queries cannot be answered right now; try again', { cause }));
    });
    // Abort the query when the client disconnects.
    res.on('close', () => upstream.destroy());
    req.pipe(upstream);
  };
}
