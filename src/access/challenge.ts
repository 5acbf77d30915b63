// WWW-Authenticate of every 401 (RFC 9110, 11.6.1), unless the route has set its own. Browsers know
// neither scheme, so that none shows its own password dialog, as for Basic.
import type { ErrorRequestHandler } from 'express';
import { PublicError } from '../platform/errors.js';

export const REALM = 'realm="Event Analytics Service"';
const KEY_CHALLENGE = `ApiKey ${REALM}, header="X-API-Key"`;
const SESSION_CHALLENGE = `Cookie ${REALM}, form-action="/login"`;

/** Without a valid key, where one is required. */
export class KeyRequired extends PublicError {
  constructor(message: string) {
    super('unauthenticated', message);
  }
}

/** Before the handlers that show an error. */
export const challenge: ErrorRequestHandler = (error, _req, res, next) => {
  const isRefused = error instanceof PublicError && error.kind === 'unauthenticated';
  if (isRefused && !res.headersSent && !res.hasHeader('WWW-Authenticate')) {
    res.setHeader('WWW-Authenticate', error instanceof KeyRequired ? KEY_CHALLENGE : SESSION_CHALLENGE);
  }
  next(error);
};
