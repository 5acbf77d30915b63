// TCP relay in front of ClickHouse that can hold back the end of an insert of events: the engine
// then runs the insert, and waits for its rows. Its body must be larger than what a query begins
// with.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface InsertRelay {
  readonly url: string;
  /** Inserts that begin from now on are held. Resolves when one has begun. */
  holdNext(): Promise<void>;
  release(): void;
  close(): Promise<void>;
}

/** Into `events_landing` or `events`. */
const INSERT = 'INSERT%20INTO%20events';
/**
 * More than the default of max_query_size, with the head and a chunk that has not ended: the engine
 * reads whole chunks.
 */
const QUERY_BYTES = 400_000;

export async function startInsertRelay(storeUrl: string): Promise<InsertRelay> {
  const url = new URL(storeUrl);
  const store = { host: url.hostname, port: Number(url.port) };
  const sockets = new Set<Socket>();
  let hold: (() => void) | undefined;
  let held: (() => void)[] = [];
  const server = createServer((client) => {
    const upstream = connect(store);
    let seen: number | undefined;
    let waiting: Buffer[] | undefined;
    client.on('data', (bytes) => {
      if (waiting !== undefined) return void waiting.push(bytes);
      const text = bytes.toString('latin1').replaceAll('+', '%20');
      if (hold !== undefined && text.startsWith('POST') && text.includes(INSERT)) seen = 0;
      const rest = seen === undefined || hold === undefined ? bytes.length : QUERY_BYTES - seen;
      upstream.write(bytes.subarray(0, rest));
      if (seen !== undefined) seen += bytes.length;
      if (rest >= bytes.length) return;
      const later = [bytes.subarray(rest)];
      waiting = later;
      seen = undefined;
      held.push(() => {
        for (const some of later) upstream.write(some);
        waiting = undefined;
      });
      hold?.();
    });
    upstream.pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        for (const other of [client, upstream]) other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    holdNext: () => new Promise((resolve) => (hold = resolve)),
    release: () => {
      hold = undefined;
      for (const send of held) send();
      held = [];
    },
    close: async () => {
      const closed = new Promise((resolve) => void server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
