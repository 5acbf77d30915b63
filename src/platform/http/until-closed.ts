// Work for a response, which ends when its client has disconnected.
import type { ServerResponse } from 'node:http';

/**
 * Aborted when the response has ended or its client has disconnected. A client that left before
 * this call gets no `close` any more.
 */
export function untilClosed(res: ServerResponse): AbortSignal {
  const closed = new AbortController();
  if (res.destroyed) closed.abort();
  else res.once('close', () => closed.abort());
  return closed.signal;
}
