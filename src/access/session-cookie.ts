// The cookie that carries a session: `service_session`.
import { parseCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { SESSION_LIFETIME_SECONDS } from '../accounts/sessions.js';

const SESSION_COOKIE = 'service_session';

export function readSessionToken(req: Request): string | undefined {
  const header = req.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[SESSION_COOKIE];
}

export function setSessionCookie(req: Request, res: Response, token: string): void {
  res.cookie(SESSION_COOKIE, token, { ...attributesFor(req), maxAge: SESSION_LIFETIME_SECONDS * 1000 });
}

export function clearSessionCookie(req: Request, res: Response): void {
  res.clearCookie(SESSION_COOKIE, attributesFor(req));
}

/** `secure` follows how the client reached us (TRUST_PROXY says whom to believe), so that plain http works locally. */
const attributesFor = (req: Request): CookieOptions => ({
  httpOnly: true,
  sameSite: 'lax',
  secure: req.secure,
  path: '/',
});
