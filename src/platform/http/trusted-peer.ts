// Whether the other end of a connection is a proxy of ours: only then are headers believed that a proxy sets.
import type { Request } from 'express';

type IsTrusted = (address: string | undefined, hop: number) => boolean;

/** As TRUST_PROXY says, which express has compiled: the peer is hop 0. */
export function isPeerTrusted(req: Request): boolean {
  const isTrusted = req.app.get('trust proxy fn') as IsTrusted;
  return isTrusted(req.socket.remoteAddress, 0);
}
