// The address under which people reach the service: what identity providers, mails and pages are told.
import type { Config } from './config.js';

type Settings = Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>;

const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/** PUBLIC_URL, else where the server listens, as seen from its own machine. Never what a request says of itself. */
export function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Settings): URL {
  if (PUBLIC_URL !== undefined) return new URL(PUBLIC_URL);
  const host = ANY_ADDRESS.has(HOST) ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST;
  return new URL(`http://${host}:${PORT}`);
}
