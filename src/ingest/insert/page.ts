// Parses page and referrer URLs: hostname, path, and the path with identifiers replaced
// (`path_clean`).
import { LRUCache } from 'lru-cache';

export interface PageAddress {
  readonly hostname: string;
  readonly path: string;
  readonly pathClean: string;
}

const CACHED_MAX = 20_000;
const CACHED_LENGTH_MAX = 256;
const cache = new LRUCache<string, PageAddress>({ max: CACHED_MAX });

const NO_PAGE: PageAddress = Object.freeze({ hostname: '', path: '', pathClean: '' });

/**
 * Parses absolute URLs and bare paths ("/pricing?x=1"); anything else has neither host nor path.
 */
export function parsePageAddress(url: string): PageAddress {
  if (url === '') return NO_PAGE;
  const known = cache.get(url);
  if (known !== undefined) return known;
  const page = parse(url);
  if (url.length <= CACHED_LENGTH_MAX) cache.set(url, page);
  return page;
}

// Fast path for URLs without user, port, percent escapes or dot segments; all others use URL.
const PLAIN_ADDRESS = /^https?:\/\/([a-z0-9.-]+)(\/[A-Za-z0-9_~\-/.]*)?(?:[?#]|$)/;

function parse(url: string): PageAddress {
  const plain = PLAIN_ADDRESS.exec(url);
  if (plain !== null && !url.includes('/.')) return toPage(plain[1] ?? '', plain[2] ?? '/');
  if (url.startsWith('/') && !url.startsWith('//')) return toPage('', url.replace(/[?#].*$/s, ''));
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed === undefined ? NO_PAGE : toPage(parsed.hostname, parsed.host === '' ? '' : parsed.pathname);
}

const toPage = (hostname: string, path: string): PageAddress => ({ hostname, path, pathClean: cleanPath(path) });

const IDENTIFIER =
  /^(?:\d+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{8,}|(?=.*\d)[\w-]{16,})$/i;

/**
 * Replaces by `{id}` each segment that is a number, a UUID, 8 or more hexadecimal digits, or a
 * token of at least 16 characters with a digit.
 */
export function cleanPath(path: string): string {
  return path
    .split('/')
    .map((segment) => (IDENTIFIER.test(segment) ? '{id}' : segment))
    .join('/');
}

/** The hostname of a referrer; empty when it has none. */
export const referrerDomain = (referrer: string): string => parsePageAddress(referrer).hostname;
