// Session middleware: resolves the session cookie to a person, or answers 401.
import type { Request, RequestHandler, Response } from 'express';
import { findSession, type Session } from '../accounts/sessions.js';
import { PublicError } from '../platform/errors.js';
import type { Postgres } from '../platform/postgres/client.js';
import { digestKey } from './keys.js';
import type { LayeredRateLimit } from './rate-limits.js';
import { refuseCrossOrigin } from './same-origin.js';
import { readSessionToken, setSessionCookie } from './session-cookie.js';

export type Person = Omit<Session, 'isProlonged'>;

/** What pages call the person. */
export const nameOf = ({ email, name }: Person): string => email ?? name ?? 'you';

/** Further guards of session routes. */
export interface SessionGuards {
  readonly rateLimit: LayeredRateLimit;
  readonly publicUrl: URL;
}

export function requireSession(postgres: Postgres, { rateLimit, publicUrl }: SessionGuards): RequestHandler[] {
  return [refuseCrossOrigin(publicUrl), identifyPerson(postgres, { rateLimit, publicUrl })];
}

function identifyPerson(postgres: Postgres, { rateLimit, publicUrl }: SessionGuards): RequestHandler {
  return async (req, res, next) => {
    const session = await findPerson(postgres, { req, res, publicUrl });
    if (session === undefined) {
      throw new PublicError('unauthenticated', 'a session is required; sign in at /login');
    }
    await countRequest(req, session, { rateLimit, publicUrl });
    res.locals.person = session;
    next();
  };
}

/** Throws rate_limited when the limit of the session, or of its person, is used up. */
export async function countRequest(
  req: Request,
  { personId }: Person,
  { rateLimit, publicUrl }: SessionGuards,
): Promise<void> {
  const session = digestKey(readSessionToken(req, publicUrl) ?? '').toString('base64url');
  await rateLimit.take({ session, person: personId });
}

/** The signed-in person, if any. When the session was extended, the response renews the cookie. */
export async function findPerson(
  postgres: Postgres,
  { req, res, publicUrl }: { req: Request; res: Response; publicUrl: URL },
): Promise<Person | undefined> {
  const token = readSessionToken(req, publicUrl);
  const session = token === undefined ? undefined : await findSession(postgres, token);
  if (token !== undefined && session?.isProlonged) setSessionCookie(res, token, publicUrl);
  return session;
}

export const personOf = (res: Response): Person => res.locals.person as Person;

export const isSignedIn = (res: Response): boolean => res.locals.person !== undefined;
