// Connections whose client reads nothing of its answer, or reads it slowly.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listen, type RunningServer } from '../../../../src/platform/http/server.js';

const MEBIBYTE = 1024 * 1024;
const UNREAD_MS = 400;
/** More than the system takes for a client that reads nothing. */
const LARGE = Buffer.alloc(16 * MEBIBYTE, 'x');

let server: RunningServer;
let answered: Promise<ServerResponse>;
let onAnswer: (res: ServerResponse) => void;

beforeAll(async () => {
  server = await listen(
    (req, res) => {
      if (req.url === '/whole') res.end(LARGE);
      else if (req.url === '/part') res.write(LARGE);
      else res.write('a line');
      onAnswer(res);
    },
    { host: '127.0.0.1', port: 0, unreadMs: UNREAD_MS },
  );
});

afterAll(() => server?.close(0));

/** The client reads only what the test reads. */
async function ask(path: string): Promise<{ socket: Socket; res: ServerResponse }> {
  answered = new Promise((resolve) => {
    onAnswer = resolve;
  });
  const socket = connect(server.port, '127.0.0.1').pause();
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return { socket, res: await answered };
}

test.each([
  ['that has ended', '/whole'],
  ['that goes on', '/part'],
])('of an answer %s, one that is not read is closed', async (_what, path) => {
  const { socket, res } = await ask(path);
  await once(res, 'close');
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  socket.resume();
  await once(socket, 'close');
  expect(bytes).toBeLessThan(LARGE.length);
});

test('a client that reads slowly gets the whole answer', async () => {
  const { socket } = await ask('/whole');
  const startedMs = performance.now();
  let bytes = 0;
  while (bytes < LARGE.length && !socket.destroyed) {
    await new Promise((resolve) => setTimeout(resolve, UNREAD_MS / 40));
    bytes += (socket.read() ?? '').length;
  }
  expect(bytes).toBeGreaterThanOrEqual(LARGE.length);
  expect(performance.now() - startedMs).toBeGreaterThan(3 * UNREAD_MS);
  socket.destroy();
});

test('a stream that waits for its next line stays open', async () => {
  const { socket, res } = await ask('/line');
  await new Promise((resolve) => setTimeout(resolve, 3 * UNREAD_MS));
  expect(res.destroyed).toBe(false);
  socket.destroy();
});
