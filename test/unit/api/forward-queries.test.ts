// Queries that web forwards to a query process that refuses them.
import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { forwardQueries } from '../../../src/api/forward-queries.js';
import type { PublicError } from '../../../src/platform/errors.js';

const servers: Server[] = [];
let url: string;
let connections = 0;

async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  const refusing = createServer((_, res) => void res.writeHead(401).end('{"error":"a key is missing"}'));
  refusing.on('connection', () => {
    connections += 1;
  });
  const app = express();
  const sayKind: ErrorRequestHandler = (error: PublicError, _req, res, _next) => void res.status(503).send(error.kind);
  const forward = forwardQueries(await listen(refusing));
  app.post('/query', forward, sayKind);
  const signIn: RequestHandler = (_req, res, next) => {
    res.locals.person = { personId: 'ann' };
    next();
  };
  const ending = createServer();
  ending.on('connection', (socket) => socket.destroy());
  app.post('/ending', forwardQueries(await listen(ending)), sayKind);
  app.post('/signed-in', signIn, forward, sayKind);
  const outlastClient: RequestHandler = async (req, res, next) => {
    req.socket.destroy();
    await once(res, 'close');
    next();
  };
  app.post('/left', outlastClient, forward, sayKind);
  url = await listen(createServer(app));
});

afterAll(() => {
  for (const server of servers) server.close();
});

const answerTo = async (path: string): Promise<[number, string]> => {
  const response = await fetch(`${url}${path}`, { method: 'POST', body: '{}' });
  return [response.status, await response.text()];
};

test('forwards the 401 for an unknown key to its caller', async () => {
  expect(await answerTo('/query')).toEqual([401, '{"error":"a key is missing"}']);
});

test('answers 503 to a signed-in person when the pass is refused, because a 401 would ask them to sign in again', async () => {
  expect(await answerTo('/signed-in')).toEqual([503, 'unavailable']);
});

test('forwards nothing of a client that has left', async () => {
  await answerTo('/query');
  const before = connections;
  await expect(answerTo('/left')).rejects.toThrow('fetch failed');
  await answerTo('/query');
  expect(connections).toBe(before);
});

test('a connection takes the next request after a long one, which no query process answers', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answerOn = async (path: string, body: Buffer): Promise<[string, boolean]> => {
    const sent = request(`${url}${path}`, { method: 'POST', agent });
    sent.end(body);
    const [answer] = await once(sent, 'response');
    return [await text(answer), sent.reusedSocket];
  };
  expect(await answerOn('/ending', Buffer.alloc(400_000))).toEqual(['unavailable', false]);
  expect(await answerOn('/query', Buffer.from('{}'))).toEqual(['{"error":"a key is missing"}', true]);
  agent.destroy();
});
