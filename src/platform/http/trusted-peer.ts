// Whether the peer of a connection is a trusted proxy, whose headers may be used.
import type { Request } from 'express';

type IsTrusted = (address: string | undefined, hop: number) => boolean;

/** According to TRUST_PROXY, which express has compiled: the peer is hop 0. */
export function isPeerTrusted(req: Request): boolean {
  const isTrusted = req.app.get('trust proxy fn') as IsTrusted;
  return isTrusted(req.socket.remoteAddress, 0);
}
