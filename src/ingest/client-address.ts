// IP address policy of a project, applied in the API before anything is stored.
import ipaddr from 'ipaddr.js';
import type { IpPolicy } from '../access/credentials.js';
import { assertNever } from '../platform/errors.js';

const IPV6_KEPT_BITS = 48;

/**
 * Normalizes an address to its shortest form; IPv4 mapped into IPv6 becomes IPv4. Undefined if it
 * is not an address.
 */
export function tryParseAddress(text: string | undefined): string | undefined {
  // Nearly all addresses are normalized already; parsing them costs several times as much.
  if (text === undefined || ipaddr.IPv4.isValidFourPartDecimal(text)) return text;
  if (!ipaddr.isValid(text)) return undefined;
  return ipaddr.process(text).toString();
}

/**
 * Applies the policy to an address from `tryParseAddress`: the address, its network, or an empty
 * text.
 */
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

/** Keeps the first three numbers of an IPv4 address. */
const networkOf = (address: string): string =>
  address.includes(':')
    ? ipaddr.IPv6.networkAddressFromCIDR(`${address}/${IPV6_KEPT_BITS}`).toString()
    : `${address.slice(0, address.lastIndexOf('.'))}.0`;
