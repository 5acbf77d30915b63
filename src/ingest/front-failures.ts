// Failures of requests that came past the router (front.ts), which answers them: one place writes
// the errors of all routes.
import type { IncomingMessage } from 'node:http';

const failures = new WeakMap<IncomingMessage, { readonly error: unknown }>();

export const keepFailure = (req: IncomingMessage, error: unknown): void => void failures.set(req, { error });

/** Throws what has failed before the request came to the router. */
export function throwFailure(req: IncomingMessage): void {
  const failure = failures.get(req);
  if (failure !== undefined) throw failure.error;
}
