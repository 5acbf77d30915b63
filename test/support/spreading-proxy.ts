// HTTP proxy that spreads requests over several ClickHouse servers, as the address of a service
// with several hosts does. It answers statements on the cluster from all of them, notes when each
// insert runs where, and can hold a large insert: the server then runs it, and waits for its end.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, text } from 'node:stream/consumers';

export interface RunInsert {
  readonly queryId: string;
  readonly host: number;
  readonly startedMs: number;
  endedMs: number;
}

export interface SpreadingProxy {
  readonly url: string;
  readonly inserts: readonly RunInsert[];
  /** How often all hosts were asked for running inserts. */
  readonly asked: number;
  /** The next insert whose query id begins so. Resolves when it has begun. */
  hold(queryId: string): Promise<void>;
  release(): void;
  close(): Promise<void>;
}

/** The default of max_query_size: a query begins when the server has more. */
const QUERY_BYTES = 256 * 1024;
/** The server ends an insert of which nothing arrives for 30 s: these are sent one each second. */
const HELD_BYTES = 1000;
const BYTE_EVERY_MS = 1000;

const CLUSTER = "clusterAllReplicas('default', system.processes)";

export async function startSpreadingProxy(hosts: readonly string[]): Promise<SpreadingProxy> {
  const inserts: RunInsert[] = [];
  let turn = 0;
  let asked = 0;
  let held: { readonly queryId: string; readonly begun: () => void } | undefined;
  let isReleased = Promise.resolve();
  let release = () => {};

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req);
    const url = new URL(req.url ?? '/', 'http://proxy');
    const params = url.searchParams;
    if (body.includes(CLUSTER)) {
      asked += 1;
      const local = Buffer.from(body.toString().replace(CLUSTER, 'system.processes'));
      const counts = await Promise.all(hosts.map(async (_, host) => text(await forward(req, host, local))));
      const n = counts.reduce((sum, count) => sum + (JSON.parse(count) as { n: number }).n, 0);
      return void res.end(`${JSON.stringify({ n })}\n`);
    }
    turn += 1;
    const host = turn % hosts.length;
    const queryId = params.get('query_id') ?? '';
    const isInsert = params.get('query')?.startsWith('INSERT INTO events_landing') === true;
    const run = { queryId, host, startedMs: performance.now(), endedMs: Number.POSITIVE_INFINITY };
    if (isInsert) inserts.push(run);
    const isHeld = isInsert && held !== undefined && queryId.startsWith(held.queryId);
    const begun = isHeld ? held?.begun : undefined;
    if (isHeld) held = undefined;
    const answered = await forward(req, host, body, begun && { begun, until: isReleased });
    const content = await buffer(answered);
    run.endedMs = performance.now();
    const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...headers } = answered.headers;
    // Several hosts are ClickHouse's own servers, which report a failed write themselves.
    delete headers['x-clickhouse-server-display-name'];
    res.writeHead(answered.statusCode ?? 502, headers).end(content);
  }

  function forward(
    { url = '/', method, headers }: IncomingMessage,
    host: number,
    body: Buffer,
    hold?: { begun: () => void; until: Promise<void> },
  ): Promise<IncomingMessage> {
    const target = new URL(hosts[host] ?? '');
    const { 'content-length': _, 'transfer-encoding': __, ...rest } = headers;
    const authorization = `Basic ${btoa(`${target.username}:${target.password}`)}`;
    const to = { host: target.hostname, port: target.port, path: url, method, agent: false as const };
    return new Promise((resolve, reject) => {
      const sent = request({ ...to, headers: { ...rest, authorization, host: target.host } }, resolve);
      sent.on('error', reject);
      if (hold === undefined) return void sent.end(body);
      let written = body.length - HELD_BYTES;
      if (written < QUERY_BYTES) return void reject(new Error('the insert is too small to be held'));
      sent.write(body.subarray(0, written), () => hold.begun());
      const timer = setInterval(() => {
        if (written < body.length - 1) sent.write(body.subarray(written, ++written));
      }, BYTE_EVERY_MS);
      void hold.until.then(() => {
        clearInterval(timer);
        sent.end(body.subarray(written));
      });
    });
  }

  const server = createServer((req, res) => {
    answer(req, res).catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://proxy:proxy@127.0.0.1:${(server.address() as AddressInfo).port}`,
    inserts,
    get asked() {
      return asked;
    },
    hold: (queryId) => {
      const before = release;
      isReleased = new Promise((resolve) => {
        release = () => {
          before();
          resolve();
        };
      });
      return new Promise((begun) => {
        held = { queryId, begun };
      });
    },
    release: () => release(),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}
