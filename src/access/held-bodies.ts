// Bounds the bodies that a process holds of requests other than events and identify calls: a client
// may send many at once, and each may take a minute to arrive.
import type { Request, RequestHandler, Response } from 'express';
import { PublicError } from '../platform/errors.js';
import { BOUNDS } from '../platform/flow/bounds.js';
import { ByteSemaphore } from '../platform/flow/byte-semaphore.js';

const KIB = 1024;
/** No route keeps more of a body in memory. */
const BODY_BYTES_MAX = 512 * KIB;

const held = new ByteSemaphore(BOUNDS.heldBodyBytes);

/** Before the body is read; the bytes are held for the owner until the response ends. */
export const holdBody =
  (ownerOf: (res: Response) => string): RequestHandler =>
  (req, res, next) => {
    const bytes = bytesOf(req);
    // A client that has left gets no `close` any more.
    if (bytes === 0 || res.destroyed) return next();
    const owner = ownerOf(res);
    if (!held.tryAcquire(bytes, owner)) {
      throw new PublicError('rate_limited', 'too many request bytes are in flight; try again in a minute');
    }
    res.once('close', () => held.giveBack(bytes, owner));
    next();
  };

/** The most that the body may take. */
function bytesOf({ headers }: Request): number {
  const isLengthKnown = headers['transfer-encoding'] === undefined && headers['content-encoding'] === undefined;
  return isLengthKnown ? Math.min(Number(headers['content-length'] ?? 0), BODY_BYTES_MAX) : BODY_BYTES_MAX;
}
