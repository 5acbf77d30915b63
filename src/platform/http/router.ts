// Express apps and routers with strict matching: paths are case-sensitive, and a trailing slash is
// part of the path. By default express accepts `/METRICS` and `/metrics/` for `/metrics`, which
// would bypass a proxy that blocks `/metrics`. Each router has its own options, so all of them must
// be created here (test/tidy.test.ts).
import express, { type Express, type RequestHandler, Router } from 'express';
import { PublicError } from '../errors.js';

export const createRouter = (): Router => Router({ caseSensitive: true, strict: true });

/** An app with strict matching, whose responses are not cached unless their route allows it. */
export function createExpressApp(): Express {
  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.disable('x-powered-by');
  // Responses rarely repeat, so computing ETags is useless.
  app.disable('etag');
  app.use(forbidStoring);
  app.use(requirePlainTarget);
  return app;
}

/**
 * Responses contain data, keys and the signed-in person. Only static content, which is equal for
 * all, overrides this.
 */
const forbidStoring: RequestHandler = (_req, res, next) => {
  res.setHeader('Cache-Control', 'no-store');
  next();
};

/** Whether express reads the target as it is: as a path, with or without a query. */
export const isPlainTarget = (url: string): boolean => url.startsWith('/') && !/[\s#]/.test(url);

/**
 * Rejects request targets other than path and query. Express passes them through a URL parser,
 * which removes fragments and white space and turns backslashes into slashes, unlike a proxy in
 * front. Proxies may send the absolute form, which every server must accept (RFC 9112, 3.2.2).
 */
const requirePlainTarget: RequestHandler = (req, _res, next) => {
  if (!req.url.startsWith('/')) req.url = req.url.replace(/^https?:\/\/[^/?#\\]+/i, '');
  if (!isPlainTarget(req.url)) {
    throw new PublicError('bad_request', 'the request target is not a path, with or without a query');
  }
  next();
};
