// The cookie that carries a session: `service_session`.
import { parseCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { SESSION_LIFETIME_SECONDS } from '../accounts/sessions.js';

const SESSION_COOKIE = 'service_session';

export function readSessionToken(req: Request): string | undefined {
  const header = req.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[SESSION_COOKIE];
}

export function setSessionCookie(res: Response, token: string, publicUrl: URL): void {
  res.cookie(SESSION_COOKIE, token, { ...attributesFor(res.req, publicUrl), maxAge: SESSION_LIFETIME_SECONDS * 1000 });
}

export function clearSessionCookie(res: Response, publicUrl: URL): void {
  res.clearCookie(SESSION_COOKIE, attributesFor(res.req, publicUrl));
}

/** `secure` wherever https is known of, by the public address or by this request, so that plain http works locally. */
const attributesFor = (req: Request, publicUrl: URL): CookieOptions => ({
  httpOnly: true,
  sameSite: 'lax',
  secure: req.secure || publicUrl.protocol === 'https:',
  path: '/',
});
