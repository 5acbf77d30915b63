// The table of protocols of other SDKs.
import { amplitude } from './amplitude/protocol.js';
import { posthog } from './posthog/protocol.js';
import type { Protocol } from './protocol.js';
import { segment } from './segment/protocol.js';

export const PROTOCOLS: readonly Protocol[] = [segment, posthog, amplitude];

const BY_NAME = new Map(PROTOCOLS.map((protocol) => [protocol.name, protocol]));

export function protocolNamed(name: string): Protocol {
  const protocol = BY_NAME.get(name);
  if (protocol === undefined) throw new Error(`there is no protocol "${name}"`);
  return protocol;
}
