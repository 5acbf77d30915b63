// Where to go after signing in: a path of the service itself, whatever an address says. Pure.

const HOME = '/';
// Any origin would do: what matters is that the path does not lead away from it.
const HERE = 'http://here.invalid';

/** `next` when it is a path of this origin, as the browser would read it; else the front page. */
export function toNextPath(next: unknown): string {
  if (typeof next !== 'string' || !next.startsWith('/') || !URL.canParse(next, HERE)) return HOME;
  const { origin, pathname, search, hash } = new URL(next, HERE);
  // A path that begins with two slashes is an address of another server when it stands alone.
  return origin === HERE && !pathname.startsWith('//') ? `${pathname}${search}${hash}` : HOME;
}
