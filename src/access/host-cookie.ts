// Names and attributes of cookies that belong to this host alone. Under https their names begin with `__Host-`: a browser takes
// such a cookie only from this host over https, so that no sibling subdomain and no plain-http answer can plant one. Under plain
// http browsers refuse the prefix, and the name has none. The other name is never read: accepting it would undo the prefix.
import { parseCookie } from 'cookie';
import type { CookieOptions, Request } from 'express';

/** Known by the public address or by this request, so that plain http works locally. */
export const isHttps = (req: Request, publicUrl: URL): boolean => req.secure || publicUrl.protocol === 'https:';

const nameOf = (name: string, isSecure: boolean): string => (isSecure ? `__Host-${name}` : name);

export function readHostCookie(req: Request, name: string, isSecure: boolean): string | undefined {
  const header = req.headers.cookie;
  return header === undefined ? undefined : parseCookie(header)[nameOf(name, isSecure)];
}

/** Lax and not Strict: links from elsewhere, and the identity provider, lead here. `path` counts under plain http only. */
export function toHostCookie(
  name: string,
  { isSecure, path = '/' }: { isSecure: boolean; path?: string },
): { name: string; attributes: CookieOptions } {
  const attributes: CookieOptions = { httpOnly: true, sameSite: 'lax', secure: isSecure, path: isSecure ? '/' : path };
  return { name: nameOf(name, isSecure), attributes };
}
