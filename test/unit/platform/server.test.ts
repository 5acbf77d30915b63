// Malformed requests and shutdown of an HTTP server, as clients with keep-alive connections see
// them.
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import express from 'express';
import { afterEach, describe, expect, test } from 'vitest';
import { listen, type RunningServer } from '../../../src/platform/http/server.js';
import { sendRaw } from '../../support/raw-http.js';

interface Answer {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly text: string;
}

let server: RunningServer;
let releases: (() => void)[] = [];
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

async function start(): Promise<void> {
  releases = [];
  const app = express();
  app.get('/quick', (_req, res) => void res.send('quick'));
  app.get('/held', (_req, res) => void releases.push(() => res.send('held')));
  app.get('/begun', (_req, res) => void res.write('begun'));
  server = await listen(app, { host: '127.0.0.1', port: 0 });
}

/** Rejects with the error code of the client. */
const get = (path: string, over?: Agent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const fail = (error: Error & { code?: string }) => reject(new Error(error.code));
    const sent = request({ port: server.port, host: '127.0.0.1', path, agent: over ?? false }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', fail);
      response.on('end', () => resolve({ status: response.statusCode, connection: response.headers.connection, text }));
    });
    sent.on('error', fail);
    sent.end();
  });

const untilHeld = async (): Promise<void> => {
  while (releases.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
};

afterEach(() => {
  agent.destroy();
});

describe('a malformed request', () => {
  const GARBAGE = 'this is no request\r\n\r\n';
  const getRaw = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

  test('ends the connection within an unfinished response, without a second response in it', async () => {
    await start();
    const socket = connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      socket.write(GARBAGE);
    });
    socket.write(getRaw('/begun'));
    await new Promise((resolve) => socket.once('close', resolve));
    expect(text.split('HTTP/1.1 ')).toEqual(['', expect.stringMatching(/^200 OK[\s\S]*5\r\nbegun\r\n$/)]);
    await server.close(0);
  });

  test('is answered with 400 after a complete response', async () => {
    await start();
    const answer = await sendRaw(`http://127.0.0.1:${server.port}`, getRaw('/quick') + GARBAGE);
    expect(answer.body.split('\r\n')).toEqual([
      'quickHTTP/1.1 400 Bad Request',
      ...Array.from({ length: 5 }, () => expect.any(String)),
      '{"error":"the request is not valid HTTP/1.1"}',
    ]);
    await server.close(0);
  });
});

describe('close() of a server', () => {
  test('answers requests in flight with Connection: close', async () => {
    await start();
    const held = get('/held', agent);
    await untilHeld();
    const closed = server.close(60_000);
    // Reset, when the system had taken the connection before the close.
    await expect(get('/quick')).rejects.toThrow(/ECONNREFUSED|ECONNRESET/);
    releases[0]?.();
    expect(await held).toEqual({ status: 200, connection: 'close', text: 'held' });
    await closed;
  });

  test('answers a last request on a keep-alive connection', async () => {
    await start();
    expect(await get('/quick', agent)).toMatchObject({ connection: 'keep-alive' });
    const closed = server.close(60_000);
    expect(await get('/quick', agent)).toEqual({ status: 200, connection: 'close', text: 'quick' });
    await closed;
  });

  test('closes idle connections', async () => {
    await start();
    await get('/quick', agent);
    await server.close(60_000);
  });

  test('answers 503 to requests that take too long, and cuts responses that have begun', async () => {
    await start();
    const held = get('/held');
    const begun = get('/begun').catch((error: Error) => error.message);
    await untilHeld();
    await server.close(50);
    expect(await held).toEqual({
      status: 503,
      connection: 'close',
      text: '{"error":"the service is being restarted; try again"}',
    });
    expect(await begun).toBe('ECONNRESET');
  });
});

test('a port that is taken is named in one line', async () => {
  await start();
  const again = listen(express(), { host: '127.0.0.1', port: server.port });
  await expect(again).rejects.toMatchObject({
    name: 'ConfigProblem',
    message: `port ${server.port} of 127.0.0.1 cannot be used: it is taken by another program`,
  });
});
