// A pooler in front of PostgreSQL that gives all clients one connection, a transaction at a time,
// as PgBouncer does with `pool_mode = transaction`. For statements outside of transactions.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

const READY = 'Z';
const READY_FOR_QUERY = message(READY, Buffer.from('I'));
const AUTHENTICATED = message('R', Buffer.alloc(4));

/** Of PostgreSQL's protocol: a letter, the length with its own four bytes, the content. */
function message(kind: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5, kind);
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

/** The address by way of the pooler. The first client logs in, and the others are let in. */
export async function startTransactionPooler(postgresUrl: string): Promise<{ url: string; close(): void }> {
  const url = new URL(postgresUrl);
  const upstream = connect({ host: url.hostname, port: Number(url.port) });
  const clients = new Set<Socket>();
  const waiting: { readonly client: Socket; readonly bytes: Buffer }[] = [];
  let current: Socket | undefined;
  let isLoggedIn = false;
  let rest = Buffer.alloc(0);

  const next = () => {
    if (current !== undefined) return;
    const turn = waiting.shift();
    current = turn?.client;
    if (turn !== undefined) upstream.write(turn.bytes);
  };
  upstream.on('data', (bytes) => {
    current?.write(bytes);
    rest = Buffer.concat([rest, bytes]);
    let isReady = false;
    while (rest.length >= 5 && rest.length >= 1 + rest.readUInt32BE(1)) {
      isReady = rest.toString('latin1', 0, 1) === READY;
      rest = rest.subarray(1 + rest.readUInt32BE(1));
    }
    if (!isReady) return;
    isLoggedIn = true;
    current = undefined;
    next();
  });
  upstream.on('error', () => {});

  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => {});
    const isFirst = clients.size === 1;
    let isStarting = true;
    if (isFirst) current = client;
    client.on('data', (bytes) => {
      if (bytes.toString('latin1', 0, 1) === 'X') return;
      if (isFirst && !isLoggedIn) return void upstream.write(bytes);
      if (!isFirst && isStarting) client.write(Buffer.concat([AUTHENTICATED, READY_FOR_QUERY]));
      else waiting.push({ client, bytes });
      isStarting = false;
      next();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    close() {
      for (const socket of [...clients, upstream]) socket.destroy();
      server.close();
    },
  };
}
