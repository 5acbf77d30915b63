// Rate limit by client address, for routes without a credential.
import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import ipaddr from 'ipaddr.js';
import type { RateLimit } from './rate-limits.js';

/** The address is stored as a digest for a minute. */
export const limitByAddress =
  (rateLimit: RateLimit): RequestHandler =>
  async (req, _res, next) => {
    await rateLimit.take(
      createHash('sha256')
        .update(networkOf(req.ip ?? ''))
        .digest('base64url'),
    );
    next();
  };

/** IPv6 is counted by /64, because a subscriber has a whole /64. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return '';
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : parsed.toString();
}
