// Small reads over a server that answers as ClickHouse does: what is sent, failures, and idle
// connections that the server has closed.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ClickHouseClient, createClickHouse } from '../../../src/platform/clickhouse/client.js';
import { smallReadsOf } from '../../../src/platform/clickhouse/small-read.js';

interface Received {
  readonly url: URL;
  readonly authorization: string | undefined;
  readonly userAgent: string | undefined;
  readonly body: string;
}

let server: Server;
let received: Received[];
let answer: (req: IncomingMessage, res: ServerResponse) => void;
let clients: ClickHouseClient[];

beforeEach(async () => {
  received = [];
  clients = [];
  answer = (_, res) => res.end(JSON.stringify({ data: [['events', 7]] }));
  server = createServer(async (req, res) => {
    received.push({
      url: new URL(req.url ?? '', 'http://engine'),
      authorization: req.headers.authorization,
      userAgent: req.headers['user-agent'],
      body: await text(req),
    });
    answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function connect(path = '/', settings = {}): ClickHouseClient {
  const { port } = server.address() as AddressInfo;
  const url = `http://user:p%40ss@127.0.0.1:${port}${path}`;
  const client = createClickHouse({ CLICKHOUSE_URL: url, CLICKHOUSE_DATABASE: 'analytics' }, { settings });
  clients.push(client);
  return client;
}

test('a statement is sent with its parameters, the credentials and the settings of the client', async () => {
  const read = smallReadsOf(connect('/', { select_sequential_consistency: '1' }));
  expect(await read('SELECT {a:Int64}', { a: 5 })).toEqual([['events', 7]]);
  const [{ url, authorization, body } = {} as Received] = received;
  expect(body).toBe('SELECT {a:Int64}');
  expect(authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    database: 'analytics',
    default_format: 'JSONCompact',
    param_a: '5',
    readonly: '2',
    select_sequential_consistency: '1',
  });
});

test('a URL with options is left to the client', async () => {
  const read = smallReadsOf(connect('/?application=mine'));
  expect(await read('SELECT 1')).toEqual([['events', 7]]);
  expect(received[0]?.userAgent).toBeDefined();
});

test.each([
  {
    name: 'a status',
    fail: (res: ServerResponse) => {
      res.statusCode = 500;
      res.end('Code: 241. Memory limit');
    },
    message: /500: Code: 241/,
  },
  {
    name: 'an exception after the headers',
    fail: (res: ServerResponse) => res.end('{"data": [["eve\nCode: 241'),
    message: /JSON/,
  },
  { name: 'a closed connection', fail: (res: ServerResponse) => res.destroy(), message: /hang up|ECONNRESET/ },
])('$name rejects', async ({ fail, message }) => {
  answer = (_, res) => fail(res);
  await expect(smallReadsOf(connect())('SELECT 1')).rejects.toThrow(message);
  expect(received).toHaveLength(1);
});

test('a statement on an idle connection that the server closes is sent once more', async () => {
  const read = smallReadsOf(connect());
  await read('SELECT 1');
  answer = (_, res) => {
    answer = (_again, next) => next.end(JSON.stringify({ data: [[2]] }));
    res.destroy();
  };
  expect(await read('SELECT 2')).toEqual([[2]]);
  expect(received.map(({ body }) => body)).toEqual(['SELECT 1', 'SELECT 2', 'SELECT 2']);
});
