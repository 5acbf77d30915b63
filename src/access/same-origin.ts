// CSRF protection: rejects unsafe requests that a browser sends from another site. Browsers set
// Sec-Fetch-Site or at least Origin; a client that sends neither is not a browser, so other sites
// cannot make it send the cookie. SameSite=Lax is an additional protection only, because it allows
// sibling subdomains.
import type { Request, RequestHandler } from 'express';
import { PublicError } from '../platform/errors.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

export function refuseCrossOrigin(publicUrl: URL): RequestHandler {
  return (req, _res, next) => {
    if (SAFE_METHODS.has(req.method) || isSameOrigin(req, publicUrl)) next();
    else throw new PublicError('forbidden', 'requests from other origins cannot use a session');
  };
}

function isSameOrigin(req: Request, publicUrl: URL): boolean {
  const site = req.headers['sec-fetch-site'];
  // `none`: entered by the user (address bar, bookmark).
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin, host } = req.headers;
  if (origin === undefined) return true;
  // Pages cannot choose the Host header, so the requested host is accepted as own origin too.
  return origin === publicUrl.origin || (URL.canParse(origin) && new URL(origin).host === host);
}
