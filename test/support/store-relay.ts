// TCP relay in front of a store, which a test can cut, slow down, or make unresponsive.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface StoreRelay {
  /** The address of the store by way of the relay. */
  readonly url: string;
  /** Closes connections and refuses new ones. */
  cut(): Promise<void>;
  /** Keeps connections open, but relays no responses. */
  silence(): void;
  /** Delays every response. */
  delay(ms: number): void;
  /** Silences the store at the next request that contains the text. Resolves when it is sent. */
  silenceAt(text: string): Promise<void>;
  /** New connections go to this store. Those that are open stay. */
  redirect(storeUrl: string): void;
  /** Restores normal operation for new connections. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

export async function startStoreRelay(storeUrl: string): Promise<StoreRelay> {
  const url = new URL(storeUrl);
  let store = addressOf(storeUrl);
  const sockets = new Set<Socket>();
  let isSilent = false;
  let delayMs = 0;
  let awaited: { readonly text: string; readonly onSent: () => void } | undefined;
  const server = createServer((client) => {
    const upstream = connect(store);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        for (const other of [client, upstream]) other.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (awaited === undefined || !bytes.includes(awaited.text)) return;
      isSilent = true;
      awaited.onSent();
      awaited = undefined;
    });
    client.pipe(upstream);
    upstream.on('data', (bytes) => {
      if (isSilent) return;
      if (delayMs === 0) client.write(bytes);
      else setTimeout(() => client.write(bytes), delayMs);
    });
  });
  const listen = (port: number) => new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  url.hostname = '127.0.0.1';
  url.port = String(port);
  const endConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => void server.close(resolve));
    endConnections();
    if (server.listening) await closed;
  };
  return {
    url: url.href,
    cut,
    redirect: (other) => {
      store = addressOf(other);
    },
    silence: () => {
      isSilent = true;
    },
    delay: (ms) => {
      delayMs = ms;
    },
    silenceAt: (text) =>
      new Promise((resolve) => {
        awaited = { text, onSent: resolve };
      }),
    restore: async () => {
      if (server.listening && !isSilent) return;
      isSilent = false;
      endConnections();
      if (!server.listening) await listen(port);
    },
    close: cut,
  };
}

function addressOf(storeUrl: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(storeUrl);
  return { host: hostname, port: Number(port) };
}
