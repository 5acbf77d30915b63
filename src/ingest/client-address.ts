// The address policy of a project, applied at the edge before anything is stored.
import ipaddr from 'ipaddr.js';
import type { IpPolicy } from '../access/credentials.js';
import { assertNever } from '../platform/errors.js';

const IPV4_KEPT_BITS = 24;
const IPV6_KEPT_BITS = 48;

/** An address in its shortest form, IPv4 also when it came mapped into IPv6; undefined for what is no address. */
export function tryParseAddress(text: string | undefined): string | undefined {
  if (text === undefined || !ipaddr.isValid(text)) return undefined;
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

function networkOf(address: string): string {
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv4
    ? ipaddr.IPv4.networkAddressFromCIDR(`${address}/${IPV4_KEPT_BITS}`).toString()
    : ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_KEPT_BITS}`).toString();
}
