// Ports of the loopback interface.
import { createServer } from 'node:net';

/** A port that was free a moment ago. Engines get theirs before they start, so that a restarted one keeps its address. */
export const findFreePort = (): Promise<number> => tryPort('127.0.0.1', 0);

/** Resolves with the port when it can be listened on, and rejects with the listen error (EADDRINUSE, EACCES, …). */
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
