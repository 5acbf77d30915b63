// Finds free ports, and checks whether a port is free.
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

// Below the ports that systems give to outgoing connections (Linux from 32768, macOS from 49152):
// such a connection could take a port between its choice and its use.
const FIRST = 22_000;
const LAST = 31_999;
const ATTEMPTS = 100;

/** Ports that this process has chosen: they may not be bound yet. */
const chosen = new Set<number>();

/**
 * Returns a port that was free just now, and that was not returned before, nor to another process
 * that runs. Engines get a fixed port before they start, so that they keep it after a restart.
 */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (chosen.has(port)) continue;
    chosen.add(port);
    if ((await isFree(port)) && (await reserve(port))) return port;
    chosen.delete(port);
  }
  return tryPort('127.0.0.1', 0);
}

/**
 * Takes the UDP port of the same number until this process ends. Two stacks that start at once may
 * find the same port free; only one of them gets its UDP port, which no engine uses.
 */
const reserve = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4');
    socket.unref();
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.close();
      // Where UDP is not permitted, the port is used without a reservation.
      resolve(error.code !== 'EADDRINUSE');
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });

const isFree = (port: number): Promise<boolean> =>
  tryPort('127.0.0.1', port).then(
    () => true,
    () => false,
  );

/**
 * Resolves with the port when it can be bound; rejects with the listen error (EADDRINUSE, EACCES,
 * …).
 */
export function tryPort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve(bound));
    });
  });
}
