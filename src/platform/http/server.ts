// Starts an express app on a port and stops it gracefully.
import { createServer, type Server } from 'node:http';
import type { Express } from 'express';

export interface RunningServer {
  readonly port: number;
  /** Takes no new connections, lets requests in flight end for `graceMs`, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

const HEADERS_TIMEOUT_MS = 10_000;
// Node looks for connections beyond these limits every 30 s unless told otherwise.
const CHECK_TIMEOUTS_EVERY_MS = 2000;
const REQUEST_TIMEOUT_MS = 60_000;
// Longer than the 60 s after which common load balancers close an idle connection, so that they close first.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** Rejects with the listen error (EADDRINUSE and the like). */
export function listen(app: Express, address: { host: string; port: number }): Promise<RunningServer> {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      noDelay: true,
      connectionsCheckingInterval: CHECK_TIMEOUTS_EVERY_MS,
    },
    app,
  );
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      const bound = server.address();
      const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
      resolve({ port, close: (graceMs) => closeServer(server, graceMs) });
    });
  });
}

const IDLE_SWEEP_MS = 50;

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection that was answering a moment ago is kept alive and idle the next: swept until none is left.
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });
}
