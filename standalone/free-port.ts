// Finds free ports, and checks whether a port is free.
import { createServer } from 'node:net';

/**
 * Returns a port that was free just now. Engines get a fixed port before they start, so that they
 * keep it after a restart.
 */
export const findFreePort = (): Promise<number> => tryPort('127.0.0.1', 0);

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
