// Turns the session cookie of a request into the person who signed in, or ends the request with 401.
import type { RequestHandler, Response } from 'express';
import { findSession, type Session } from '../accounts/sessions.js';
import { PublicError } from '../platform/errors.js';
import type { Postgres } from '../platform/postgres/client.js';
import { readSessionToken, setSessionCookie } from './session-cookie.js';

export type Person = Omit<Session, 'isProlonged'>;

export function requireSession(postgres: Postgres): RequestHandler {
  return async (req, res, next) => {
    const token = readSessionToken(req);
    const session = token === undefined ? undefined : await findSession(postgres, token);
    if (token === undefined || session === undefined) {
      throw new PublicError('unauthenticated', 'a session is required; sign in at /login');
    }
    if (session.isProlonged) setSessionCookie(req, res, token);
    res.locals.person = session;
    next();
  };
}

export const personOf = (res: Response): Person => res.locals.person as Person;
