// The table of protocols of other SDKs.
import type { Protocol } from './protocol.js';
import { segment } from './segment/protocol.js';

export const PROTOCOLS: readonly Protocol[] = [segment];

const BY_NAME = new Map(PROTOCOLS.map((protocol) => [protocol.name, protocol]));

export function protocolNamed(name: string): Protocol {
  const protocol = BY_NAME.get(name);
  if (protocol === undefined) throw new Error(`there is no protocol "${name}"`);
  return protocol;
}
