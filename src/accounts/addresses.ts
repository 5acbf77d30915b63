// Canonical form of e-mail addresses and domain names, the only form that is stored as verified and
// compared. Lower-casing Unicode text and IDNA both map other characters to ASCII letters (U+212A,
// the Kelvin sign, becomes k), so an address that these would change in anything but ASCII case has
// no canonical form: it is rejected, and equals no other address.
import { domainToASCII, domainToUnicode } from 'node:url';
import { lowerAscii } from '../platform/lower-ascii.js';

// 253 characters is the limit of DNS, including the prefix `_service-verify.` (domains.ts). A
// top-level domain contains a letter.
const DOMAIN =
  /^(?=.{1,237}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/**
 * `Bücher.example` has none, `bücher.example` is `xn--bcher-kva.example`. Undefined for an invalid
 * domain name.
 */
export function tryCanonicalDomain(text: string): string | undefined {
  const lower = lowerAscii(text);
  // The parser of host names would truncate or decode at these characters.
  if (/[\s/\\?#@:%]/.test(lower)) return undefined;
  const ascii = domainToASCII(lower);
  const unicode = domainToUnicode(ascii);
  if (lower !== ascii && lower !== unicode) return undefined;
  // Node 24 keeps labels that do not decode; 20 and 22 answer nothing for them.
  if (/(?:^|\.)xn--/.test(unicode)) return undefined;
  return DOMAIN.test(ascii) ? ascii : undefined;
}

export const EMAIL_LENGTH_MAX = 254;

/** Invisible characters and blanks, which make different addresses look alike. */
const NOT_IN_EMAIL = /[\p{C}\p{Z}@]/u;

/** Undefined for an invalid address, and for one that normalization would change into another. */
export function tryCanonicalEmail(text: string): string | undefined {
  if (text.length > EMAIL_LENGTH_MAX || text.normalize('NFKC') !== text) return undefined;
  const at = text.lastIndexOf('@');
  const local = lowerAscii(text.slice(0, Math.max(at, 0)));
  if (local === '' || local !== local.toLowerCase() || NOT_IN_EMAIL.test(local)) return undefined;
  const domain = tryCanonicalDomain(text.slice(at + 1));
  return domain === undefined ? undefined : `${local}@${domain}`;
}
