// Validates the return path after sign-in, to prevent open redirects. Pure.

const HOME = '/';
// Any origin works: the path must resolve to the same one.
const HERE = 'http://here.invalid';

/** `next` when a browser would resolve it to this origin; else `/`. */
export function toNextPath(next: unknown): string {
  if (typeof next !== 'string' || !next.startsWith('/') || !URL.canParse(next, HERE)) return HOME;
  const { origin, pathname, search, hash } = new URL(next, HERE);
  // A path that starts with two slashes is a URL of another host.
  return origin === HERE && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : HOME;
}
