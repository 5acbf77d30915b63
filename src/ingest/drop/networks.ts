// Addresses and networks of drop rules: `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/32`.
import ipaddr from 'ipaddr.js';

interface Network {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** Undefined for other text. */
export function tryParseNetwork(text: string): Network | undefined {
  const [address = '', bits, ...rest] = text.split('/');
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || (address.includes(':') && ipaddr.isValid(address));
  if (!isAddress || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const bytes = ipaddr.parse(address).toByteArray();
  const network = { bytes, bits: bits === undefined ? 8 * bytes.length : Number(bits) };
  return network.bits > 8 * bytes.length ? undefined : network;
}

/** The first bits of an address as text. */
function prefixOf(bytes: readonly number[], bits: number): string {
  const whole = bits >> 3;
  const rest = bits & 7;
  const prefix = bytes.slice(0, whole);
  if (rest > 0) prefix.push((bytes[whole] ?? 0) & (0xff << (8 - rest)));
  return prefix.join('.');
}

/**
 * Whether an address from `tryParseAddress` is in one of the networks. The cost grows with the
 * number of different lengths of networks, not with their number.
 */
export function createNetworkTest(texts: readonly string[]): (address: string) => boolean {
  const prefixes = new Map<string, { readonly size: number; readonly bits: number; readonly set: Set<string> }>();
  for (const { bytes, bits } of texts.map(tryParseNetwork).filter((network) => network !== undefined)) {
    const key = `${bytes.length}/${bits}`;
    const known = prefixes.get(key) ?? { size: bytes.length, bits, set: new Set() };
    known.set.add(prefixOf(bytes, bits));
    prefixes.set(key, known);
  }
  const lengths = [...prefixes.values()];
  return (address) => {
    const bytes = ipaddr.parse(address).toByteArray();
    return lengths.some(({ size, bits, set }) => size === bytes.length && set.has(prefixOf(bytes, bits)));
  };
}
