// Starts an express app on a port and stops it gracefully.
import { createServer, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Express } from 'express';

export interface RunningServer {
  readonly port: number;
  /**
   * Takes no new connections, answers what comes on those that are open and closes each after its answer. Requests that are not
   * answered after `graceMs` are answered 503; what is left a second later is cut.
   */
  close(graceMs: number): Promise<void>;
}

/** For requests in flight when a process is told to stop, which has half a minute for everything (lifecycle.ts). */
export const REQUEST_GRACE_MS = 24_000;

const HEADERS_TIMEOUT_MS = 10_000;
// Node looks for connections beyond these limits every 30 s unless told otherwise.
const CHECK_TIMEOUTS_EVERY_MS = 2000;
const REQUEST_TIMEOUT_MS = 60_000;
// Longer than the 60 s after which common load balancers close an idle connection, so that they close first.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** Rejects with the listen error (EADDRINUSE and the like). */
export function listen(app: Express, address: { host: string; port: number }): Promise<RunningServer> {
  const answers = new Set<ServerResponse>();
  let isClosing = false;
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      noDelay: true,
      connectionsCheckingInterval: CHECK_TIMEOUTS_EVERY_MS,
    },
    (req, res) => {
      if (isClosing) res.setHeader('Connection', 'close');
      answers.add(res);
      res.once('close', () => answers.delete(res));
      app(req, res);
    },
  );
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      const bound = server.address();
      const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
      const close = (graceMs: number) => {
        isClosing = true;
        return closeServer(server, { answers, graceMs });
      };
      resolve({ port, close });
    });
  });
}

// A client that is about to send on a connection that it was told to keep is answered, and learns of the end by that answer.
const IDLE_LINGER_MS = 300;
const IDLE_SWEEP_MS = 50;
const LAST_ANSWERS_MS = 1000;

function closeServer(
  server: Server,
  { answers, graceMs }: { answers: ReadonlySet<ServerResponse>; graceMs: number },
): Promise<void> {
  for (const answer of answers) if (!answer.headersSent) answer.setHeader('Connection', 'close');
  return new Promise((resolve) => {
    let sweep: NodeJS.Timeout | undefined;
    const linger = setTimeout(() => {
      sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
    }, IDLE_LINGER_MS);
    const refuse = setTimeout(() => refuseUnanswered(answers), graceMs);
    const cut = setTimeout(() => server.closeAllConnections(), graceMs + LAST_ANSWERS_MS);
    // Of its class and not its own, which would cut idle connections at once.
    NetServer.prototype.close.call(server, () => {
      for (const timer of [linger, refuse, cut]) clearTimeout(timer);
      clearInterval(sweep);
      // What watches over slow connections ends only with this.
      server.close();
      resolve();
    });
  });
}

/** An answer that says so is better than a broken connection. */
function refuseUnanswered(answers: ReadonlySet<ServerResponse>): void {
  for (const answer of answers) {
    if (answer.headersSent) continue;
    answer.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8', Connection: 'close' });
    answer.end('{"error":"the service is being restarted; try again"}');
  }
}
