// Minimal browser for redirects and cookies: stores cookies by name and path (shared by ports, as
// in browsers), sends them, and follows one redirect at a time, so that a test can inspect or
// modify each.
import { parseSetCookie } from 'cookie';

export interface Visit {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Target of the redirect, as an absolute address. */
  readonly location: string | undefined;
}

export class CookieJar {
  readonly #cookies = new Map<string, { value: string; path: string }>();
  /** Every Set-Cookie header so far. */
  readonly received: string[] = [];

  get(name: string): string | undefined {
    return this.#cookies.get(name)?.value;
  }

  set(name: string, value: string, path = '/'): void {
    this.#cookies.set(name, { value, path });
  }

  async visit(url: string, init: RequestInit = {}): Promise<Visit> {
    const headers = new Headers({ Accept: 'text/html', ...init.headers });
    const cookies = this.#cookiesFor(new URL(url).pathname);
    if (cookies !== '') headers.set('Cookie', cookies);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const text of response.headers.getSetCookie()) this.#store(text);
    const location = response.headers.get('Location');
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url).href,
    };
  }

  /**
   * Follows redirects until there is none, or until an address matches `stopAt`, which is returned.
   */
  async follow(url: string, stopAt?: RegExp): Promise<{ url: string; visit: Visit }> {
    let at = url;
    for (let hop = 0; hop < 10; hop += 1) {
      const visit = await this.visit(at);
      if (visit.location === undefined || stopAt?.test(visit.location)) return { url: visit.location ?? at, visit };
      at = visit.location;
    }
    throw new Error(`too many redirects, the last to ${at}`);
  }

  #cookiesFor(path: string): string {
    return [...this.#cookies]
      .filter(([, cookie]) => path === cookie.path || path.startsWith(cookie.path.replace(/\/?$/, '/')))
      .map(([name, { value }]) => `${name}=${value}`)
      .join('; ');
  }

  #store(text: string): void {
    this.received.push(text);
    const { name, value, path, maxAge, expires } = parseSetCookie(text);
    const isGone = maxAge === 0 || (expires !== undefined && expires.getTime() <= Date.now());
    if (isGone) this.#cookies.delete(name);
    else this.#cookies.set(name, { value: encodeURIComponent(value ?? ''), path: path ?? '/' });
  }
}
