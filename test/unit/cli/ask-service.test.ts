// Requests of `npm run types` to a service whose rate limit refuses some of them.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAsk } from '../../../cli/ask-service.js';

/** Answers of the service, the next one first; then 200 with the body of the request. */
let statuses: number[] = [];
const server = createServer(async (req, res) => {
  const body = (await req.toArray()).join('');
  const status = statuses.shift() ?? 200;
  const refused = { 'Retry-After': '0' };
  if (status === 200) res.end(JSON.stringify({ body }));
  else res.writeHead(status, refused).end('{"error":"refused"}');
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => server.close(resolve)));

function ask(): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  return createAsk({ url: `http://127.0.0.1:${port}`, key: 'sk_x' })('/query', { q: 'inspect a' });
}

test('a request that the rate limit refuses is sent again', async () => {
  statuses = [429, 429];
  expect(await ask()).toEqual({ body: '{"q":"inspect a"}' });
});

test.each([
  ['any other refusal', [403]],
  ['the rate limit that refuses it again and again', [429, 429, 429, 429, 429]],
])('%s fails with the answer', async (_what, given) => {
  statuses = [...given];
  await expect(ask()).rejects.toThrow(new RegExp(`/query answered ${given[0]}: {"error":"refused"}`));
});
