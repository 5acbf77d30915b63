// Responses of the fetch standard that are sent through Express: what fails is logged, and a client
// that leaves is no failure.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { errorResponder } from '../../../src/platform/http/respond.js';
import type { Logger } from '../../../src/platform/log.js';
import { sendWebResponse } from '../../../src/query-api/mcp/web-exchange.js';
import { eventually } from '../../support/eventually.js';

const error = vi.fn();
let server: Server;
let address: string;
let cancelled: boolean;

/** Sends two pieces, then fails, or waits until it is cancelled. */
const responseThat = (ends: 'fails' | 'waits'): Response => {
  let pieces = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pieces += 1;
      if (pieces <= 2) controller.enqueue(new TextEncoder().encode('piece'));
      else if (ends === 'fails') controller.error(new Error('the tool failed'));
      else return new Promise(() => {});
    },
    cancel() {
      cancelled = true;
    },
  });
  return new Response(body, { status: 202, headers: { 'content-type': 'text/plain' } });
};

beforeAll(async () => {
  const app = express();
  app.get('/fails', (_req, res) => sendWebResponse(responseThat('fails'), res));
  app.get('/waits', (_req, res) => sendWebResponse(responseThat('waits'), res));
  app.get('/empty', (_req, res) => sendWebResponse(new Response(null, { status: 202 }), res));
  app.use(errorResponder({ error } as unknown as Logger));
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  error.mockClear();
  cancelled = false;
});

afterAll(() => server.close());

test('a body that fails breaks the connection and is logged', async () => {
  const answer = await fetch(`${address}/fails`);
  expect(answer.status).toBe(202);
  await expect(answer.text()).rejects.toThrow();
  const fields = { err: new Error('the tool failed'), method: 'GET', route: '/fails' };
  expect(error.mock.calls).toEqual([
    [expect.objectContaining(fields), 'request failed after its response had started'],
  ]);
});

test('a client that leaves cancels the body, and nothing is logged', async () => {
  const left = new AbortController();
  await fetch(`${address}/waits`, { signal: left.signal });
  left.abort();
  await eventually(() => expect(cancelled).toBe(true));
  expect(error).not.toHaveBeenCalled();
});

test('a response without a body has none', async () => {
  const answer = await fetch(`${address}/empty`);
  expect([answer.status, await answer.text()]).toEqual([202, '']);
});
