// How every process answers what went wrong: JSON {error}, the status of the error's kind, nothing else leaked.
import type { ErrorRequestHandler, Request, RequestHandler } from 'express';
import { PublicError } from '../errors.js';
import type { Logger } from '../log.js';
import { isStoreAway } from '../store-away.js';
import { requestIdOf } from './request-id.js';

const RETRY_AFTER_SECONDS = 60;

export const notFound: RequestHandler = () => {
  throw new PublicError('not_found', 'there is no such route');
};

/** Whatever was asked for, a store that is away is told the same: 503. Why it, or anything else, fails for now is told to the log. */
export function nameStoreFailures(log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error);
    const named = isStoreAway(error) ? storesAway(error) : error;
    if (named instanceof PublicError && named.status >= 500 && named.cause !== undefined) {
      log.warn(
        { err: named.cause, request: requestIdOf(req), method: req.method, route: routeOf(req) },
        'request failed',
      );
    }
    next(named);
  };
}

const storesAway = (cause: unknown): PublicError =>
  new PublicError('unavailable', 'the service cannot reach its stores right now; try again', { cause });

/** The pattern and not the path, which may hold the id of a person or a token. */
const routeOf = (req: Request): string => (typeof req.route?.path === 'string' ? req.baseUrl + req.route.path : 'none');

export function errorResponder(log: Logger): ErrorRequestHandler {
  return (error, req, res, next) => {
    // The answer has begun: breaking the connection is the only honest sign of failure that is left.
    if (res.headersSent) return next(error);
    const known = error instanceof PublicError ? error : (fromPath(error) ?? fromBodyParser(error));
    if (known === undefined) {
      log.error({ err: error, request: requestIdOf(req), method: req.method, route: routeOf(req) }, 'request failed');
      res.status(500).json({ error: 'internal error' });
      return;
    }
    if (known.kind === 'rate_limited') {
      // A script of another origin may read no header that it is not shown.
      res.set({ 'Retry-After': String(RETRY_AFTER_SECONDS), 'Access-Control-Expose-Headers': 'Retry-After' });
    }
    res.status(known.status).json({ error: known.message, ...(known.details && { details: known.details }) });
  };
}

/** Express decodes the parameters of a path, and throws when they are no percent-encoded UTF-8. */
const fromPath = (error: unknown): PublicError | undefined =>
  error instanceof URIError ? new PublicError('bad_request', 'the path is not valid percent-encoded UTF-8') : undefined;

/** body-parser's errors carry a `type`; its 415 becomes a 400, as the interface knows no other. */
function fromBodyParser(error: unknown): PublicError | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  switch ('type' in error ? error.type : undefined) {
    case 'entity.too.large':
      return new PublicError('too_large', `the request body is larger than ${describeLimit(error)}`);
    case 'entity.parse.failed':
      return new PublicError('bad_request', 'the request body is not valid JSON');
    case 'encoding.unsupported':
      return new PublicError('bad_request', 'the content encoding is not supported; send identity, gzip or br');
    case 'charset.unsupported':
      return new PublicError('bad_request', 'the charset is not supported; send UTF-8');
    case 'request.aborted':
    case 'request.size.invalid':
      return new PublicError('bad_request', 'the request body is incomplete');
    default:
      // What zlib refuses comes without a type.
      return 'status' in error && error.status === 400
        ? new PublicError('bad_request', 'the request body cannot be decompressed')
        : undefined;
  }
}

const describeLimit = (error: object): string =>
  'limit' in error && typeof error.limit === 'number' ? `${error.limit} bytes` : 'the limit';
