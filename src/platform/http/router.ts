// Express apps and routers with strict matching: paths are case-sensitive, and a trailing slash is part of the path. Express
// accepts `/METRICS` and `/metrics/` for `/metrics` by default, so that a proxy which keeps `/metrics` from the outside would
// not keep these. Each router has options of its own, which is why none is made elsewhere (test/tidy.test.ts).
import express, { type Express, type RequestHandler, Router } from 'express';
import { PublicError } from '../errors.js';

export const createRouter = (): Router => Router({ caseSensitive: true, strict: true });

/** An app that matches strictly, and whose answers no cache keeps unless their route says otherwise. */
export function createExpressApp(): Express {
  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  app.disable('x-powered-by');
  // Answers here are never the same twice: hashing each for an entity tag is wasted.
  app.disable('etag');
  app.use(forbidStoring);
  app.use(requirePlainTarget);
  return app;
}

/** Answers hold data, keys and who is signed in. Only static content, which is the same for all, sets another value. */
const forbidStoring: RequestHandler = (_req, res, next) => {
  res.setHeader('Cache-Control', 'no-store');
  next();
};

/**
 * Express takes a request target that is more than path and query through a URL parser, which removes fragments and white
 * space and turns backslashes into slashes. A proxy in front does not, so such a target is refused. Proxies may send the absolute form, which every server has to accept (RFC 9112, 3.2.2).
 */
const requirePlainTarget: RequestHandler = (req, _res, next) => {
  if (!req.url.startsWith('/')) req.url = req.url.replace(/^https?:\/\/[^/?#\\]+/i, '');
  if (!req.url.startsWith('/') || /[\s#]/.test(req.url)) {
    throw new PublicError('bad_request', 'the request target is not a path, with or without a query');
  }
  next();
};
