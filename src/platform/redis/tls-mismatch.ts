// Finds out why a Redis that runs does not answer: REDIS_URL asks for TLS and the server has none,
// or the reverse. The client sees no more than silence or a closed connection.
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Logger } from '../log.js';
import type { Redis } from './client.js';

const ASK_MS = 1500;

/** Undefined when that is not the reason. */
export async function findTlsMismatch({ options }: Redis): Promise<string | undefined> {
  const { host = 'localhost', port = 6379, tls } = options;
  if (tls) return (await speaksPlain({ host, port })) ? 'it has no TLS: begin REDIS_URL with redis://' : undefined;
  return (await speaksTls({ host, port })) ? 'it has TLS: begin REDIS_URL with rediss://' : undefined;
}

/** Logs it once, when connections end before the client was ever ready. */
export function warnOfTlsMismatch(redis: Redis, log: Pick<Logger, 'error'>): void {
  let isAsking = false;
  const stop = () => redis.off('close', ask);
  const ask = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    const found = await findTlsMismatch(redis);
    isAsking = false;
    if (found === undefined || redis.status === 'ready') return;
    stop();
    log.error(`Redis cannot be used: ${found}`);
  };
  redis.on('close', ask);
  redis.once('ready', stop);
}

interface Address {
  readonly host: string;
  readonly port: number;
}

async function speaksTls(address: Address): Promise<boolean> {
  // Whether the certificate is trusted is another question.
  const socket = connectTls({ ...address, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(ASK_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.on('error', () => {}).destroy();
  }
}

/** Any reply is one, such as that a password is needed. */
async function speaksPlain(address: Address): Promise<boolean> {
  const socket = connectPlain(address);
  try {
    socket.write('PING\r\n');
    const [reply] = await once(socket, 'data', { signal: AbortSignal.timeout(ASK_MS) });
    return /^[+-]/.test(String(reply));
  } catch {
    return false;
  } finally {
    socket.on('error', () => {}).destroy();
  }
}
