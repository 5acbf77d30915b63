// Cross-origin rules of the routes for tokens. Scripts of any origin may use a token, because no
// cookie is involved: the response allows any origin and no credentials of the browser. POST /mcp
// also checks the Host header, so that a page whose name was rebound to this server is refused.
import type { RequestHandler } from 'express';
import { PublicError } from '../platform/errors.js';
import { allowAnyOrigin } from '../platform/http/cross-origin.js';
import { LOOPBACK_NAMES } from '../platform/http/loopback.js';
import { hasToken } from './agent-access.js';

const PREFLIGHT_CACHED_SECONDS = '86400';

const REQUEST_HEADERS = [
  ...['Content-Type', 'X-API-Key', 'Authorization', 'Accept', 'Last-Event-ID'],
  ...['MCP-Protocol-Version', 'Mcp-Session-Id', 'Mcp-Method', 'Mcp-Name'],
];

/** Before the guards of a route, so that scripts can read errors too. */
export const allowTokenOrigins: RequestHandler = (req, res, next) => {
  if (hasToken(req)) {
    allowAnyOrigin(res);
    res.setHeader('Access-Control-Expose-Headers', 'Retry-After, WWW-Authenticate');
  }
  next();
};

/** A preflight carries no credential, so each is answered; the request itself is checked. */
export const answerTokenPreflight: RequestHandler = (_req, res) => {
  allowAnyOrigin(res);
  res
    .set('Access-Control-Allow-Methods', 'GET, POST')
    .set('Access-Control-Allow-Headers', REQUEST_HEADERS.join(', '))
    .set('Access-Control-Max-Age', PREFLIGHT_CACHED_SECONDS)
    .status(204)
    .end();
};

/**
 * For POST /mcp. `addresses` are the service's own: PUBLIC_URL and the like. Refuses a Host that is
 * neither one of these, nor a loopback name, nor the address that the connection reached; and a
 * foreign Origin without a token, or with cookies.
 */
export function guardAgents(addresses: readonly URL[]): RequestHandler {
  const names = new Set([...LOOPBACK_NAMES, ...addresses.map(({ hostname }) => hostname)]);
  const origins = new Set(addresses.map(({ origin }) => origin));
  return (req, _res, next) => {
    const { host = '', origin, cookie } = req.headers;
    const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
    if (url === undefined || !(names.has(url.hostname) || url.hostname === reachedAddress(req.socket.localAddress))) {
      throw new PublicError('forbidden', 'the Host header does not name this service; set PUBLIC_URL to its address');
    }
    const isForeign = origin !== undefined && !origins.has(origin) && hostOf(origin) !== url.host;
    if (isForeign && !hasToken(req)) {
      throw new PublicError('forbidden', 'requests from other origins need a token (aat_…)');
    }
    if (isForeign && cookie !== undefined) {
      throw new PublicError('forbidden', 'requests from other origins must not carry cookies');
    }
    next();
  };
}

const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined);

/** As in a URL: IPv6 in brackets, and IPv4 without its IPv6 prefix. */
function reachedAddress(address = ''): string {
  const plain = address.replace(/^::ffff:/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}
