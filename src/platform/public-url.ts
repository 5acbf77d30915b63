// Public base URL of the service, used for identity providers, mails and pages.
import type { Config } from './config.js';

type Settings = Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>;

const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/** PUBLIC_URL, else the local address of the server. Never taken from a request's Host header. */
export function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Settings): URL {
  if (PUBLIC_URL !== undefined) return new URL(PUBLIC_URL);
  const host = ANY_ADDRESS.has(HOST) ? '127.0.0.1' : HOST.includes(':') ? `[${HOST}]` : HOST;
  return new URL(`http://${host}:${PORT}`);
}
