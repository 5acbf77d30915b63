// Says in plain words why a webhook was not reached. The code of the error follows in brackets, so
// that it can be searched for.

interface Failed {
  readonly code?: unknown;
  readonly syscall?: unknown;
}

const UNTRUSTED = /^(?:SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|CERT_UNTRUSTED|CERT_REJECTED|CERT_SIGNATURE)/;

/** Of an error of Node: of the lookup, the connection, TLS or the HTTP parser. */
export function describeCallFailure(error: unknown, url: URL): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { code, syscall } = error as Failed;
  if (typeof code !== 'string') return error.message;
  const isLookup = typeof syscall === 'string' && /^(?:query|getaddrinfo)/.test(syscall);
  return `${isLookup ? ofLookup(code, url.hostname) : ofConnection(code, url)} (${code})`;
}

const ofLookup = (code: string, host: string): string =>
  ['ENOTFOUND', 'ENODATA'].includes(code)
    ? `there is no host with the name ${host}`
    : `the name server gave no answer for ${host}`;

function ofConnection(code: string, { hostname: host, host: withPort, protocol }: URL): string {
  switch (code) {
    case 'ECONNREFUSED':
      return `${withPort} refused the connection`;
    case 'ECONNRESET':
    case 'EPIPE':
      return `${withPort} closed the connection before it answered`;
    case 'ETIMEDOUT':
      return `${withPort} did not take the connection in time`;
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `no network leads to ${host}`;
    case 'CERT_HAS_EXPIRED':
      return `the certificate of ${host} has expired`;
    case 'CERT_NOT_YET_VALID':
      return `the certificate of ${host} is not valid yet`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `the certificate of ${withPort} is for another host`;
    case 'HPE_HEADER_OVERFLOW':
      return `the headers of the answer of ${withPort} are too long`;
    default:
      if (UNTRUSTED.test(code)) return `the certificate of ${host} is from no known authority`;
      if (code.startsWith('HPE_')) return `${withPort} did not answer in HTTP`;
      return protocol === 'https:' ? `the encrypted call of ${withPort} failed` : `the call of ${withPort} failed`;
  }
}
