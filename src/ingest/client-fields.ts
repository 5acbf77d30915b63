// The client of an event: its address, as the policy of the project keeps it, and the values with
// which an event of a secret key overrides those of the request (`ip`, `user_agent`, `agent`,
// `geo`).
import ipaddr from 'ipaddr.js';
import type { Credential, IpPolicy } from '../access/credentials.js';
import { assertNever } from '../platform/errors.js';
import { isObject } from '../platform/json-object.js';
import type { RawEvent } from './body.js';
import { readAgent } from './enrich/agent.js';
import { type GeographyLookup, readGeography } from './enrich/geography.js';
import { cutUserAgent } from './insert/user-agent.js';

export const hasClientOverride = (event: unknown): boolean =>
  isObject(event) &&
  (isTextOrNone(event.ip) || isTextOrNone(event.user_agent) || isObject(event.geo) || isObject(event.agent));

/** Null means none: an event that overrides the client never inherits values of the sender. */
export const isTextOrNone = (value: unknown): value is string | null => typeof value === 'string' || value === null;

/** Fields with which an event overrides the client of its request; undefined where it does not. */
export interface OwnClient {
  /** After the policy of the project; empty for none. */
  readonly ip?: unknown;
  readonly user_agent?: unknown;
  readonly agent?: unknown;
  readonly geo?: unknown;
}

/** The values that a worker stores: the address by policy, and its geography. */
export function resolveOwnClient(
  { ip, user_agent: userAgent, agent, geo }: RawEvent,
  credential: Pick<Credential, 'ipPolicy'>,
  findGeography: GeographyLookup,
): OwnClient {
  const address = tryParseAddress(typeof ip === 'string' ? ip : undefined);
  return {
    ip: isTextOrNone(ip) ? applyIpPolicy(address, credential.ipPolicy) : undefined,
    // The user agent of the request is not that of an agent in parts.
    user_agent: isTextOrNone(userAgent) ? cutUserAgent(userAgent ?? '') : isObject(agent) ? '' : undefined,
    agent: isObject(agent) ? readAgent(agent) : undefined,
    geo: isObject(geo) ? readGeography(geo) : isTextOrNone(ip) ? findGeography(address, {}) : undefined,
  };
}

const IPV6_KEPT_BITS = 48;

/**
 * Normalizes an address to its shortest form; IPv4 mapped into IPv6 becomes IPv4. Undefined if it
 * is not an address.
 */
export function tryParseAddress(text: string | undefined): string | undefined {
  // Parsing an empty text throws, which costs ten times as much as the rest of an event.
  if (text === '') return undefined;
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
