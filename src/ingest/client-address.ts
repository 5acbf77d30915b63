// The address policy of a project, applied at the edge before anything is stored.
import ipaddr from 'ipaddr.js';
import type { IpPolicy } from '../access/credentials.js';
import { assertNever } from '../platform/errors.js';

const IPV6_KEPT_BITS = 48;

/** An address in its shortest form, IPv4 also when it came mapped into IPv6; undefined for what is no address. */
export function tryParseAddress(text: string | undefined): string | undefined {
  // Nearly all are in that form already; writing them anew costs several times as much.
  if (text === undefined || ipaddr.IPv4.isValidFourPartDecimal(text)) return text;
  if (!ipaddr.isValid(text)) return undefined;
  return ipaddr.process(text).toString();
}

/** What may be stored of an address that `tryParseAddress` returned: all, its network, or nothing (empty). */
export function applyIpPolicy(address: string | undefined, policy: IpPolicy): string {
  if (address === undefined) return '';
  switch (policy) {
    case 'full':
      return address;
    case 'drop':
      return '';
    case 'anonymize':
      return networkOf(address);
    default:
      return assertNever(policy);
  }
}

/** Of IPv4 the first three numbers. */
const networkOf = (address: string): string =>
  address.includes(':')
    ? ipaddr.IPv6.networkAddressFromCIDR(`${address}/${IPV6_KEPT_BITS}`).toString()
    : `${address.slice(0, address.lastIndexOf('.'))}.0`;
