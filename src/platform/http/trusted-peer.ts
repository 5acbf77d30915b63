// Whether the peer of a connection is a trusted proxy, whose headers may be used.
import type { PlainRequest } from './plain-request.js';

type IsTrusted = (address: string | undefined, hop: number) => boolean;

/** According to TRUST_PROXY, which express has compiled: the peer is hop 0. */
export function isPeerTrusted(req: PlainRequest): boolean {
  const isTrusted = req.app.get('trust proxy fn') as IsTrusted;
  return isTrusted(req.socket.remoteAddress, 0);
}
