// Error responder of every process: JSON {error} with the status of the error's kind, and no
// internal details.
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { NoSuchRoute, PublicError } from '../errors.js';
import type { Logger } from '../log.js';
import { createRepeatedWarning } from '../repeated-warning.js';
import { isTransientError } from '../transient-errors.js';
import { requestIdOf } from './request-id.js';
import { routeOf } from './route-of.js';

const RETRY_AFTER_SECONDS = 60;

export const notFound: RequestHandler = () => {
  throw new NoSuchRoute();
};

/**
 * Names errors of libraries before they are shown. Answers 503 for every transient store error and
 * logs the cause: once within 30 seconds, with the first of the requests, because an unavailable
 * store fails each request.
 */
export function nameFailures(log: Pick<Logger, 'warn'>): ErrorRequestHandler {
  const warn = createRepeatedWarning({ log, message: 'request failed' });
  return (error, req, res, next) => {
    if (res.headersSent) return next(error);
    const named = isTransientError(error) ? storesUnreachable(error) : (fromPath(error) ?? error);
    if (named instanceof PublicError && named.status >= 500 && named.cause !== undefined) {
      warn(named.cause, { request: requestIdOf(req), method: req.method, route: routeOf(req) });
    }
    next(named);
  };
}

const storesUnreachable = (cause: unknown): PublicError =>
  new PublicError('unavailable', 'the service cannot use its stores right now; try again', { cause });

/** Express throws this when a path parameter is not valid percent-encoded UTF-8. */
const fromPath = (error: unknown): PublicError | undefined =>
  error instanceof URIError ? new PublicError('bad_request', 'the path is not valid percent-encoded UTF-8') : undefined;

/** The body of an error in the form of another API: a route sets it as `res.locals.toErrorBody`. */
export type ToErrorBody = (status: number, message: string) => unknown;

/** What a route may set as `res.locals` for its errors. */
export interface ErrorLocals {
  toErrorBody?: ToErrorBody | undefined;
  /** In place of 429, for clients that do not repeat after it. */
  busyStatus?: number | undefined;
}

export function errorResponder(log: Logger): ErrorRequestHandler {
  return (error, req, res, _next) => {
    // The response has started: breaking the connection is the only way left to signal failure.
    if (res.headersSent) {
      const which = { request: requestIdOf(req), method: req.method, route: routeOf(req) };
      log.error({ err: error, ...which }, 'request failed after its response had started');
      res.destroy();
      return;
    }
    const known = error instanceof PublicError ? error : fromBodyParser(error);
    if (known === undefined) {
      log.error({ err: error, request: requestIdOf(req), method: req.method, route: routeOf(req) }, 'request failed');
      res.status(500).json({ error: 'internal error' });
      return;
    }
    if (known.kind === 'rate_limited') {
      // Scripts of other origins can only read exposed headers.
      res.set({ 'Retry-After': String(RETRY_AFTER_SECONDS), 'Access-Control-Expose-Headers': 'Retry-After' });
    }
    const { toErrorBody, busyStatus } = res.locals as ErrorLocals;
    const status = known.kind === 'rate_limited' ? (busyStatus ?? known.status) : known.status;
    const body = toErrorBody?.(status, known.message);
    res.status(status).json(body ?? { error: known.message, ...(known.details && { details: known.details }) });
  };
}

/** body-parser's errors carry a `type`. Its 415 becomes 400, because the API has no 415. */
function fromBodyParser(error: unknown): PublicError | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  switch ('type' in error ? error.type : undefined) {
    case 'entity.too.large':
      return new PublicError('too_large', `the request body is larger than ${describeLimit(error)}`);
    case 'entity.parse.failed':
      return new PublicError('bad_request', 'the request body is not valid JSON');
    case 'entity.verify.failed':
      return new PublicError('bad_request', 'the request body is not valid UTF-8');
    case 'encoding.unsupported':
      return new PublicError('bad_request', 'the content encoding is not supported; send identity, gzip or br');
    case 'charset.unsupported':
      return new PublicError('bad_request', 'the charset is not supported; send UTF-8');
    case 'request.aborted':
    case 'request.size.invalid':
      return new PublicError('bad_request', 'the request body is incomplete');
    default:
      // Errors of zlib have no type.
      return 'status' in error && error.status === 400
        ? new PublicError('bad_request', 'the request body cannot be decompressed')
        : undefined;
  }
}

const describeLimit = (error: object): string =>
  'limit' in error && typeof error.limit === 'number' ? `${error.limit} bytes` : 'the limit';
