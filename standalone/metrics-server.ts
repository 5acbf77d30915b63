// Fixed address for the metrics of the standalone stack. The processes listen on ports that change
// with each start; this server forwards /metrics/web, /metrics/query and /metrics/worker to them. A
// path for each process instead of one merged page, so that `up` of Prometheus still says which
// process is down (ops/prometheus/standalone.yml).
import { createServer, type ServerResponse } from 'node:http';
import { messageOf } from '../src/platform/errors.js';
import { StartProblem } from './problem.js';

/** When METRICS_PORT is not set. */
export const METRICS_PORT = 9464;

const PREFIX = '/metrics/';
// Longer than the timeout of gauges that are read from a store; shorter than Prometheus's own.
const ANSWERED_WITHIN_MS = 5000;

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
  /** Whether METRICS_PORT is set. A default port that is taken does not stop the start. */
  readonly isChosen: boolean;
}

export interface MetricsServer {
  close(): void;
}

/** Throws a StartProblem for a port that is not a number. */
export function parseMetricsAddress(env: Readonly<Record<string, string | undefined>>): MetricsAddress {
  const port = Number(env.METRICS_PORT || METRICS_PORT);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new StartProblem(`METRICS_PORT is ${env.METRICS_PORT}; it has to be a number from 1 to 65535.`);
  }
  return { host: env.METRICS_HOST || '127.0.0.1', port, isChosen: Boolean(env.METRICS_PORT) };
}

/**
 * `targets` are the addresses of /metrics by the names of processes. Resolves with undefined, after
 * a call of `warn`, when the default port is taken; rejects with a StartProblem when a chosen one
 * cannot be used.
 */
export async function serveMetrics(
  { host, port, isChosen }: MetricsAddress,
  targets: ReadonlyMap<string, string>,
  warn: (sentence: string) => void,
): Promise<MetricsServer | undefined> {
  const server = createServer((req, res) => {
    const path = req.url ?? '';
    const target = path.startsWith(PREFIX) ? targets.get(path.slice(PREFIX.length)) : undefined;
    if (target !== undefined) return void forward(target, res);
    const paths = [...targets.keys()].map((name) => `${PREFIX}${name}\n`);
    res.writeHead(404, { 'Content-Type': 'text/plain' }).end(`The metrics are at:\n${paths.join('')}`);
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    const sentence = `Metrics cannot be served on port ${port} of ${host}: ${messageOf(error)}; set METRICS_PORT to another one.`;
    if (isChosen) throw new StartProblem(sentence, { cause: error });
    warn(sentence);
    return undefined;
  }
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Answers 502 while the process does not, which is a failed scrape. */
async function forward(target: string, res: ServerResponse): Promise<void> {
  try {
    const response = await fetch(target, { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) });
    const text = await response.text();
    res.writeHead(response.status, { 'Content-Type': response.headers.get('content-type') ?? 'text/plain' }).end(text);
  } catch (error) {
    res.writeHead(502, { 'Content-Type': 'text/plain' }).end(`${target}: ${messageOf(error)}\n`);
  }
}
