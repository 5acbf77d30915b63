// The site of an access log: what stands before the paths of its lines.

/**
 * Origin and path of the address, without a trailing slash, because paths begin with one. Undefined
 * for an address with a query or a fragment, behind which no path can stand.
 */
export const tryToSite = ({ origin, pathname, search, hash }: URL): string | undefined =>
  search === '' && hash === '' ? `${origin}${pathname}`.replace(/\/+$/, '') : undefined;
