// Signed claims: the content of a link, header or id that only this service can make.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

export interface SignedClaims {
  /** `<claim>.<signature>`, the signature in base64url. */
  sign(claim: string): string;
  /** The claim; undefined for a text that this service has not signed with its present secret. */
  tryRead(signed: string): string | undefined;
}

/** HMAC-SHA256 with a key of its own for each purpose. */
export function createSignedClaims(secretKeyBase: string, purpose: string): SignedClaims {
  const key = Buffer.from(hkdfSync('sha256', secretKeyBase, '', `event-analytics: ${purpose}`, 32));
  const digest = (claim: string): Buffer => createHmac('sha256', key).update(claim).digest();
  return {
    sign: (claim) => `${claim}.${digest(claim).toString('base64url')}`,
    tryRead(signed) {
      const at = signed.lastIndexOf('.');
      const claim = signed.slice(0, Math.max(0, at));
      const expected = digest(claim);
      const given = Buffer.from(signed.slice(at + 1), 'base64url');
      return given.length === expected.length && timingSafeEqual(given, expected) ? claim : undefined;
    },
  };
}
