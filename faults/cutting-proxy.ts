// TCP proxy between clients and the web process that cuts connections after the first byte of a 200
// response: the request has been stored, but the client never learns of it.
import { connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy {
  readonly url: string;
  /** Number of 200 responses that never reached their client. */
  readonly cuts: number;
  close(): Promise<void>;
}

const TAKEN = 'HTTP/1.1 200';

export async function startCuttingProxy(targetUrl: string, isToBeCut: () => boolean): Promise<CuttingProxy> {
  const { hostname, port } = new URL(targetUrl);
  const clients = new Set<Socket>();
  let cuts = 0;

  const server = createServer((client) => {
    const web = connect(Number(port), hostname);
    clients.add(client);
    for (const [side, other] of [
      [client, web],
      [web, client],
    ] as const) {
      side.on('error', () => {});
      side.on('close', () => {
        clients.delete(client);
        // After the pending bytes have been sent.
        other.destroySoon();
      });
    }
    client.pipe(web);
    let isAnswerDue = true;
    client.on('data', () => {
      isAnswerDue = true;
    });
    web.on('data', (bytes: Buffer) => {
      const isTaken = isAnswerDue && bytes.toString('latin1', 0, TAKEN.length) === TAKEN;
      isAnswerDue = false;
      if (isTaken && isToBeCut()) {
        cuts += 1;
        client.resetAndDestroy();
      } else client.write(bytes);
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    get cuts() {
      return cuts;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const client of clients) client.destroy();
      await closed;
    },
  };
}
