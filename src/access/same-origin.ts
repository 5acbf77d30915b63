// Refuses requests that another site's page makes a browser send with the cookie of this one. Browsers say where a request
// comes from, in Sec-Fetch-Site or at least in Origin; what sends neither is no browser, and nobody can make it send a cookie.
// SameSite=Lax on the cookie is the second lock, not this one: it lets sibling subdomains pass.
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
  // `none` is the person themselves: the address bar, a bookmark.
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin, host } = req.headers;
  if (origin === undefined) return true;
  // No page can choose the Host of what it sends, so its own name is as good as the one that is configured.
  return origin === publicUrl.origin || (URL.canParse(origin) && new URL(origin).host === host);
}
