// Cookies bound to this host. Under https their names have the prefix `__Host-`: browsers accept
// such a cookie only from this host over https, so that no sibling subdomain and no plain-http
// response can set one. Under plain http browsers reject the prefix, so the name has none. The
// other name is never read, because accepting it would make the prefix useless.
import { parseCookie } from 'cookie';
import type { CookieOptions, Request } from 'express';

/** According to the public address or to this request, so that plain http works locally. */
export const isHttps = (req: Request, publicUrl: URL): boolean => req.secure || publicUrl.protocol === 'https:';

const nameOf = (name: string, isSecure: boolean): string => (isSecure ? `__Host-${name}` : name);

export function readHostCookie(req: Request, name: string, isSecure: boolean): string | undefined {
  const header = req.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[nameOf(name, isSecure)];
}

/**
 * Lax instead of Strict, because links from other sites and the identity provider lead here. `path`
 * applies under plain http only.
 */
export function toHostCookie(
  name: string,
  { isSecure, path = '/' }: { isSecure: boolean; path?: string },
): { name: string; attributes: CookieOptions } {
  const attributes: CookieOptions = { httpOnly: true, sameSite: 'lax', secure: isSecure, path: isSecure ? '/' : path };
  return { name: nameOf(name, isSecure), attributes };
}
