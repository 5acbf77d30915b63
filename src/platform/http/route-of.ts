// Route of a request for logs and metrics: the pattern, not the path, which may contain a person's
// id or a token.
import type { Request } from 'express';

/** `none` before a route has matched, and for requests without one. */
export const routeOf = (req: Request): string =>
  typeof req.route?.path === 'string' ? req.baseUrl + req.route.path : 'none';
