// Trusted proxies: whether the peer of a connection is one, and the addresses that they name.
import type { IncomingHttpHeaders } from 'node:http';
import type { PlainRequest } from './plain-request.js';

type IsTrusted = (address: string | undefined, hop: number) => boolean;

/** According to TRUST_PROXY, which express has compiled: the peer is hop 0. */
export function isPeerTrusted(req: PlainRequest): boolean {
  const isTrusted = req.app.get('trust proxy fn') as IsTrusted;
  return isTrusted(req.socket.remoteAddress, 0);
}

/** Nearly all headers match neither. */
const MAY_HAVE_PORT = /\[|\.\d+:/;
const WITH_PORT = /^\s*(?:\[([\da-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?\s*$/i;

/** Removes ports from X-Forwarded-For, which express does not expect: Azure's gateways add them. */
export function removeForwardedPorts(headers: IncomingHttpHeaders): void {
  const forwarded = headers['x-forwarded-for'];
  if (typeof forwarded !== 'string' || !MAY_HAVE_PORT.test(forwarded)) return;
  const addresses = forwarded.split(',').map((address) => {
    const [, ipv6, ipv4] = WITH_PORT.exec(address) ?? [];
    return ipv6 ?? ipv4 ?? address;
  });
  headers['x-forwarded-for'] = addresses.join(',');
}
