// The client of fault runs repeats a request as the clients of the service do.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RETRIES_MAX, retryDelayMs } from '../../../clients/node/src/retry-delay.js';
import { createSender, PAUSES_MS } from '../../../faults/client.js';

let server: Server;
let statuses: number[];
let bodies: string[];

beforeEach(async () => {
  [statuses, bodies] = [[], []];
  server = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk) => {
      text += chunk;
    });
    req.on('end', () => {
      bodies.push(text);
      res.writeHead(statuses.shift() ?? 503).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(() => void server.close());

const send = (path: '/track' | '/identify') =>
  createSender({
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'sk_1' },
    // Never hangs up.
    random: { next: () => 1, between: (min) => min, pick: ([first]) => first as never },
    ...{ mischief: { hungUp: 0, sentTwice: 0 }, pausesMs: PAUSES_MS.map(() => 0) },
  }).send(path, { a: 1 });

test('pauses are those of the clients', () => {
  const ofClients = Array.from({ length: RETRIES_MAX }, (_, retry) => retryDelayMs(retry, null));
  expect(PAUSES_MS).toEqual([0, ...ofClients]);
});

test('events are sent once, and again for as often as the clients retry', async () => {
  expect(await send('/track')).toBe('unknown');
  expect(bodies).toEqual(Array(RETRIES_MAX + 1).fill('{"a":1}'));
});

test('an acknowledged batch is sent a second time', async () => {
  statuses = [503, 200, 200];
  expect(await send('/track')).toBe('acknowledged');
  expect(bodies).toHaveLength(3);
});

test('an identify call with an unknown outcome is not repeated', async () => {
  expect(await send('/identify')).toBe('unknown');
  expect(bodies).toHaveLength(1);
});
