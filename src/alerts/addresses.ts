// Address guard of webhooks: resolves a host name once, and refuses it unless every address that it
// has is public, or in WEBHOOK_PRIVATE_ADDRESSES. The connection goes to the checked addresses, so
// that a DNS answer that changes afterwards has no effect.
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * The host has an address that is not public. Trying again does not help. Members of the project
 * read the message, so it does not say which address a name of a private network has.
 */
export class AddressRefused extends Error {
  constructor(host: string, address: string) {
    const refused = host === address ? 'is not a public address' : 'has an address that is not public';
    super(`${host} ${refused} (setting WEBHOOK_PRIVATE_ADDRESSES)`);
    this.name = 'AddressRefused';
  }
}

export type ResolveHost = (host: string) => Promise<readonly HostAddress[]>;

export interface AddressGuard {
  /** Addresses and networks that are called although they are private: `10.1.2.3`, `10.0.0.0/8`. */
  readonly allowed: readonly string[];
  readonly resolve: ResolveHost;
}

// Public by its range, and answers only to machines inside a cloud.
const METADATA = '168.63.129.16';

/** Global unicast, without networks that carry an IPv4 address, such as 64:ff9b::/96 and 6to4. */
const isPublicV6 = (address: ipaddr.IPv6): boolean =>
  address.range() === 'unicast' && address.match(ipaddr.IPv6.parse('2000::'), 3);

const isPublicV4 = (address: ipaddr.IPv4): boolean => address.range() === 'unicast' && address.toString() !== METADATA;

/** False for private, local, shared, reserved, multicast and translated addresses. */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  // `process` turns ::ffff:10.0.0.1 into 10.0.0.1.
  const address = ipaddr.process(text);
  return address instanceof ipaddr.IPv6 ? isPublicV6(address) : isPublicV4(address);
}

/** Throws for a text that is no address and no network. */
function parseNetworks(allowed: readonly string[]): [ipaddr.IPv4 | ipaddr.IPv6, number][] {
  return allowed.map((text) => {
    if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === 'ipv6' ? 128 : 32];
  });
}

function isAllowed(text: string, allowed: readonly string[]): boolean {
  const address = ipaddr.process(text);
  return parseNetworks(allowed).some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network as never, bits),
  );
}

const isCallable = (address: string, allowed: readonly string[]): boolean =>
  isPublic(address) || isAllowed(address, allowed);

/** `hostname` of a parsed URL, which has decimal, octal and hexadecimal IPv4 in dotted form. */
const hostOf = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Whether calls are refused whenever they are made: the host is an address, not a name. */
export function isRefusedAddress(hostname: string, allowed: readonly string[]): boolean {
  const host = hostOf(hostname);
  return isIP(host) !== 0 && !isCallable(host, allowed);
}

/** All addresses of a URL's host, checked. Throws AddressRefused, or the error of the lookup. */
export async function resolveChecked(hostname: string, guard: AddressGuard): Promise<readonly HostAddress[]> {
  const host = hostOf(hostname);
  const literal: HostAddress = { address: host, family: isIPv6(host) ? 6 : 4 };
  const found = isIP(host) === 0 ? await guard.resolve(host) : [literal];
  if (found.length === 0) throw new Error(`${host} has no address`);
  const refused = found.find(({ address }) => !isCallable(address, guard.allowed));
  if (refused !== undefined) throw new AddressRefused(host, refused.address);
  return found;
}

const DNS_TIMEOUT_MS = 2000;
const DNS_TRIES = 2;

/** Asks `servers`, or the resolver of the system. */
export function createHostLookup(servers: readonly string[] | undefined): ResolveHost {
  if (servers === undefined) {
    return async (host) => (await lookup(host, { all: true })) as HostAddress[];
  }
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  resolver.setServers(servers);
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const of = (result: PromiseSettledResult<string[]>, family: 4 | 6): HostAddress[] =>
      result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : [];
    const found = [...of(v4, 4), ...of(v6, 6)];
    if (found.length === 0 && v4.status === 'rejected') throw v4.reason;
    return found;
  };
}
