// The session cookie: `service_session`, under https `__Host-service_session`.
import type { Request, Response } from 'express';
import { SESSION_LIFETIME_SECONDS } from '../accounts/sessions.js';
import { isHttps, readHostCookie, toHostCookie } from './host-cookie.js';

const SESSION_COOKIE = 'service_session';

export const readSessionToken = (req: Request, publicUrl: URL): string | undefined =>
  readHostCookie(req, SESSION_COOKIE, isHttps(req, publicUrl));

export function setSessionCookie(res: Response, token: string, publicUrl: URL): void {
  const { name, attributes } = toHostCookie(SESSION_COOKIE, { isSecure: isHttps(res.req, publicUrl) });
  res.cookie(name, token, { ...attributes, maxAge: SESSION_LIFETIME_SECONDS * 1000 });
}

export function clearSessionCookie(res: Response, publicUrl: URL): void {
  const { name, attributes } = toHostCookie(SESSION_COOKIE, { isSecure: isHttps(res.req, publicUrl) });
  res.clearCookie(name, attributes);
}
