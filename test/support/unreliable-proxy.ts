// HTTP proxy in front of the service that fails the next requests as it is told: it refuses them,
// or forwards them and cuts the connection before the answer.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A status that is answered without forwarding, or a connection that is cut after forwarding. */
export type Fault = 429 | 503 | 'cut';

export interface UnreliableProxy {
  readonly url: string;
  /** Faults of the next posts, in order; later ones are forwarded. */
  readonly faults: Fault[];
  close(): Promise<void>;
}

export async function startUnreliableProxy(target: string): Promise<UnreliableProxy> {
  const faults: Fault[] = [];
  const server = createServer((req, res) => void answer(req, res));
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const fault = req.method === 'POST' ? faults.shift() : undefined;
    const body = await buffer(req);
    if (typeof fault === 'number') {
      res.writeHead(fault, { 'Retry-After': '1', 'Access-Control-Allow-Origin': '*' }).end(`{"code":${fault}}`);
      return;
    }
    const { url = '/', method, headers } = req;
    const forwarded = request(new URL(url, target), { method, headers }, (answered) => {
      if (fault === 'cut') {
        answered.resume();
        res.destroy();
      } else answered.pipe(res.writeHead(answered.statusCode ?? 502, answered.headers));
    });
    forwarded.on('error', () => res.destroy());
    forwarded.end(body);
  }
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    faults,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
