// Starts an express app, or a handler in front of one, on a port and stops it gracefully. What Node
// refuses before express sees it gets the same JSON errors.
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { ConfigProblem } from '../config-problem.js';
import { BOUNDS } from '../flow/bounds.js';
import type { Logger } from '../log.js';
import { limitConnections } from './connection-limit.js';
import { answerProtocolErrors, refuseMissingHost } from './protocol-errors.js';
import { closeUnreadAnswers } from './unread-answers.js';

export interface RunningServer {
  readonly port: number;
  /**
   * Stops accepting connections, answers requests on open ones and closes each after its response.
   * Requests without a response after `graceMs` get 503; connections that remain one second later
   * are destroyed.
   */
  close(graceMs: number): Promise<void>;
}

/** Grace period for requests in flight at shutdown; the whole shutdown has 30 s (lifecycle.ts). */
export const REQUEST_GRACE_MS = 24_000;

const HEADERS_TIMEOUT_MS = 10_000;
// Node's default interval for checking these limits is 30 s.
const CHECK_TIMEOUTS_EVERY_MS = 2000;
const RESPONSE_LISTENERS_MAX = 20;
const REQUEST_TIMEOUT_MS = 60_000;
// Longer than the idle timeout of common load balancers (60 s), so that they close first.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

interface Listening {
  readonly host: string;
  readonly port: number;
  /** Without it, connections are not limited. */
  readonly log?: Pick<Logger, 'warn'>;
  /** How long a client may take nothing of its answer. */
  readonly unreadMs?: number;
}

/** Rejects with a ConfigProblem when the address cannot be used: its port is taken, for example. */
export function listen(
  app: RequestListener,
  { host, port, log, unreadMs = BOUNDS.unreadAnswerMs }: Listening,
): Promise<RunningServer> {
  const answers = new Set<ServerResponse>();
  let isClosing = false;
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      noDelay: true,
      connectionsCheckingInterval: CHECK_TIMEOUTS_EVERY_MS,
      requireHostHeader: false,
    },
    (req, res) => {
      if (isClosing) res.setHeader('Connection', 'close');
      answers.add(res);
      // Node warns of more than 10 listeners; a response that is piped has 11.
      res.setMaxListeners(RESPONSE_LISTENERS_MAX);
      res.once('close', () => answers.delete(res));
      if (!refuseMissingHost(req, res)) app(req, res);
    },
  );
  answerProtocolErrors(server, (socket) => {
    for (const answer of answers)
      if (answer.socket === socket && answer.headersSent && !answer.writableEnded) return true;
    return false;
  });
  if (log !== undefined) limitConnections(server, log);
  server.once('close', closeUnreadAnswers(answers, unreadMs));
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'it is taken by another program' : error.message;
      reject(new ConfigProblem(`port ${port} of ${host} cannot be used: ${reason}`, { cause: error }));
    };
    server.once('error', refuse);
    server.listen(port, host, () => {
      server.off('error', refuse);
      const bound = server.address();
      const boundPort = typeof bound === 'object' && bound !== null ? bound.port : port;
      const close = (graceMs: number) => {
        isClosing = true;
        return closeServer(server, { answers, graceMs });
      };
      resolve({ port: boundPort, close });
    });
  });
}

// A client may be about to send on a keep-alive connection: answer it, and close with that
// response.
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
    // Call the method of net.Server: that of http.Server would close idle connections at once.
    NetServer.prototype.close.call(server, () => {
      for (const timer of [linger, refuse, cut]) clearTimeout(timer);
      clearInterval(sweep);
      // Ends the timer that checks slow connections.
      server.close();
      resolve();
    });
  });
}

/** A 503 response is better than a broken connection. */
function refuseUnanswered(answers: ReadonlySet<ServerResponse>): void {
  for (const answer of answers) {
    if (answer.headersSent) continue;
    answer.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8', Connection: 'close' });
    answer.end('{"error":"the service is being restarted; try again"}');
  }
}
